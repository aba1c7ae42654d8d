import { releaseDraws } from '#api/store/credits.ts';
import { Invariant } from '#shared/core/errors.ts';
import { amount, type Coins, formatAmount } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { gatewayAccount, POOLS, reservedAccount, withdrawableAccount } from '#state-machines/ledger/accounts.ts';
import { release } from '#state-machines/ledger/postings.ts';
import { collectOwed } from './collect-owed.ts';
import { lockBalances, post } from './post.ts';

/**
 * Gives a cashout's claim back. Each part returns to where its credit is now, because its payment may have been held, cleared or withheld since
 * (decision 0012).
 * The caller holds the settlement's lock. Locks the ledger accounts, then the drawn credits.
 */
export async function releaseClaim(tx: Tx, claim: { id: string; gatewayId: string; assetId: string; amount: Coins }): Promise<void> {
  const { id, gatewayId, assetId } = claim;
  const accounts = [
    ...POOLS.map((pool) => withdrawableAccount(pool, gatewayId)),
    ...(['withheld', 'owed'] as const).map((kind) => gatewayAccount(kind, gatewayId)),
  ];
  await lockBalances(
    tx,
    [...accounts, reservedAccount(gatewayId, id)].map((account) => ({ ...account, assetId })),
  );
  const back = { green: amount<'asset'>(0n), held: amount<'asset'>(0n), withheld: amount<'asset'>(0n) };
  for (const draw of await releaseDraws(tx, id)) {
    // A refund can only be ordered of credits that no cashout has drawn from.
    if (draw.taken === 'refunding' || draw.taken === 'refunded') throw new Invariant(`settlement ${id} has reserved what is being paid back`);
    const place = draw.taken ?? draw.pool;
    back[place] = amount(back[place] + draw.amount);
  }
  const total = back.green + back.held + back.withheld;
  if (total !== claim.amount) throw new Invariant(`settlement ${id} reserves ${formatAmount(total)} of its credits, not its amount`);
  await post(tx, { sourceKey: `settlement:${id}:release`, kind: 'release', postings: release({ gatewayId, assetId, settlementId: id, ...back }) });
  // The claim that was not paid out pays for what its destination cost.
  for (const pool of POOLS) if (back[pool] > 0n) await collectOwed(tx, { gatewayId, assetId, pool, cause: `settlement:${id}:release:${pool}` });
}
