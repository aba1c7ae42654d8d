import type { CheckoutProps } from './model.ts';
import type { Offer, Snapshot } from './snapshot.ts';

/** What the page is about at a moment; each is one screen (ux 2.1). */
export type CheckoutState =
  /** S1: nothing chosen yet, or choosing again. */
  | 'choose'
  /** E3: there is nothing to choose from. */
  | 'not-payable'
  /** S2: chosen, its address is not watched yet. */
  | 'preparing'
  /** S3. */
  | 'pay'
  /** S3b: S3 within the last five minutes. */
  | 'ending'
  /** S1o: an open amount with its address. */
  | 'open'
  /** The deadline passed, nothing was seen, the networks' last blocks before it are still being read. */
  | 'checking'
  /** S4. */
  | 'seen'
  /** S4b: seen in time, past the deadline now. */
  | 'seen-late'
  /** First seen after the deadline, on its way to a late capture. */
  | 'seen-after'
  /** S5. */
  | 'success'
  /** S6. */
  | 'acceptable'
  /** S7. */
  | 'under'
  /** S8. */
  | 'over'
  /** S7 or S8 where the sides cannot be compared. */
  | 'mismatch'
  /** S10. */
  | 'expired-grace'
  /** S11. */
  | 'expired';

/** States in which nothing will be asked of the payer any more. */
const RESTING: readonly CheckoutState[] = ['success', 'acceptable', 'under', 'over', 'mismatch', 'expired'];

/** States in which the browser returns to the merchant by itself (decisions 7). */
const RETURNING: readonly CheckoutState[] = ['success', 'acceptable'];

/** States in which the payer may still choose and pay. */
const PAYABLE: readonly CheckoutState[] = ['choose', 'preparing', 'pay', 'ending', 'open'];

/** From when on the page says that little time is left (ux S3b), in milliseconds. */
export const ENDING_MS = 5 * 60_000;

/** True when no event but a late deposit changes what the page shows. Pure. */
export function isResting(state: CheckoutState): boolean {
  return RESTING.includes(state);
}

/** True when the page returns to the merchant by itself unless the payer stops it. Pure. */
export function returnsByItself(state: CheckoutState): boolean {
  return RETURNING.includes(state);
}

/**
 * Says which screen a payment is on. `now` is service time in milliseconds; `choosing` is true while the payer wants the
 * chooser again, or none of the chosen offers. A pending payment's own facts win over the clock. Pure.
 */
export function stateOf(snapshot: Snapshot, now: number, choosing: boolean): CheckoutState {
  const { payment, pendingDeposit } = snapshot;
  const late = now >= Date.parse(payment.expiresAt);
  if (payment.status === 'SUCCESS') return 'success';
  if (payment.status === 'ACCEPTABLE') return 'acceptable';
  if (payment.status === 'MISMATCH') return mismatchState(snapshot);
  if (pendingDeposit) return seenState(pendingDeposit.inTime, late || payment.status === 'EXPIRED');
  if (payment.status === 'EXPIRED') return now < Date.parse(snapshot.graceEndsAt) ? 'expired-grace' : 'expired';
  if (late) return 'checking';
  return payableState(snapshot, now, choosing);
}

/** What a page shows: `stateOf`, and S2 as long as this browser's own select is under way. Pure. */
export function shownState({ snapshot, now, choosing, selecting }: Pick<CheckoutProps, 'snapshot' | 'now' | 'choosing' | 'selecting'>): CheckoutState {
  const state = stateOf(snapshot, now, choosing);
  return selecting && PAYABLE.includes(state) ? 'preparing' : state;
}

/** The offer that the payer chose last, if any. Pure. */
export function selectedOffer(snapshot: Snapshot): Offer | null {
  return snapshot.payment.offers.find((offer) => offer.id === snapshot.payment.selectedOfferId) ?? null;
}

function mismatchState({ mismatchSide }: Snapshot): CheckoutState {
  if (mismatchSide === 'UNDER') return 'under';
  return mismatchSide === 'OVER' ? 'over' : 'mismatch';
}

function seenState(inTime: boolean, late: boolean): CheckoutState {
  if (!inTime) return 'seen-after';
  return late ? 'seen-late' : 'seen';
}

function payableState(snapshot: Snapshot, now: number, choosing: boolean): CheckoutState {
  const offer = selectedOffer(snapshot);
  if (snapshot.payment.offers.length === 0) return 'not-payable';
  if (choosing || !offer) return 'choose';
  if (offer.depositAddress === undefined) return 'preparing';
  if (snapshot.payment.openAmount) return 'open';
  return now >= Date.parse(snapshot.payment.expiresAt) - ENDING_MS ? 'ending' : 'pay';
}
