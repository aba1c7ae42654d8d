import { isMoney } from '#shared/core/money.ts';
import { formatLocale } from './locale.ts';

/** Keeps the sign of `US$` behind its letters where a text runs from right to left. */
const LEFT_TO_RIGHT_MARK = '\u200e';
const RIGHT_TO_LEFT_MARKS = /[\u200f\u061c]/;

/** A page has few currencies, and making a format is what takes the time. Shops name currencies, so that there may be any number of them. */
const FORMATS_KEPT = 100;
const formats = new Map<string, Format>();

interface Format {
  write: Intl.NumberFormat;
  /** How many decimals it writes at most; to ask it each time takes longer than to write the amount. */
  decimals: number;
}

/** An amount of a display currency, exact and as the language writes it: `$49.90`, `49,90 €`. Never a float in between (ux 3). */
export function formatFiat(amount: string, currencyCode: string, tag: string): string {
  if (!isMoney(amount) || !/^[A-Za-z]{3}$/.test(currencyCode)) return `${amount} ${currencyCode}`;
  const fraction = amount.split('.')[1]?.replace(/0+$/, '').length ?? 0;
  const usual = formatOf(tag, currencyCode, null);
  const { write } = fraction <= usual.decimals ? usual : formatOf(tag, currencyCode, fraction);
  const text = write.format(amount as Intl.StringNumericLiteral);
  if (!RIGHT_TO_LEFT_MARKS.test(text)) return text;
  const parts = write.formatToParts(amount as Intl.StringNumericLiteral);
  return parts.map(({ type, value }) => (type === 'currency' && /[A-Z]\p{Sc}$/u.test(value) ? `${value}${LEFT_TO_RIGHT_MARK}` : value)).join('');
}

/** How a language writes a currency, with at most so many decimals, or as many as are usual. */
function formatOf(tag: string, currency: string, most: number | null): Format {
  const key = `${tag} ${currency} ${most}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const write = new Intl.NumberFormat(formatLocale(tag), { style: 'currency', currency, ...(most !== null && { maximumFractionDigits: most }) });
  const made = { write, decimals: write.resolvedOptions().maximumFractionDigits ?? 2 };
  if (formats.size >= FORMATS_KEPT) formats.clear();
  formats.set(key, made);
  return made;
}
