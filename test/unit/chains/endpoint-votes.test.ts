import { describe, expect, it } from 'vitest';
import type { BlockContent, BlockRef, Head, TransactionFacts, WatchSet } from '#shared/chains/chain.ts';
import { askingAbout, type SoughtTransfer, voteOn } from '#shared/chains/endpoint-votes.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { POLICY } from '#shared/core/policy.ts';

const HEAD: Head = { latest: { height: 10, hash: '0xhead', parentHash: '0xparent', time: 0 }, safeHeight: 10, finalizedHeight: 10 };
const PLACE = { txid: '0xtx', kind: 'token', height: 5, blockHash: '0xblock', recipient: '0xours', contract: '0xtoken' } as const;

const claim = (ordinal: number, over: Partial<SoughtTransfer> = {}): SoughtTransfer => ({ ...PLACE, ordinal, rawAmount: '1', ...over });
const facts = (transfers: Transfer[]): TransactionFacts => ({ txid: PLACE.txid, height: PLACE.height, blockHash: PLACE.blockHash, succeeded: true, transfers });
const told = (ordinal: number): Transfer => ({ ...PLACE, position: 0, time: 0, sender: '0xpayer', ordinal, rawAmount: '1' });
const vote = (sought: readonly SoughtTransfer[], transfers: Transfer[]) =>
  voteOn(
    sought,
    HEAD,
    () => true,
    async () => facts(transfers),
  );

it('reads each transfer of a transaction a few times at most, however many others of it are claimed', async () => {
  let reads = 0;
  const many = 1_000;
  const transfers = Array.from({ length: many }, (_, ordinal) =>
    Object.defineProperty(told(ordinal), 'ordinal', {
      get: () => {
        reads += 1;
        return ordinal;
      },
    }),
  );
  const sought = Array.from({ length: many }, (_, ordinal) => claim(ordinal));
  expect(await vote(sought, transfers)).toBe('same');
  expect(reads).toBeLessThan(5 * many);
});

it('tells of a transfer that is missing, is another, or stands twice in one place', async () => {
  expect(await vote([claim(0), claim(1)], [told(0)])).toBe('other');
  expect(await vote([claim(0, { rawAmount: '2' })], [told(0)])).toBe('other');
  expect(await vote([claim(0, { recipient: '0xother' })], [told(0)])).toBe('other');
  expect(await vote([claim(0)], [told(0), told(0)])).toBe('other');
  expect(await vote([claim(0)], [told(0), told(1)])).toBe('same');
});

describe('a flood of transactions', () => {
  const ref: BlockRef = { height: PLACE.height, hash: PLACE.blockHash, parentHash: '0xparent', time: 0 };
  const made = Array.from({ length: POLICY.transfersAlone + 1 }, (_, at): Transfer => ({ ...told(0), txid: `0xtx${at}`, position: at }));
  const sought = made.map(({ txid }) => claim(0, { txid }));
  /** A provider with this block, and how often it was read. */
  const aProvider = (transfers: Transfer[], { main = ref, blind = false } = {}) => {
    const asked = { blocks: 0, transactions: 0 };
    const block = async (_hash: string, watched: WatchSet): Promise<BlockContent> => {
      asked.blocks += 1;
      return { block: ref, transfers: transfers.filter((one) => watched.has(one.recipient)), sent: [], ...(blind && { internalUnseen: true }) };
    };
    const transaction = async (txid: string) => {
      asked.transactions += 1;
      return { ...facts(transfers.filter((one) => one.txid === txid)), txid };
    };
    return { asked, reader: { block, blockAt: async () => main, transaction } };
  };
  const ask = (provider: ReturnType<typeof aProvider>, of = sought) => voteOn(of, HEAD, () => true, askingAbout(of, provider.reader));

  it('has its block read once, and not once for each of them', async () => {
    const provider = aProvider(made);
    expect(await ask(provider)).toBe('same');
    expect(provider.asked).toEqual({ blocks: 1, transactions: 0 });
    const few = aProvider(made);
    expect(await ask(few, sought.slice(1))).toBe('same');
    expect(few.asked).toEqual({ blocks: 0, transactions: POLICY.transfersAlone });
  });

  it('is confirmed by nobody who has one of them otherwise, or another block in that place', async () => {
    expect(await ask(aProvider(made.slice(1)))).toBe('other');
    expect(await ask(aProvider(made.map((one, at) => (at === 3 ? { ...one, rawAmount: '2' } : one))))).toBe('other');
    expect(await ask(aProvider(made, { main: { ...ref, hash: '0xother' } }))).toBe('other');
    expect(
      await ask(
        aProvider([], { blind: true }),
        sought.map((one) => ({ ...one, kind: 'internal', contract: null })),
      ),
    ).toBe('unseen');
  });
});
