import { describe, expect, it } from 'vitest';
import { contentOf, isConcerned, nextLook } from '#api/checkout/live-rules.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const PACE = { open: 20_000, resting: 60_000 };
const { snapshot: paying } = checkoutScene('pay');
const withPayment = (base: Snapshot, payment: Partial<Snapshot['payment']>): Snapshot => ({ ...base, payment: { ...base.payment, ...payment } });
/** So long after the snapshot's moment. */
const at = (base: Snapshot, ms: number): string => new Date(Date.parse(base.serverTime) + ms).toISOString();

describe('what a snapshot says', () => {
  it('is the same at another time, and different in anything else', () => {
    expect(contentOf({ ...paying, serverTime: at(paying, 1) })).toBe(contentOf(paying));
    expect(contentOf({ ...paying, graceEndsAt: at(paying, 1) })).not.toBe(contentOf(paying));
    expect(contentOf(withPayment(paying, { status: 'SUCCESS' }))).not.toBe(contentOf(paying));
  });
});

describe('a network that moves on', () => {
  const selected = paying.payment.offers.find((offer) => offer.id === paying.payment.selectedOfferId);
  const network = selected?.assetNetwork ?? '';
  const seen: Snapshot = {
    ...paying,
    pendingDeposit: { assetSymbol: 'ETH', network: 'base', amount: '1', confirmations: 0, required: 3, txHash: 'x', explorerTxUrl: '', inTime: true },
  };
  const preparing = withPayment(paying, { offers: paying.payment.offers.map(({ depositAddress: _, ...offer }) => offer) });

  it('concerns whoever waits for confirmations there', () => expect([isConcerned(seen, 'base'), isConcerned(seen, network)]).toEqual([true, false]));

  it('concerns whoever waits for an address there', () =>
    expect([isConcerned(preparing, network), isConcerned(preparing, 'elsewhere')]).toEqual([true, false]));

  it('concerns nobody else: of coins that arrive there is word by payment', () => {
    expect(isConcerned(paying, network)).toBe(false);
    expect(isConcerned(withPayment(paying, { selectedOfferId: null }), network)).toBe(false);
    expect(isConcerned(withPayment(preparing, { status: 'EXPIRED' }), network)).toBe(false);
  });
});

describe('a payment nothing is heard of', () => {
  it.each<[string, Snapshot, number]>([
    ['that is open, is looked at now and then', withPayment(paying, { expiresAt: at(paying, 600_000) }), 20_000],
    ['is looked at just after its deadline', withPayment(paying, { expiresAt: at(paying, 7_000) }), 7_050],
    ['whose deadline is this very moment, is looked at just after it', withPayment(paying, { expiresAt: at(paying, 0) }), 50],
    ['that is overdue and not expired, is looked at now and then', withPayment(paying, { expiresAt: at(paying, -1) }), 20_000],
    [
      'is looked at just after its grace period',
      { ...withPayment(paying, { status: 'EXPIRED', expiresAt: at(paying, -9_000) }), graceEndsAt: at(paying, 3_000) },
      3_050,
    ],
    [
      'that expired for good, is looked at rarely',
      { ...withPayment(paying, { status: 'EXPIRED', expiresAt: at(paying, -9_000) }), graceEndsAt: at(paying, -1) },
      60_000,
    ],
    ['that rests, is looked at rarely, whatever its deadline', withPayment(paying, { status: 'SUCCESS', expiresAt: at(paying, 7_000) }), 60_000],
  ])('%s', (_what, snapshot, expected) => expect(nextLook(snapshot, PACE)).toBe(expected));
});
