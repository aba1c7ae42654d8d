import { expect, it } from 'vitest';
import { type ClosedPayout, closeMark } from '#api/intents/close-mark.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';

const payout = { payoutId: 'b54c0c1e-0000-4000-8000-000000000001', walletAddress: '0xhot', nonce: 7, anchor: null };
const ring = { current: 'master', next: undefined, previous: undefined };
const mark = closeMark('master', payout);

/** As a signer of the release before this one judges it. */
const isCloseMark = (keys: KeyRing, closed: ClosedPayout, text: string): boolean =>
  isMacOf(keys, Buffer.from(text, 'hex'), (key) => Buffer.from(closeMark(key, closed), 'hex'));

it('marks exactly one nonce of one wallet for one payout, under one key', () => {
  expect(isCloseMark(ring, payout, mark)).toBe(true);
  for (const other of [
    { ...payout, nonce: 8 },
    { ...payout, walletAddress: '0xheld' },
    { ...payout, payoutId: 'another' },
  ])
    expect(isCloseMark(ring, other, mark)).toBe(false);
  expect(isCloseMark({ ...ring, current: 'another' }, payout, mark)).toBe(false);
});

it.each(['', '00', 'zz', `${mark}00`, mark.slice(2)])('is not %j', (text) => {
  expect(isCloseMark(ring, payout, text)).toBe(false);
});
