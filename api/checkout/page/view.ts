import { assetName } from './asset-name.ts';
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
  return snapshot.networks[name] ?? { displayName: name, family: 'evm', chainId: '', nativeSymbol: '' };
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
  if (state in TITLES) return translate(TITLES[state as keyof typeof TITLES]);
  const amount = orderAmount(view);
  if (amount === null) return translate('title.open-any');
  return openAmount ? translate('title.open', { min: amount }) : translate('title.pay', { amount });
}
