import type { Reads } from '#shared/platform/postgres.ts';

/** One entry on an account of a gateway, with what it was posted for. Money is exact decimal text. */
export interface GatewayEntry {
  transactionId: string;
  accountId: string;
  at: Date;
  kind: string;
  /** Names the transaction. */
  sourceKey: string;
  account: string;
  assetId: string;
  assetSymbol: string;
  network: string;
  amount: string;
  paymentId: string | null;
  settlementId: string | null;
}

/** Where an entry stands among those of its gateway. */
export type EntryPlace = Pick<GatewayEntry, 'transactionId' | 'accountId'>;

/** What names an entry among those of its gateway, without telling how many transactions others have. */
export type EntryName = Pick<GatewayEntry, 'sourceKey' | 'account' | 'assetId'>;

/** Finds the place of one of the gateway's own entries by its name. Reads the source keys of transactions, then the key of gateway_entries; locks nothing. */
export async function findEntryPlace(sql: Reads, gatewayId: string, { sourceKey, account, assetId }: EntryName): Promise<EntryPlace | undefined> {
  const [row] = await sql<EntryPlace[]>`
    select g.transaction_id::text, g.account_id::text
    from ledger_transactions t join gateway_entries g on g.gateway_id = ${gatewayId} and g.transaction_id = t.id join ledger_accounts a on a.id = g.account_id
    where t.source_key = ${sourceKey} and a.kind = ${account} and a.asset_id = ${assetId}`;
  return row;
}

/**
 * A gateway's entries, newest first, one more than `limit`. Reads the key of gateway_entries, then each row by its own key: `offset 0` keeps Postgres, which
 * does not know how few they are, from reading whole tables for them. Locks nothing.
 */
export async function listGatewayEntries(
  sql: Reads,
  { gatewayId, limit, after }: { gatewayId: string; limit: number; after: EntryPlace | null },
): Promise<GatewayEntry[]> {
  const behind = after === null ? sql`` : sql`and (transaction_id, account_id) < (${after.transactionId}::text::bigint, ${after.accountId}::text::bigint)`;
  return sql<GatewayEntry[]>`
    select g.transaction_id::text, g.account_id::text, t.at, t.kind, t.source_key, a.kind as account, s.id as "assetId", s.symbol as "assetSymbol",
      n.name as network, trim_scale(e.amount)::text as amount,
      coalesce(case when k.head = 'payment' then k.id end, d.payment_id, r.payment_id) as "paymentId",
      coalesce(a.settlement_id, case when k.head = 'settlement' then k.id end, h.settlement_id) as "settlementId"
    from (
      select transaction_id, account_id from gateway_entries where gateway_id = ${gatewayId} ${behind}
      order by transaction_id desc, account_id desc limit ${limit + 1}) g
    cross join lateral (select * from ledger_entries x where x.transaction_id = g.transaction_id and x.account_id = g.account_id offset 0) e
    cross join lateral (select * from ledger_transactions x where x.id = g.transaction_id offset 0) t
    cross join lateral (select * from ledger_accounts x where x.id = g.account_id offset 0) a
    join assets s on s.id = a.asset_id join networks n on n.id = s.network_id
    cross join lateral (
      select split_part(t.source_key, ':', 1) as head,
        case when split_part(t.source_key, ':', 2) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then split_part(t.source_key, ':', 2)::uuid end as id) k
    left join lateral (select x.payment_id from deposits x where k.head in ('deposit', 'credit') and x.id = k.id offset 0) d on true
    left join lateral (select x.payment_id from aml_refunds x where k.head = 'refund' and x.id = k.id offset 0) r on true
    left join lateral (select x.settlement_id from charges x where k.head = 'charge' and x.id = k.id offset 0) h on true
    order by g.transaction_id desc, g.account_id desc`;
}

/** A credit of a gateway, with what names its payment. Money is exact decimal text. */
export interface GatewayCredit {
  id: string;
  paymentId: string;
  assetSymbol: string;
  network: string;
  pool: 'green' | 'held';
  taken: 'withheld' | 'refunding' | 'refunded' | null;
  gross: string;
  networkFee: string;
  commission: string;
  net: string;
  remaining: string;
  creditedAt: Date;
  maturesAt: Date;
  maturedAt: Date | null;
}

/** A gateway's credits, newest first, one more than `limit`, behind the one with the id `after`; undefined when the gateway has no such one. Reads credits_gateway; locks nothing. */
export async function listGatewayCredits(
  sql: Reads,
  { gatewayId, limit, after }: { gatewayId: string; limit: number; after: string | null },
): Promise<GatewayCredit[] | undefined> {
  const [place] =
    after === null ? [] : await sql<{ at: string }[]>`select credited_at::text as at from credits where id = ${after} and gateway_id = ${gatewayId}`;
  if (after !== null && place === undefined) return undefined;
  const behind = place === undefined ? sql`` : sql`and (credited_at, id) < (${place.at}::text::timestamptz, ${after}::uuid)`;
  return sql<GatewayCredit[]>`
    select c.id, c.payment_id, a.symbol as "assetSymbol", n.name as network, c.pool, c.taken, trim_scale(c.gross)::text as gross,
      trim_scale(c.network_fee)::text as "networkFee", trim_scale(c.commission)::text as commission, trim_scale(c.net)::text as net,
      trim_scale(c.remaining)::text as remaining, c.credited_at, c.matures_at, c.matured_at
    from (select * from credits where gateway_id = ${gatewayId} ${behind} order by credited_at desc, id desc limit ${limit + 1}) c
      join assets a on a.id = c.asset_id join networks n on n.id = c.network_id
    order by c.credited_at desc, c.id desc`;
}
