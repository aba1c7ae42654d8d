import { describe, expect, it } from 'vitest';
import type { PaymentStatus, Snapshot } from '#api/checkout/page/snapshot.ts';
import { ENDING_MS, isResting, returnsByItself, shownState, stateOf } from '#api/checkout/page/state.ts';
import { CHECKOUT_SCENES, checkoutScene, SCENE_TIME } from '#test/fixtures/checkout-scenes.ts';

const pay = checkoutScene('pay').snapshot;
const seen = checkoutScene('seen').snapshot;
const deadline = Date.parse(pay.payment.expiresAt);
const withStatus = (snapshot: Snapshot, status: PaymentStatus): Snapshot => ({ ...snapshot, payment: { ...snapshot.payment, status } });

describe('the state of the checkout page', () => {
  it.each(CHECKOUT_SCENES)('$name is $state', ({ snapshot, choosing, state }) => {
    expect(stateOf(snapshot, SCENE_TIME, choosing ?? false)).toBe(state);
  });

  it('says that little time is left from exactly five minutes before the deadline on', () => {
    expect(stateOf(pay, deadline - ENDING_MS - 1, false)).toBe('pay');
    expect(stateOf(pay, deadline - ENDING_MS, false)).toBe('ending');
    expect(stateOf(pay, deadline - 1, false)).toBe('ending');
  });

  it('asks for nothing any more from the deadline on, and says that it is over only when the service does', () => {
    expect(stateOf(pay, deadline, false)).toBe('checking');
    expect(stateOf(pay, deadline, true)).toBe('checking');
    expect(stateOf(withStatus(pay, 'EXPIRED'), deadline, false)).toBe('expired-grace');
  });

  it('waits for late deposits until the grace period is over', () => {
    const expired = withStatus(pay, 'EXPIRED');
    expect(stateOf(expired, Date.parse(pay.graceEndsAt) - 1, false)).toBe('expired-grace');
    expect(stateOf(expired, Date.parse(pay.graceEndsAt), false)).toBe('expired');
  });

  it('keeps a deposit that was seen in time in view past the deadline, whatever else happens', () => {
    expect(stateOf(seen, deadline - 1, true)).toBe('seen');
    expect(stateOf(seen, deadline, true)).toBe('seen-late');
  });

  it('lets a result win over the clock, the chooser and a further deposit', () => {
    const results: [PaymentStatus, string][] = [
      ['SUCCESS', 'success'],
      ['ACCEPTABLE', 'acceptable'],
      ['MISMATCH', 'mismatch'],
    ];
    for (const [status, state] of results) expect(stateOf(withStatus(seen, status), deadline + 1, true)).toBe(state);
  });

  it('returns by itself from an accepted payment only, and never from one that is not at rest', () => {
    const returning = CHECKOUT_SCENES.map(({ state }) => state).filter(returnsByItself);
    expect([...new Set(returning)]).toEqual(['success', 'acceptable']);
    expect(returning.every(isResting)).toBe(true);
  });

  it('shows the address being prepared while this browser selects, and a payment that was seen meanwhile at once', () => {
    const selecting = { offerId: pay.payment.offers[0]!.id, elapsedMs: 0 };
    for (const name of ['choose', 'choose-open', 'pay', 'ending', 'open', 'preparing'])
      expect(shownState({ snapshot: checkoutScene(name).snapshot, now: SCENE_TIME, choosing: false, selecting })).toBe('preparing');
    expect(shownState({ snapshot: seen, now: SCENE_TIME, choosing: false, selecting })).toBe('seen');
  });
});
