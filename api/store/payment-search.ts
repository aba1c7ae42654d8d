import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type DepositPath, matchingPayments, namesOf, type Payment, type PaymentFilter, paymentFromRow, type PaymentPlace } from './payments.ts';

/** What a list of payments is narrowed to beyond what their indexes are by; null narrows nothing. */
export interface Narrowing {
  /** Ticker of what was received, and the name of its network. */
  asset: string | null;
  network: string | null;
  sandbox: boolean | null;
  verified: boolean | null;
  path: DepositPath | null;
  amlState: NonNullable<Payment['amlState']> | null;
  /** Invoice amounts in dollars as they are shown, in cents; both included. */
  amountUsdFrom: Usd | null;
  amountUsdTo: Usd | null;
}

/** The newest rows of a list, `window` of them, behind the place `after`. */
export interface LookedThrough extends PaymentFilter {
  narrowing: Narrowing;
  /** Only these; null is all of the gateway. */
  ids: readonly string[] | null;
  after: PaymentPlace | null;
  window: number;
}

/** What somebody looks for, in every form in which it may be written down here. */
export interface Sought {
  gatewayId: string;
  id: string | null;
  /** First 16 bytes of the SHA-256 of the text, in hexadecimal digits. */
  digest: string;
  txids: readonly string[];
  addresses: readonly string[];
  /** What was asked for, in each way in which a shop may write it; none where amounts are not looked for. */
  amounts: readonly string[];
}

/**
 * Finds the payments of a gateway that are known by a text: their id, a transaction that paid them, an address of theirs, a value stored with them, or what they ask for. Of each
 * kind the newest, `window` of them, behind `after`. Reads the keys of payments and payment_references, payments_gateway_amount, the hash of deposits and sandbox_deposits, and the
 * address of deposit_addresses; locks nothing.
 */
export async function findSought(
  sql: Reads,
  { gatewayId, id, digest, txids, addresses, amounts, after, window }: Sought & Pick<LookedThrough, 'after' | 'window'>,
): Promise<string[]> {
  const newest = sql`and p.gateway_id = ${gatewayId} ${behind(sql, after, sql`p.created_at, p.id`)} order by p.created_at desc, p.id desc limit ${window}`;
  const rows = await sql<{ id: string }[]>`
    (select payment_id as id from payment_references where gateway_id = ${gatewayId} and digest = ${digest}::text::uuid ${behind(sql, after, sql`created_at, payment_id`)}
      order by created_at desc, payment_id desc limit ${window})
    ${id === null ? sql`` : sql`union (select p.id from payments p where p.id = ${id} ${newest})`}
    ${
      txids.length === 0
        ? sql``
        : sql`
    union (select p.id from deposits d join payments p on p.id = d.payment_id where d.network_id in (select n.id from networks n) and d.txid = any(${txids}) ${newest})
    union (select p.id from sandbox_deposits d join payments p on p.id = d.payment_id where d.txid = any(${txids}) ${newest})`
    }
    ${addresses.length === 0 ? sql`` : sql`union (select p.id from deposit_addresses a join payments p on p.id = a.payment_id where a.address = any(${addresses}) ${newest})`}
    ${
      // A range of one amount, so that no index but the one by amount has its order: the newest of a gateway would be looked through for one that is rare.
      amounts.length === 0
        ? sql``
        : sql`
    union (select f.id from unnest(${[...amounts]}::text[]) w (text) cross join lateral (
      select p.id from payments p where p.gateway_id = ${gatewayId} and p.amount >= w.text and p.amount <= w.text ${behind(sql, after, sql`p.created_at, p.id`)}
      order by p.amount, p.created_at desc, p.id desc limit ${window}) f)`
    }`;
  return rows.map((row) => row.id);
}

/** Lists what is looked for among the rows looked through, newest first, one more than `limit`. Stops reading when it has them; locks nothing. */
export async function listNarrowed(sql: Reads, page: LookedThrough & { limit: number; offset: number }): Promise<Payment[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select p.*, ${namesOf(sql, sql`p.id`)} from (${looked(sql, page)}) p where ${narrowed(sql, page.narrowing)}
    order by p.created_at desc, p.id desc limit ${page.limit + 1} offset ${page.offset}`;
  return rows.map(paymentFromRow);
}

/** Counts what is looked for among the newest rows of the list, and says whether there were more than those. Locks nothing. */
export async function countNarrowed(sql: Reads, list: LookedThrough): Promise<{ total: number; atLeast: boolean }> {
  const [row] = await sql<[{ total: number; looked: number }]>`
    select count(*) filter (where ${narrowed(sql, list.narrowing)})::int as total, count(*)::int as looked from (${looked(sql, list)}) p`;
  return { total: row.total, atLeast: row.looked === list.window };
}

/** The last of the rows looked through, where there are as many as are looked through at once; locks nothing. */
export async function findLastLooked(sql: Reads, page: LookedThrough): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select p.id from (${looked(sql, page)}) p order by p.created_at desc, p.id desc limit 1 offset ${page.window - 1}`;
  return row?.id;
}

/** What decided a payment, and what was taken of it. */
export interface Received {
  symbol: string;
  networkName: string;
  txid: string;
  /** Null before it is credited. */
  credit: { networkFee: Coins; commission: Coins; net: Coins } | null;
}

/** Reads what decided these payments, by their ids; of those that nothing has decided there is none. Locks nothing. */
export async function listReceived(sql: Reads, ids: readonly string[]): Promise<Map<string, Received>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<
    { id: string; symbol: string; networkName: string; txid: string; networkFee: string | null; commission: string | null; net: string | null }[]
  >`
    select p.id, a.symbol, n.name as "networkName", coalesce(d.txid, s.txid) as txid, coalesce(c.network_fee, s.network_fee) as "networkFee",
      coalesce(c.commission, s.commission) as commission, coalesce(c.net, s.net) as net
    from payments p join assets a on a.id = p.received_asset_id join networks n on n.id = a.network_id
      left join deposits d on d.id = p.deciding_deposit_id left join credits c on c.id = d.id left join sandbox_deposits s on s.id = p.deciding_deposit_id
    where p.id = any(${ids}::uuid[]) and coalesce(d.txid, s.txid) is not null`;
  return new Map(
    rows.map(({ id, symbol, networkName, txid, networkFee, commission, net }) => {
      const credit =
        networkFee === null || commission === null || net === null
          ? null
          : { networkFee: parseTrusted<'asset'>(networkFee), commission: parseTrusted<'asset'>(commission), net: parseTrusted<'asset'>(net) };
      return [id, { symbol, networkName, txid, credit }];
    }),
  );
}

/** Nothing that a page is narrowed to goes in here: a limit above it keeps what is rare from being looked for in all that ever was. */
function looked(sql: Reads, page: LookedThrough): ReturnType<Reads> {
  return sql`
    select * from payments where ${matchingPayments(sql, page)} ${page.ids === null ? sql`` : sql`and id = any(${page.ids}::uuid[])`}
      ${behind(sql, page.after, sql`created_at, id`)} order by created_at desc, id desc limit ${page.window}`;
}

function behind(sql: Reads, after: PaymentPlace | null, columns: ReturnType<Reads>): ReturnType<Reads> {
  return after === null ? sql`` : sql`and (${columns}) < (${after.createdAt}::text::timestamptz, ${after.id}::uuid)`;
}

function narrowed(sql: Reads, { asset, network, sandbox, verified, path, amlState, amountUsdFrom, amountUsdTo }: Narrowing): ReturnType<Reads> {
  return sql`true
    ${
      asset === null && network === null
        ? sql``
        : sql`and p.received_asset_id in (
      select a.id from assets a join networks n on n.id = a.network_id
      where true ${asset === null ? sql`` : sql`and a.symbol = ${asset}`} ${network === null ? sql`` : sql`and n.name = ${network}`})`
    }
    ${sandbox === null ? sql`` : sql`and p.sandbox = ${sandbox}`}
    ${verified === null ? sql`` : sql`and p.is_verified = ${verified}`}
    ${path === null ? sql`` : sql`and p.deposit_path = ${path}`}
    ${amlState === null ? sql`` : sql`and p.aml_state = ${amlState}`}
    ${amountUsdFrom === null ? sql`` : sql`and round(p.amount_usd, 2) >= ${formatAmount(amountUsdFrom)}::numeric`}
    ${amountUsdTo === null ? sql`` : sql`and round(p.amount_usd, 2) <= ${formatAmount(amountUsdTo)}::numeric`}`;
}
