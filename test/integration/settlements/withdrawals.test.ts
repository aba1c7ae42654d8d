import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { type Arena, anArena } from '#test/races/arena.ts';
import { times } from '#test/harness/counts.ts';
import { plainCommit } from '#test/harness/in-process.ts';

/** Withdrawals tried over one balance, both pools together. */
const WITHDRAWALS = times(10_000);
/** More than the connections of one process, so that they queue. */
const AT_ONCE = 100;

let arena: Arena;
beforeAll(async () => {
  arena = await anArena();
});
afterAll(async () => {
  await arena?.audit();
  await arena?.stop();
});

/** Tries `count` cashouts of `amount` from a pool, a hundred at once; answers how many were accepted. */
async function withdraw(gateway: Gateway, route: 'GREEN' | 'AML_HELD', amount: string, count: number): Promise<number> {
  const { deps, usdt } = arena;
  const body = { assetId: usdt.id, amount, address: '0x00000000000000000000000000000000cafe0001', route };
  let left = count;
  let accepted = 0;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      try {
        await createSettlement(deps, { gateway, body, commit: plainCommit(deps) });
        accepted += 1;
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'insufficient_balance')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return accepted;
}

it(
  `lets exactly floor(balance ÷ amount) of ${WITHDRAWALS} parallel withdrawals through, from each pool by itself`,
  async () => {
    const { gateway } = await arena.rich({ green: ['100.5', '16'], held: ['70.25'] });
    const [green, held] = await Promise.all([
      withdraw(gateway, 'GREEN', '3', Math.ceil(WITHDRAWALS / 2)),
      withdraw(gateway, 'AML_HELD', '3', Math.floor(WITHDRAWALS / 2)),
    ]);
    expect({ green, held }).toEqual({ green: 38, held: 23 });
    const { items } = await listBalances(arena.deps, { gateway });
    expect(items).toMatchObject([{ totalAvailable: '2.5', payments: 1, totalQuarantinedAvailable: '1.25', quarantinedPayments: 1 }]);
  },
  WITHDRAWALS * 100 + 60_000,
);
