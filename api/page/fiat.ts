import { isMoney } from '#shared/core/money.ts';
import { formatLocale } from './locale.ts';

/** Keeps the sign of `US$` behind its letters where a text runs from right to left. */
const LEFT_TO_RIGHT_MARK = '\u200e';
const RIGHT_TO_LEFT_MARKS = /[\u200f\u061c]/;

/** An amount of a display currency, exact and as the language writes it: `$49.90`, `49,90 €`. Never a float in between (ux 3). */
export function formatFiat(amount: string, currencyCode: string, tag: string): string {
  if (!isMoney(amount) || !/^[A-Za-z]{3}$/.test(currencyCode)) return `${amount} ${currencyCode}`;
  const fraction = amount.split('.')[1]?.replace(/0+$/, '').length ?? 0;
  const locale = formatLocale(tag);
  const usual = new Intl.NumberFormat(locale, { style: 'currency', currency: currencyCode }).resolvedOptions().maximumFractionDigits ?? 2;
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency: currencyCode, maximumFractionDigits: Math.max(usual, fraction) });
  const parts = format.formatToParts(amount as Intl.StringNumericLiteral);
  const mirrored = parts.some(({ value }) => RIGHT_TO_LEFT_MARKS.test(value));
  return parts.map(({ type, value }) => (mirrored && type === 'currency' && /[A-Z]\p{Sc}$/u.test(value) ? `${value}${LEFT_TO_RIGHT_MARK}` : value)).join('');
}
