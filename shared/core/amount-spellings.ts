import { formatAmount, isMoney, parseTrusted } from './money.ts';

/** The ways in which shops write one amount: as it was typed, without zeros at its end, and with cents; none for what is no amount. Pure. */
export function amountSpellings(text: string): string[] {
  const q = text.replace(/^(\d+),(\d{1,2})$/, '$1.$2');
  if (!isMoney(q)) return [];
  const plain = formatAmount(parseTrusted(q));
  const [whole = '', cents = ''] = plain.split('.');
  return [...new Set([q, plain, ...(cents.length <= 2 ? [`${whole}.${cents.padEnd(2, '0')}`, `${whole}.${cents.padEnd(1, '0')}`] : [])])];
}
