import type { Deps } from '#api/deps.ts';
import type { Blocks } from '#api/store/chain-blocks.ts';
import { splitSum, takeSums } from '#api/store/transfer-sums.ts';
import { rowId } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/**
 * Turns the parts of sums into rows of their own (decision 0030). Needed when a reorganisation takes the sums' blocks away, because each part may
 * return in another place, and when a sum is allocated only in part. Returns the ids of the deposits that were taken apart.
 */
export async function takeApart(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes' | 'wallClock'>,
  which: ({ networkId: string } & Blocks) | { depositIds: readonly string[] },
): Promise<string[]> {
  const sums = await takeSums(tx, which);
  for (const sum of sums)
    await splitSum(
      tx,
      sum,
      sum.parts.slice(1).map(() => rowId(deps)),
    );
  return sums.map((sum) => sum.depositId);
}
