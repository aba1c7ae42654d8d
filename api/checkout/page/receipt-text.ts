import { formatCrypto } from './amounts.ts';
import { coins, networkName } from './asset-name.ts';
import { formatClock } from './times.ts';
import { networkOf, orderAmount, paidAmount, type View } from './view.ts';

/** The day and the time of a moment, also when it is today: a receipt is read later. */
const LONG_AGO = 0;

/** When the money came, with its date. Pure. */
export function paidAt(view: View, at: string): string {
  return formatClock(Date.parse(at), view.language.tag, view.timeZone, { now: LONG_AGO });
}

/** A receipt as the text of a mail: the same words for everybody, and a merchant's own set in as `harmless` makes it. Empty before anything was paid. Pure. */
export function receiptText(view: View, receiptUrl: string): string {
  const { translate, snapshot } = view;
  const { payment, paid, merchant } = snapshot;
  if (paid === null) return '';
  const figures: [string, string | null | undefined][] = [
    [translate('details.amount'), paidAmount(view) ?? orderAmount(view)],
    [translate('receipt.paid-to'), harmless(merchant.name)],
    [translate('details.title-of'), payment.title && harmless(payment.title)],
    [translate('details.reference'), payment.reference && harmless(payment.reference)],
    [translate('receipt.coins'), coins(formatCrypto(paid.amount), paid.assetSymbol)],
    [translate('receipt.network'), networkName(translate, paid.assetType, networkOf(view, paid.network))],
    [translate('receipt.time'), paidAt(view, paid.at)],
    [translate('receipt.block'), paid.block === null ? null : String(paid.block)],
    [translate('result.transaction'), payment.txHash],
    [translate('details.payment-id'), payment.id],
  ];
  const lines = figures.flatMap(([label, value]) => (value === null || value === undefined || value === '' ? [] : [`${label}: ${value}`]));
  return [translate('receipt.mail-why'), '', ...lines, '', receiptUrl, ''].join('\n');
}

/** Somebody else's text in a mail: one line that nobody's mail program makes a link of, and that cannot hide what stands around it. Pure. */
export function harmless(text: string): string {
  return (
    text
      // Control characters, and what turns or hides the text after it.
      .replace(/[\p{C}\p{Z}]+/gu, ' ')
      .trim()
      .replace(/:(?=\/\/)/g, '[:]')
      .replace(/[@＠﹫]/g, '[at]')
      // Before a space a dot ends a sentence, and between digits it is part of a number.
      .replace(/(?<=[^\s.])[.．。｡․﹒](?=[^\s.])/gu, (dot, at: number, whole: string) => (isInNumber(whole, at) ? dot : '[.]'))
      // Mail programs know addresses of four numbers too.
      .replace(/(?<![\p{N}.])\p{N}{1,3}(?:\.\p{N}{1,3}){3}(?![\p{L}\p{N}]|\.\p{N})/gu, (numbers) => numbers.replaceAll('.', '[.]'))
  );
}

function isInNumber(text: string, dotAt: number): boolean {
  return /\p{Nd}$/u.test(text.slice(0, dotAt)) && /^\p{Nd}/u.test(text.slice(dotAt + 1));
}
