import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMempoolMessage, encodeMempoolMessage, type MempoolMessage, type SeenTransaction } from '#shared/core/mempool-message.ts';
import { Invariant } from '#shared/core/errors.ts';

const txid = fc.bigInt(0n, 2n ** 32n).map((n) => n.toString(16).padStart(64, '0'));
const transaction = (id: string): fc.Arbitrary<SeenTransaction> =>
  fc
    .record({
      firstSeenAt: fc.nat(1_000),
      spends: fc.uniqueArray(
        fc.tuple(txid, fc.nat(9)).map(([of, vout]) => `${of}:${vout}`),
        { minLength: 1, maxLength: 3 },
      ),
      amounts: fc.array(fc.bigInt(0n, 21n * 10n ** 14n), { maxLength: 3 }),
      several: fc.boolean(),
    })
    .map(({ amounts, several, ...rest }) => ({
      txid: id,
      ...rest,
      transfers: amounts.map((rawAmount, ordinal) => ({
        kind: 'native' as const,
        txid: id,
        ordinal,
        sender: 'bc1qsender',
        ...(several && { coSenders: ['bc1qother', 'script:51'] }),
        recipient: 'bc1qours',
        contract: null,
        rawAmount: String(rawAmount),
      })),
    }));
const message: fc.Arbitrary<MempoolMessage> = fc
  .record({ epoch: fc.nat(), seq: fc.integer({ min: 1 }), takenAt: fc.integer({ min: 1_000 }), ids: fc.uniqueArray(txid, { maxLength: 4 }) })
  .chain(({ ids, ...rest }) => fc.tuple(...ids.map(transaction)).map((transactions) => ({ network: 'bitcoin', ...rest, transactions })));

const ID = 'a'.repeat(64);
const example: MempoolMessage = {
  network: 'bitcoin',
  epoch: 1,
  seq: 2,
  takenAt: 50,
  transactions: [
    {
      txid: ID,
      firstSeenAt: 40,
      spends: [`${'b'.repeat(64)}:0`],
      transfers: [{ kind: 'native', txid: ID, ordinal: 0, sender: 'bc1qsender', recipient: 'bc1qours', contract: null, rawAmount: '5' }],
    },
  ],
};
const first = example.transactions[0] as SeenTransaction;

describe('a word on what waits', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(message, (one) => {
        expect(decodeMempoolMessage(encodeMempoolMessage(one))).toEqual({ ok: true, message: one });
      }),
    );
  });

  it.each<[string, Partial<MempoolMessage>]>([
    ['a seq of zero', { seq: 0 }],
    ['a time with a fraction', { takenAt: 50.5 }],
    ['a transaction that was seen after the node was asked', { transactions: [{ ...first, firstSeenAt: 51 }] }],
    ['a transaction twice', { transactions: [first, first] }],
    ['a transaction that spends nothing', { transactions: [{ ...first, spends: [] }] }],
    ['an output twice', { transactions: [{ ...first, spends: ['a:0', 'a:0'] }] }],
    ['a transfer of another transaction', { transactions: [{ ...first, txid: 'c'.repeat(64) }] }],
    ['a transfer twice', { transactions: [{ ...first, transfers: [...first.transfers, ...first.transfers] }] }],
    ['a negative amount', { transactions: [{ ...first, transfers: first.transfers.map((one) => ({ ...one, rawAmount: '-5' })) }] }],
    ['a token without a contract', { transactions: [{ ...first, transfers: first.transfers.map((one) => ({ ...one, kind: 'token' as const })) }] }],
    ['a sender twice', { transactions: [{ ...first, transfers: first.transfers.map((one) => ({ ...one, coSenders: [one.sender] })) }] }],
  ])('is neither written nor read with %s', (_what, change) => {
    const wrong = { ...example, ...change };
    expect(() => encodeMempoolMessage(wrong)).toThrow(Invariant);
    expect(decodeMempoolMessage(JSON.stringify(wrong)).ok).toBe(false);
  });

  it.each([
    ['another field', { ...example, more: 1 }],
    ['another order', Object.fromEntries(Object.entries(example).toReversed())],
    ['a block', { ...example, transactions: [{ ...first, transfers: first.transfers.map((one) => ({ ...one, height: 1 })) }] }],
  ])('is not read with %s', (_what, wrong) => {
    expect(decodeMempoolMessage(JSON.stringify(wrong)).ok).toBe(false);
  });

  it.each(['', 'null', '[]', '{"network":"bitcoin"}'])('is not read from %j', (text) => {
    expect(decodeMempoolMessage(text).ok).toBe(false);
  });
});
