import { expect, it } from 'vitest';
import type { Head, TransactionFacts } from '#shared/chains/chain.ts';
import { type Claim, voteOn } from '#shared/chains/pool-votes.ts';
import type { Transfer } from '#shared/core/chain-events.ts';

const HEAD: Head = { latest: { height: 10, hash: '0xhead', parentHash: '0xparent', time: 0 }, safeHeight: 10, finalizedHeight: 10 };
const PLACE = { txid: '0xtx', kind: 'token', height: 5, blockHash: '0xblock', recipient: '0xours', contract: '0xtoken' } as const;

const claim = (ordinal: number, over: Partial<Claim> = {}): Claim => ({ ...PLACE, ordinal, rawAmount: '1', ...over });
const facts = (transfers: Transfer[]): TransactionFacts => ({ txid: PLACE.txid, height: PLACE.height, blockHash: PLACE.blockHash, succeeded: true, transfers });
const told = (ordinal: number): Transfer => ({ ...PLACE, position: 0, time: 0, sender: '0xpayer', ordinal, rawAmount: '1' });
const vote = (claims: readonly Claim[], transfers: Transfer[]) =>
  voteOn(
    claims,
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
  const claims = Array.from({ length: many }, (_, ordinal) => claim(ordinal));
  expect(await vote(claims, transfers)).toBe('same');
  expect(reads).toBeLessThan(5 * many);
});

it('tells of a transfer that is missing, is another, or stands twice in one place', async () => {
  expect(await vote([claim(0), claim(1)], [told(0)])).toBe('other');
  expect(await vote([claim(0, { rawAmount: '2' })], [told(0)])).toBe('other');
  expect(await vote([claim(0, { recipient: '0xother' })], [told(0)])).toBe('other');
  expect(await vote([claim(0)], [told(0), told(0)])).toBe('other');
  expect(await vote([claim(0)], [told(0), told(1)])).toBe('same');
});
