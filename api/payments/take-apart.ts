import type { Deps } from '#api/deps.ts';
import type { Blocks } from '#api/store/chain-blocks.ts';
import { splitSum, takeSums } from '#api/store/transfer-sums.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/**
 * Makes rows of the parts of sums (decision 0030): of those whose blocks a reorganisation takes away, because each part may
 * come back somewhere else, or of deposits that are allocated in part. Answers the ids of the deposits that were taken apart.
 */
export async function takeApart(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes'>,
  which: ({ networkId: string } & Blocks) | { depositIds: readonly string[] },
): Promise<string[]> {
  const sums = await takeSums(tx, which);
  for (const sum of sums)
    await splitSum(
      tx,
      sum,
      sum.parts.slice(1).map(() => uuidFrom(deps.randomBytes(16))),
    );
  return sums.map((sum) => sum.depositId);
}
