import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { DepositPath } from './payments.ts';

/** A deposit as its payment shows it, with what was credited of it. */
export interface PaymentDeposit {
  id: string;
  assetId: string;
  symbol: string;
  networkName: string;
  amount: Coins;
  txid: string;
  /** 0 once its block was orphaned. */
  confirmations: number;
  state: 'seen' | 'dropped' | 'credited' | 'dust' | 'unallocated';
  path: DepositPath | null;
  firstSeenAt: Date;
  blockTime: Date;
  /** Service time it was booked; null until then. */
  finalAt: Date | null;
  /** Fees taken and what is left, where this deposit carries a credit (the first of a block's transfers does, for all of them). */
  credit: { networkFee: Coins; commission: Coins; net: Coins; gross: Coins } | null;
}

/** What arrived for a payment, in chain order; locks nothing. */
export async function listPaymentDeposits(sql: Reads, paymentId: string): Promise<PaymentDeposit[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select d.id, d.asset_id as "assetId", a.symbol, n.name as "networkName", d.amount, d.txid, d.state, d.path, d.first_seen_at as "firstSeenAt",
      d.block_time as "blockTime", d.final_at as "finalAt", case when d.state = 'dropped' then 0 else greatest(t.height - d.height + 1, 0) end as confirmations,
      c.gross, c.network_fee as "networkFee", c.commission, c.net
    from deposits d join assets a on a.id = d.asset_id join networks n on n.id = d.network_id
    left join chain_tips t on t.network_id = d.network_id left join credits c on c.id = d.id
    where d.payment_id = ${paymentId} order by d.block_time, d.height, d.position, d.ordinal`;
  return rows.map(({ gross, networkFee, commission, net, ...row }) => ({
    ...(row as unknown as Omit<PaymentDeposit, 'amount' | 'credit'>),
    amount: parseTrusted<'asset'>(row.amount as string),
    confirmations: (row.confirmations as number | null) ?? 0,
    credit:
      gross === null
        ? null
        : {
            gross: parseTrusted<'asset'>(gross as string),
            networkFee: parseTrusted<'asset'>(networkFee as string),
            commission: parseTrusted<'asset'>(commission as string),
            net: parseTrusted<'asset'>(net as string),
          },
  }));
}
