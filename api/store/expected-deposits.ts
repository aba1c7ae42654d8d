import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { WaitingState } from '#shared/core/replacements.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** What one unmined transaction would bring to a payment, of one asset. */
export interface ExpectedArrival {
  txid: string;
  state: WaitingState;
  /** The transaction that took its place. */
  replacedBy: string | null;
  /** Since when it waits no more; null while it waits. */
  endedAt: Date | null;
  assetId: string;
  symbol: string;
  networkName: string;
  amount: Coins;
  /** Anything smaller will decide nothing. */
  dustFloor: Coins;
  /** When its coins were first seen on their way. */
  firstSeenAt: Date;
}

/** What was ever seen on its way to a payment before a block held it, the first seen first; locks nothing. */
export async function listExpectedArrivals(sql: Reads, paymentId: string): Promise<ExpectedArrival[]> {
  const rows = await sql<(Omit<ExpectedArrival, 'amount' | 'dustFloor'> & { amount: string; dustFloor: string })[]>`
    select t.txid, t.state, t.replaced_by as "replacedBy", t.ended_at as "endedAt", a.id as "assetId", a.symbol, n.name as "networkName", a.dust_floor as "dustFloor", sum(m.amount) as amount,
      min(m.first_seen_at) as "firstSeenAt"
    from mempool_deposits m join mempool_transactions t on t.network_id = m.network_id and t.txid = m.txid
      join assets a on a.id = m.asset_id join networks n on n.id = m.network_id
    where m.payment_id = ${paymentId}
    group by t.network_id, t.txid, n.name, a.id order by min(m.first_seen_at), t.txid`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount), dustFloor: parseTrusted(row.dustFloor) }));
}
