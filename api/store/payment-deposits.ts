import type { AssetType } from '#shared/core/assets.ts';
import type { Doubt } from './deposits.ts';
import { type Coins, parseTrusted, type Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isOneOf } from './is-one-of.ts';
import type { DepositPath } from './payments.ts';

/** A deposit as its payment shows it, with what was credited of it. */
export interface PaymentDeposit {
  id: string;
  paymentId: string;
  assetId: string;
  symbol: string;
  assetType: AssetType;
  networkName: string;
  decimals: number;
  /** Anything smaller is recorded and decides nothing. */
  dustFloor: Coins;
  amount: Coins;
  txid: string;
  /** Block it is in; null in the sandbox, which has none. */
  height: number | null;
  /** Its coins were made in its block. */
  coinbase: boolean;
  /** 0 once its block was orphaned, also when it had been booked by then. */
  confirmations: number;
  state: 'seen' | 'dropped' | 'credited' | 'dust' | 'unallocated';
  path: DepositPath | null;
  /** Who matched it to the payment by hand; null for what simply arrived. */
  claimedBy: 'inquiry' | 'operator' | null;
  firstSeenAt: Date;
  blockTime: Date;
  /** Service time it was booked; null until then. */
  finalAt: Date | null;
  /** True while it is final and waits for a price. */
  waits: boolean;
  /** Why it waits, though final, for a second provider to confirm it; else null. */
  doubt: Doubt | null;
  /** When a reorganisation took its block away after it was booked, and nothing has brought it back (decisions 5); else null. */
  lostAt: Date | null;
  /** Market price of one coin when it was booked; null until then, and where no fresh one was at hand and none was needed. */
  usdPrice: Usd | null;
  /** Fees taken and what is left, where this deposit carries a credit (the first of a block's transfers does, for all of them). */
  credit: { networkFee: Coins; commission: Coins; net: Coins; gross: Coins } | null;
}

/** What arrived for a payment, in chain order, of what was too small to decide anything `POLICY.dustListed`; locks nothing. */
export function listPaymentDeposits(sql: Reads, paymentId: string): Promise<PaymentDeposit[]> {
  return listPaymentDepositsOf(sql, [paymentId], null);
}

/**
 * What arrived for several payments, of each any `most` in whatever state (when null, all of them but dust beyond `POLICY.dustListed`), in chain order; locks nothing. To find the first
 * of many would read them all.
 */
export async function listPaymentDepositsOf(sql: Reads, paymentIds: readonly string[], most: number | null): Promise<PaymentDeposit[]> {
  const arrived =
    most === null
      ? sql`(select * from deposits where payment_id = asked.id and state <> 'dust')
        union all (select * from deposits where payment_id = asked.id and state = 'dust' limit ${POLICY.dustListed})`
      : sql`select * from deposits where payment_id = asked.id limit ${most}`;
  const rows = await sql<Record<string, unknown>[]>`
    select d.id, d.payment_id, d.asset_id, a.symbol, a.type as "assetType", a.decimals, a.dust_floor, n.name as "networkName", d.amount, d.txid, d.height, d.coinbase, d.state, d.path, d.claimed_by, d.first_seen_at,
      d.block_time, d.final_at, d.waits_since is not null as waits, case when d.doubted_since is not null then coalesce(d.doubt, 'unreachable') end as doubt, d.lost_at, d.usd_price, case when d.state = 'dropped' or d.lost_at is not null then 0 else greatest(t.height - d.height + 1, 0) end as confirmations,
      c.gross, c.network_fee, c.commission, c.net
    from (select p.id from payments p where p.id ${isOneOf(sql, paymentIds)}) as asked
    cross join lateral (${arrived}) d
    join assets a on a.id = d.asset_id join networks n on n.id = d.network_id
    left join chain_tips t on t.network_id = d.network_id left join credits c on c.id = d.id
    order by d.block_time, d.height, d.position, d.ordinal`;
  return rows.map(({ gross, networkFee, commission, net, ...row }) => ({
    ...(row as unknown as Omit<PaymentDeposit, 'amount' | 'dustFloor' | 'usdPrice' | 'credit'>),
    amount: parseTrusted<'asset'>(row.amount as string),
    dustFloor: parseTrusted<'asset'>(row.dustFloor as string),
    usdPrice: row.usdPrice === null ? null : parseTrusted<'usd'>(row.usdPrice as string),
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

/** How many inquiry attempts a payment has used; locks nothing. */
export async function readInquiryAttempts(reads: Reads, paymentId: string): Promise<number> {
  const [row] = await reads<{ used: number }[]>`select inquiry_attempts as used from payments where id = ${paymentId}`;
  return row?.used ?? 0;
}

/** Uses one attempt; false when `limit` are used already, however many ask at once. Locks the payment until commit. */
export async function useInquiryAttempt(tx: Tx, paymentId: string, limit: number): Promise<boolean> {
  const rows = await tx`update payments set inquiry_attempts = inquiry_attempts + 1 where id = ${paymentId} and inquiry_attempts < ${limit} returning 1`;
  return rows.length === 1;
}

/** Gives a payment its inquiry attempts back; how many it had used, or undefined when there is no such payment. Locks its row. */
export async function resetInquiryAttempts(tx: Tx, paymentId: string): Promise<number | undefined> {
  const [row] = await tx<{ used: number }[]>`select inquiry_attempts as used from payments where id = ${paymentId} for no key update`;
  if (row !== undefined && row.used > 0) await tx`update payments set inquiry_attempts = 0 where id = ${paymentId}`;
  return row?.used;
}
