import type { Reads } from '#shared/platform/postgres.ts';
import type { EventDetail } from './operator-timelines.ts';

/** Reads what screening and operators made of a payment, oldest first; locks nothing. */
export async function listAmlEventDetails(sql: Reads, paymentId: string): Promise<EventDetail[]> {
  return sql<
    EventDetail[]
  >`select event, from_status as "from", to_status as "to", facts, actor, at from aml_events where payment_id = ${paymentId} order by id`;
}

export interface RefundDetail {
  id: string;
  assetSymbol: string;
  network: string;
  /** Canonical. */
  address: string;
  amount: string;
  status: string;
  reason: string;
  orderedAt: Date;
  endedAt: Date | null;
  txHash: string | null;
  failure: string | null;
}

/** Reads the refunds that were ordered of a payment, oldest first, money as exact decimal text; locks nothing. */
export async function listRefundDetails(sql: Reads, paymentId: string): Promise<RefundDetail[]> {
  return sql<RefundDetail[]>`
    select r.id, a.symbol as "assetSymbol", n.name as network, r.recipient as address, trim_scale(r.amount)::text as amount, r.status, r.reason,
      r.ordered_at as "orderedAt", r.ended_at as "endedAt", r.txid as "txHash", r.failure
    from aml_refunds r join assets a on a.id = r.asset_id join networks n on n.id = r.network_id
    where r.payment_id = ${paymentId} order by r.ordered_at, r.id`;
}
