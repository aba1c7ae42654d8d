import { expect, test } from 'vitest';
import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import { match } from '#shared/core/match.ts';

const place = { height: 1, blockHash: 'b', position: 0, time: 1 };
const transfer = (sender: string, recipient: string, rawAmount = '1'): Transfer => ({
  kind: 'native',
  txid: `${sender}-${recipient}`,
  ordinal: 0,
  ...place,
  sender,
  recipient,
  contract: null,
  rawAmount,
});
const sent = (sender: string): SentTransaction => ({ kind: 'sent', txid: sender, ...place, sender, nonce: 0, succeeded: true, rawFee: '1' });
const watched = new Set(['ours', 'also-ours']);

test('a transfer to or from a watched address is a sighting, once, even when both ends are watched', () => {
  const transfers = [transfer('x', 'ours'), transfer('ours', 'x'), transfer('ours', 'also-ours'), transfer('x', 'y')];
  expect(match({ transfers, sent: [] }, watched)).toEqual(transfers.slice(0, 3));
});

test('a transfer of nothing is not a sighting, whoever it names', () => {
  expect(match({ transfers: [transfer('x', 'ours', '0'), transfer('ours', 'x', '0')], sent: [] }, watched)).toEqual([]);
});

test('a transaction is a sighting when a watched address signed it, failed or not', () => {
  const failed = { ...sent('ours'), succeeded: false };
  expect(match({ transfers: [], sent: [failed, sent('x')] }, watched)).toEqual([failed]);
});
