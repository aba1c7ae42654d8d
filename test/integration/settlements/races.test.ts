import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Arena, anArena, type Contested, type Start } from '#test/races/arena.ts';
import { OPERATIONS, type Operation } from '#test/races/operations.ts';
import { areIdle, legalOutcomes, type Outcome, race } from '#test/races/orders.ts';
import { FULL, times } from '#test/harness/counts.ts';

const STARTS: readonly Start[] = [
  'awaiting approval',
  'parked and covered',
  'parked, covered and above the cap',
  'parked too long',
  'parked too long, covered',
  'requested',
];
/** Every unordered pair, each operation beside itself too. */
const PAIRS = OPERATIONS.flatMap((first, at) => OPERATIONS.slice(at).map((second): [Operation, Operation] => [first, second]));
const ROUNDS = times(1_000);
/** Rounds that go on at once, each over a cashout of its own. */
const LANES = 4;

let opened: Arena | undefined;
const arena = async (): Promise<Arena> => {
  opened ??= await anArena();
  return opened;
};
const close = async (): Promise<void> => {
  await opened?.stop();
  opened = undefined;
};
// What is planned is never mined here, and thousands of payouts on their way make every next one slow.
afterEach(() => (FULL ? close() : undefined));
afterAll(close);

/** Races of one pair from one start, in several lanes at once. */
async function racePair(where: Arena, start: Start, pair: readonly [Operation, Operation], { legal, rounds }: { legal: ReadonlySet<Outcome>; rounds: number }) {
  const lane = async (number: number, count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      const contested: Contested = await where.next(start, number);
      const outcome = await race(where, contested, pair);
      expect([...legal], `${pair[0].name} and ${pair[1].name}, ${start}, settlement ${contested.id}`).toContain(outcome);
    }
  };
  // A dispatcher pays whatever is due: beside one, the other lanes would be dispatched as well.
  const lanes = pair.some(({ name }) => name === 'dispatch') ? 1 : LANES;
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number, Math.ceil(rounds / lanes))));
}

describe.each(PAIRS.map((pair) => [pair[0].name, pair[1].name, pair] as const))('%s and %s at the same instant', (_first, _second, pair) => {
  it(
    `end as one of their serial orders would, ${ROUNDS} times`,
    async () => {
      const where = await arena();
      const busy: [Start, Set<Outcome>][] = [];
      for (const start of STARTS) {
        const legal = await legalOutcomes(where, () => where.next(start, 0), pair);
        if (!areIdle(legal)) busy.push([start, legal]);
      }
      expect(busy.length).toBeGreaterThan(0);
      for (const [start, legal] of busy) await racePair(where, start, pair, { legal, rounds: Math.ceil(ROUNDS / busy.length) });
      await where.audit();
    },
    ROUNDS * 600 + 240_000,
  );
});
