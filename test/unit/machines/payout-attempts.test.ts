import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { POLICY } from '#shared/core/policy.ts';
import { NO_PAYOUT_FACTS, type PayoutEvent, type PayoutStatus, payout } from '#state-machines/payout/machine.ts';
import { type MarketFacts, tend, type TendFacts } from '#state-machines/payout/tend.ts';
import { step } from '#state-machines/step.ts';
import { FULL, times } from '#test/harness/counts.ts';

vi.setConfig({ testTimeout: FULL ? 600_000 : 60_000 });

/** Blocks that can still be replaced. */
const LAG = 3;

interface Attempt {
  kind: 'transfer' | 'close';
  /** Chain time from which no block takes it; null under a nonce. */
  expiresAt: number | null;
  signedAt: number;
  signedHeight: number;
  /** Outputs it spends; the first one is the anchor, and no two attempts need to share any other. */
  inputs: number[];
}

interface Block {
  time: number;
  /** Numbers of the attempts it holds. */
  holds: number[];
}

type Move =
  | { do: 'mine'; seconds: number; take: number[] }
  | { do: 'reorganise'; depth: number; take: number[] }
  | { do: 'scan' }
  | { do: 'tend'; market: MarketFacts; lies: boolean }
  | { do: 'sign'; others: number[] }
  | { do: 'send' }
  | { do: 'wait'; seconds: number };

const market: fc.Arbitrary<MarketFacts> = fc.record({ nonceUsed: fc.boolean(), accepted: fc.boolean(), covered: fc.boolean(), allowed: fc.boolean() });
const take = fc.uniqueArray(fc.nat(9), { maxLength: 4 });
const seconds = fc.constantFrom(1, 3, 30, 61, 130, 1_000);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('mine' as const), seconds, take }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reorganise' as const), depth: fc.integer({ min: 1, max: LAG - 1 }), take }) },
  { weight: 4, arbitrary: fc.constant({ do: 'scan' as const }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('tend' as const), market, lies: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('sign' as const), others: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'send' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds }) },
);

/**
 * A chain and a payout service that knows of it only what it scanned. Miners have every byte that was ever signed, and put
 * whatever they like into a block as far as the chain's own rules allow: one use of a nonce, one spend of an output, no bytes
 * past their end.
 */
function play(exclusion: TendFacts['exclusion'], moves: readonly Move[]): { paid: number; took: number; attempts: number; status: PayoutStatus } {
  let chain: Block[] = [{ time: 0, holds: [] }];
  let scanned: Block[] = chain;
  const attempts: Attempt[] = [];
  let now = 0;
  let status: PayoutStatus = 'PLANNED';
  let quotedAt = 0;
  let stuckSince: number | null = null;
  let closing = false;

  const on = (blocks: readonly Block[]): number[] => blocks.flatMap((block) => block.holds);
  const go = (event: PayoutEvent): boolean => {
    const result = step(payout, status, NO_PAYOUT_FACTS, event);
    if ('conflict' in result) return false;
    status = result.status;
    return true;
  };
  const mine = (parents: Block[], after: number, wanted: readonly number[]): Block[] => {
    const head = parents.at(-1) as Block;
    const holds: number[] = [];
    for (const number of wanted) {
      const attempt = attempts[number];
      const used = [...on(parents), ...holds];
      if (attempt === undefined || used.includes(number)) continue;
      if (exclusion === 'nonce' && used.length > 0) continue;
      if (exclusion === 'anchor' && used.some((other) => attempts[other]?.inputs.some((input) => attempt.inputs.includes(input)))) continue;
      if (exclusion === 'expiry' && (attempt.expiresAt as number) <= head.time) continue;
      holds.push(number);
    }
    return [...parents, { time: head.time + after, holds }];
  };
  const final = (blocks: readonly Block[]): Block[] => blocks.slice(0, Math.max(1, blocks.length - LAG + 1));
  const provenDead = (): boolean => {
    const time = final(scanned).at(-1)?.time ?? 0;
    return attempts.length > 0 && attempts.every((attempt, number) => attempt.expiresAt !== null && attempt.expiresAt <= time && !on(scanned).includes(number));
  };
  const factsNow = (): TendFacts => {
    const newest = attempts.at(-1);
    return {
      status,
      exclusion,
      closing,
      transfers: attempts.filter((attempt) => attempt.kind === 'transfer').length,
      stuckSeconds: stuckSince === null ? null : now - stuckSince,
      quoteAgeSeconds: now - quotedAt,
      quoteSecondsLeft: exclusion === 'expiry' ? quotedAt + 90 - now : null,
      last: newest === undefined ? null : { ageSeconds: now - newest.signedAt, ageBlocks: scanned.length - newest.signedHeight },
      nextInLine: true,
      holdsUpOthers: false,
      provenDead: provenDead(),
    };
  };
  const planned = (): void => {
    quotedAt = now;
    stuckSince = null;
  };

  for (const one of moves) {
    if (one.do === 'wait') now += one.seconds;
    if (one.do === 'mine') {
      now += one.seconds;
      chain = mine(chain, one.seconds, one.take);
    }
    // What is final stays, for those who scan as for those who mine.
    if (one.do === 'reorganise' && chain.length > LAG) {
      let branch = chain.slice(0, chain.length - one.depth);
      for (let i = 0; i < one.depth; i++) branch = mine(branch, 1, one.take);
      chain = branch;
    }
    if (one.do === 'scan') {
      scanned = chain;
      const held = on(scanned).length > 0;
      if (held) go('SEEN');
      else go('ORPHANED');
      if (on(final(scanned)).length > 0) go(on(final(scanned)).some((number) => attempts[number]?.kind === 'transfer') ? 'FINAL_SUCCESS' : 'FINAL_FAILURE');
    }
    if (one.do === 'send') go('SENT');
    if (one.do === 'sign' && (status === 'PLANNED' || status === 'REPLACING')) {
      // The signer's own checks: bytes that expire only when all before them are dead, and with a life ahead of them.
      const alive = attempts.length > 0 && !provenDead();
      if (exclusion === 'expiry' && (alive || quotedAt + 90 - now < POLICY.payoutExpiryMarginSeconds)) continue;
      if (go('SIGNED')) {
        const head = chain.at(-1) as Block;
        attempts.push({
          kind: closing ? 'close' : 'transfer',
          expiresAt: exclusion === 'expiry' ? head.time + 90 : null,
          signedAt: now,
          signedHeight: scanned.length,
          inputs: [0, ...one.others],
        });
      }
    }
    if (one.do === 'tend') {
      const facts = factsNow();
      let decision = tend(facts);
      if (decision === 'askMarket') decision = tend({ ...facts, market: one.market });
      // A node may forget a transaction; it may not make one up.
      if (decision === 'askNode') decision = tend({ ...facts, inABlock: on(chain).length > 0 && !one.lies });
      if (decision === 'requote') planned();
      if (decision === 'stuck') stuckSince ??= now;
      if (decision === 'expire') go('EXPIRED');
      if (decision === 'bump' && go('BUMPED')) planned();
      if (decision === 'close' && go('CLOSED')) {
        closing = true;
        planned();
      }
      if (decision === 'giveUp') go('CANCELLED');
    }
    const took = on(chain);
    expect(took.length, `attempts ${took.join(' and ')} are in one chain`).toBeLessThanOrEqual(1);
    if ((status as PayoutStatus) === 'CANCELLED') expect(attempts).toEqual([]);
  }
  const took = on(chain);
  return { paid: took.filter((number) => attempts[number]?.kind === 'transfer').length, took: took.length, attempts: attempts.length, status };
}

test.each(['nonce', 'anchor', 'expiry'] as const)('whatever miners, nodes and clocks do, at most one attempt of a payout takes effect (%s)', (exclusion) => {
  let several = 0;
  let took = 0;
  fc.assert(
    fc.property(fc.array(move, { minLength: 20, maxLength: 120 }), (moves) => {
      const played = play(exclusion, moves);
      expect(played.paid).toBeLessThanOrEqual(1);
      if (played.attempts > 1) several += 1;
      took += played.took;
    }),
    { numRuns: times(20_000) },
  );
  // Histories with a second attempt, and with one that took effect, are common enough to mean something.
  expect(several).toBeGreaterThan(times(20_000) / 50);
  expect(took).toBeGreaterThan(times(20_000) / 20);
});
