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

/** Where an entry stands among those of its gateway; the time as text, because a Date would cut its microseconds. */
export type EntryPlace = Pick<GatewayEntry, 'transactionId' | 'accountId'> & { at: string };

/** What names an entry among those of its gateway, without telling how many transactions others have. */
export type EntryName = Pick<GatewayEntry, 'sourceKey' | 'account' | 'assetId'>;

/** The newest rows of a list of a gateway, `window` of them, of this time and behind the place `after`; null narrows nothing. */
interface Looked<Place> {
  gatewayId: string;
  /** At this moment or later, and before that. */
  from: Date | null;
  to: Date | null;
  after: Place | null;
  window: number;
}

/** Which entries are looked through, and which of those are listed; null narrows nothing. */
export interface LookedEntries extends Looked<EntryPlace> {
  /** Ticker, and name of a network. */
  asset: string | null;
  network: string | null;
  kind: string | null;
}

/** Finds the place of one of the gateway's own entries by its name. Reads the source keys of transactions, then the key of gateway_entries; locks nothing. */
export async function findEntryPlace(sql: Reads, gatewayId: string, { sourceKey, account, assetId }: EntryName): Promise<EntryPlace | undefined> {
  const [row] = await sql<EntryPlace[]>`
    select g.transaction_id::text, g.account_id::text, g.at::text
    from ledger_transactions t join gateway_entries g on g.gateway_id = ${gatewayId} and g.transaction_id = t.id join ledger_accounts a on a.id = g.account_id
    where t.source_key = ${sourceKey} and a.kind = ${account} and a.asset_id = ${assetId}`;
  return row;
}

/**
 * A gateway's entries, newest first, one more than `limit`, of those looked through. Reads gateway_entries_by_time, then each row by its own key: `offset 0`
 * keeps Postgres, which does not know how few they are, from reading whole tables for them. Locks nothing.
 */
export async function listGatewayEntries(sql: Reads, page: LookedEntries & { limit: number }): Promise<GatewayEntry[]> {
  const { asset, network, kind, limit } = page;
  return sql<GatewayEntry[]>`
    select g.transaction_id::text, g.account_id::text, g.at, t.kind, t.source_key, a.kind as account, s.id as "assetId", s.symbol as "assetSymbol",
      n.name as network, trim_scale(e.amount)::text as amount,
      coalesce(case when k.head = 'payment' then k.id end, d.payment_id, r.payment_id) as "paymentId",
      coalesce(a.settlement_id, case when k.head = 'settlement' then k.id end, h.settlement_id) as "settlementId"
    from (
      select w.* from (${lookedEntries(sql, page)}) w
        ${kind === null ? sql`` : sql`cross join lateral (select x.kind from ledger_transactions x where x.id = w.transaction_id offset 0) t`}
        ${asset === null && network === null ? sql`` : sql`cross join lateral (select x.asset_id from ledger_accounts x where x.id = w.account_id offset 0) a`}
      where true ${kind === null ? sql`` : sql`and t.kind = ${kind}`} ${ofAsset(sql, sql`a.asset_id`, page)}
      order by w.at desc, w.transaction_id desc, w.account_id desc limit ${limit + 1}) g
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
    order by g.at desc, g.transaction_id desc, g.account_id desc`;
}

/** The name of the last of the entries looked through, where there are as many as are looked through at once; locks nothing. */
export async function findLastLookedEntry(sql: Reads, page: LookedEntries): Promise<EntryName | undefined> {
  const [row] = await sql<EntryName[]>`
    select t.source_key, a.kind as account, a.asset_id as "assetId"
    from (select * from (${lookedEntries(sql, page)}) w order by w.at desc, w.transaction_id desc, w.account_id desc limit 1 offset ${page.window - 1}) w
    cross join lateral (select * from ledger_transactions x where x.id = w.transaction_id offset 0) t
    cross join lateral (select * from ledger_accounts x where x.id = w.account_id offset 0) a`;
  return row;
}

// What is narrowed beyond time stays outside of the limit (decision 0065).
function lookedEntries(sql: Reads, { gatewayId, from, to, after, window }: LookedEntries): ReturnType<Reads> {
  return sql`
    select transaction_id, account_id, at from gateway_entries where gateway_id = ${gatewayId}
      ${from === null ? sql`` : sql`and at >= ${from}`} ${to === null ? sql`` : sql`and at < ${to}`}
      ${after === null ? sql`` : sql`and (at, transaction_id, account_id) < (${after.at}::text::timestamptz, ${after.transactionId}::text::bigint, ${after.accountId}::text::bigint)`}
    order by at desc, transaction_id desc, account_id desc limit ${window}`;
}

function ofAsset(sql: Reads, column: ReturnType<Reads>, { asset, network }: { asset: string | null; network: string | null }): ReturnType<Reads> {
  if (asset === null && network === null) return sql``;
  return sql`and ${column} in (
    select s.id from assets s join networks n on n.id = s.network_id
    where true ${asset === null ? sql`` : sql`and s.symbol = ${asset}`} ${network === null ? sql`` : sql`and n.name = ${network}`})`;
}

/** What a credit may be, one of them at a time. */
export type CreditState = 'maturing' | 'available' | 'drawn' | 'held' | 'withheld' | 'refunding' | 'refunded';

/** A credit of a gateway, with what names its payment. Money is exact decimal text. */
export interface GatewayCredit {
  id: string;
  paymentId: string;
  assetSymbol: string;
  network: string;
  pool: 'green' | 'held';
  state: CreditState;
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

/** A credit's place in its gateway's list; the time as text, because a Date would cut its microseconds. */
export interface CreditPlace {
  id: string;
  at: string;
}

/** Which credits are looked through, and which of those are listed; null narrows nothing. */
export interface LookedCredits extends Looked<CreditPlace> {
  paymentId: string | null;
  /** Ticker, and name of a network. */
  asset: string | null;
  network: string | null;
  state: CreditState | null;
}

/** Finds the place of one of the gateway's own credits; locks nothing. */
export async function findCreditPlace(sql: Reads, gatewayId: string, id: string): Promise<CreditPlace | undefined> {
  const [row] = await sql<CreditPlace[]>`select id, credited_at::text as at from credits where id = ${id} and gateway_id = ${gatewayId}`;
  return row;
}

/** A gateway's credits, newest first, one more than `limit`, of those looked through. Reads credits_gateway, or the credits of one payment by its index; locks nothing. */
export async function listGatewayCredits(sql: Reads, page: LookedCredits & { limit: number }): Promise<GatewayCredit[]> {
  return sql<GatewayCredit[]>`
    select c.id, c.payment_id, a.symbol as "assetSymbol", n.name as network, c.pool, c.state, c.taken, trim_scale(c.gross)::text as gross,
      trim_scale(c.network_fee)::text as "networkFee", trim_scale(c.commission)::text as commission, trim_scale(c.net)::text as net,
      trim_scale(c.remaining)::text as remaining, c.credited_at, c.matures_at, c.matured_at
    from (
      select * from (
        select w.*, case when w.taken is not null then w.taken when w.matured_at is not null and w.remaining = 0 then 'drawn' when w.pool = 'held' then 'held'
          when w.matured_at is null then 'maturing' else 'available' end as state
        from (${lookedCredits(sql, page)}) w) w
      where true ${page.state === null ? sql`` : sql`and w.state = ${page.state}`} ${ofAsset(sql, sql`w.asset_id`, page)}
      order by w.credited_at desc, w.id desc limit ${page.limit + 1}) c
    join assets a on a.id = c.asset_id join networks n on n.id = c.network_id
    order by c.credited_at desc, c.id desc`;
}

/** The last of the credits looked through, where there are as many as are looked through at once; locks nothing. */
export async function findLastLookedCredit(sql: Reads, page: LookedCredits): Promise<{ id: string } | undefined> {
  const [row] = await sql<
    { id: string }[]
  >`select w.id from (${lookedCredits(sql, page)}) w order by w.credited_at desc, w.id desc limit 1 offset ${page.window - 1}`;
  return row;
}

function lookedCredits(sql: Reads, { gatewayId, paymentId, from, to, after, window }: LookedCredits): ReturnType<Reads> {
  return sql`
    select * from credits where gateway_id = ${gatewayId} ${paymentId === null ? sql`` : sql`and payment_id = ${paymentId}`}
      ${from === null ? sql`` : sql`and credited_at >= ${from}`} ${to === null ? sql`` : sql`and credited_at < ${to}`}
      ${after === null ? sql`` : sql`and (credited_at, id) < (${after.at}::text::timestamptz, ${after.id}::uuid)`}
    order by credited_at desc, id desc limit ${window}`;
}
