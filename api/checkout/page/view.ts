import { bySize, distance, inDollars, isZero } from './amounts.ts';
import { assetName, coinsInSentence } from './asset-name.ts';
import { formatFiat } from '#api/page/fiat.ts';
import { type MessageKey, type Translate, translator } from './messages.ts';
import type { CheckoutProps } from './model.ts';
import type { NetworkFacts, Offer } from './snapshot.ts';
import { type CheckoutState, selectedOffer, shownState } from './state.ts';

/** What every part of the page is drawn from: the props, and what they come to. */
export interface View extends CheckoutProps {
  state: CheckoutState;
  translate: Translate;
  /** The chosen offer; while a select is under way, the one being selected. */
  offer: Offer | null;
}

/** Puts a page's props and what follows from them together. Pure. */
export function viewOf(props: CheckoutProps): View {
  const selecting = props.snapshot.payment.offers.find((offer) => offer.id === props.selecting?.offerId);
  return { ...props, state: shownState(props), translate: translator(props.language), offer: selecting ?? selectedOffer(props.snapshot) };
}

/** The facts of a network that the payment mentions; of one that this deployment does not serve any more, its name. Pure. */
export function networkOf({ snapshot }: Pick<View, 'snapshot'>, name: string): NetworkFacts {
  return snapshot.networks[name] ?? { displayName: name, family: 'evm', chainId: '', nativeSymbol: '', expectedSeconds: null };
}

/** `USDT on TRON (TRC-20)`. Pure. */
export function offerName(view: View, offer: Offer): string {
  return assetName(view.translate, offer, networkOf(view, offer.assetNetwork));
}

/** What the order costs, or the least an open amount may be: `$49.90`. Null for an open amount without a minimum. Pure. */
export function orderAmount({ snapshot: { payment }, language }: View): string | null {
  if (!payment.openAmount) return formatFiat(payment.amount, payment.currencyCode, language.tag);
  return payment.minAmountUsd === undefined ? null : formatFiat(payment.minAmountUsd, 'USD', language.tag);
}

/** What was paid for, in the order's own currency: an open amount is known once it was paid. Null before. Pure. */
export function paidAmount({ snapshot: { payment }, language }: View): string | null {
  return isZero(payment.amount) ? null : formatFiat(payment.amount, payment.currencyCode, language.tag);
}

/**
 * By how much what was paid misses what was asked for, where both are in the same coin: `30.19 USDT`, `$29.93`. Null elsewhere, also where coins were counted at another price
 * than the offer's: fewer of them may then be too much, and more too little. Pure.
 */
export function deviationOf({ snapshot: { paid, payment, mismatchSide, lateCapture }, language }: View): { amount: string; usd: string } | null {
  const requested = paid?.requested;
  if (!paid || !requested || paid.assetSymbol !== requested.assetSymbol || paid.network !== requested.network) return null;
  const price = payment.offers.find((offer) => offer.assetSymbol === paid.assetSymbol && offer.assetNetwork === paid.network)?.assetPriceUsd;
  const apart = distance(paid.amount, requested.amount);
  if (price === undefined || isZero(apart) || lateCapture || bySize(paid.amount, requested.amount) < 0 !== (mismatchSide === 'UNDER')) return null;
  return { amount: coinsInSentence(apart, paid.assetSymbol), usd: formatFiat(inDollars(apart, price), 'USD', language.tag) };
}

/** States in which a heading that is an amount is all that has to be said. */
const AMOUNT_STATES: readonly CheckoutState[] = ['choose', 'preparing', 'pay', 'ending'];

/** The amount that the heading shows instead of a sentence; null where it is a sentence. Pure. */
export function amountInHeading(view: View): string | null {
  return AMOUNT_STATES.includes(view.state) && !view.snapshot.payment.openAmount ? orderAmount(view) : null;
}

const TITLES: Record<Exclude<CheckoutState, 'choose' | 'preparing' | 'pay' | 'ending' | 'open'>, MessageKey> = {
  'not-payable': 'title.not-payable',
  checking: 'title.checking',
  seen: 'title.seen',
  'seen-late': 'title.seen',
  'seen-after': 'title.seen-after',
  success: 'title.success',
  acceptable: 'title.success',
  under: 'title.under',
  over: 'title.over',
  mismatch: 'title.mismatch',
  'expired-grace': 'title.expired-grace',
  expired: 'title.expired',
};

/** The page's main heading (ux 2.1): what is to be paid while it can be, what happened afterwards. Pure. */
export function headingOf(view: View): string {
  const { translate, snapshot, state } = view;
  const { openAmount } = snapshot.payment;
  if (state === 'under' && openAmount) return translate('title.under-open');
  if (state === 'success' || state === 'acceptable') {
    const paid = paidAmount(view);
    if (paid !== null) return translate('title.paid', { amount: paid, merchant: snapshot.merchant.name });
  }
  const apart = state === 'under' || state === 'over' ? deviationOf(view) : null;
  if (apart !== null) return translate(state === 'under' ? 'title.short' : 'title.excess', apart);
  if (state in TITLES) return translate(TITLES[state as keyof typeof TITLES]);
  const amount = orderAmount(view);
  if (amount === null) return translate('title.open-any');
  return openAmount ? translate('title.open', { min: amount }) : translate('title.pay', { amount });
}
