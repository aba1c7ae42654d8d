import { type Coins, formatAmount } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';

/** Coins of a payment that changed their pool in the books. */
export interface PoolMove {
  id: string;
  paymentId: string;
  assetId: string;
  networkId: string;
  amount: Coins;
  from: Pool;
  to: Pool;
}

/** Records that coins changed their pool, so that those in a wallet follow them. */
export async function insertPoolMove(tx: Tx, move: PoolMove): Promise<void> {
  await tx`
    insert into pool_moves (id, payment_id, asset_id, network_id, amount, from_pool, to_pool)
    values (${move.id}, ${move.paymentId}, ${move.assetId}, ${move.networkId}, ${formatAmount(move.amount)}::text::numeric, ${move.from}, ${move.to})`;
}
