import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** A destination a gateway pays to. */
export interface AddressBookEntry {
  id: string;
  gatewayId: string;
  networkId: string;
  /** Canonical form: EVM in lower case, base58 exact. */
  address: string;
  label: string;
}

/**
 * Stores a destination on first use and returns its id; a repeat is found and keeps its first label (contract 4.3). Locks
 * nothing that exists already, so that cashouts of several assets to one address do not wait for each other.
 */
export async function storeAddress(tx: Tx, entry: AddressBookEntry): Promise<string> {
  const known = await findAddress(tx, entry);
  if (known !== undefined) return known;
  await tx`
    insert into address_book (id, gateway_id, network_id, address, label, tag)
    values (${entry.id}, ${entry.gatewayId}, ${entry.networkId}, ${entry.address}, ${entry.label}, 'API')
    on conflict (gateway_id, network_id, address) do nothing`;
  return (await findAddress(tx, entry)) as string;
}

async function findAddress(tx: Tx, { gatewayId, networkId, address }: AddressBookEntry): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`select id from address_book where gateway_id = ${gatewayId} and network_id = ${networkId} and address = ${address}`;
  return row?.id;
}

/** What a gateway's book tells of an entry. */
export interface BookEntry {
  id: string;
  label: string;
  network: string;
  /** Canonical. */
  address: string;
  tag: 'API' | 'BOOK';
  createdAt: Date;
  /** API key that entered it; null when a cashout brought it. */
  createdBy: string | null;
  changedAt: Date | null;
  changedBy: string | null;
  hiddenAt: Date | null;
  firstUsedAt: Date | null;
  lastUsedAt: Date | null;
  /** By asset, as exact decimal text. */
  sent: { asset: string; cashouts: number; amount: string }[];
}

/**
 * A gateway's entries that are not hidden, the last stored first, one more than `limit`, behind the one with the id `after`; undefined when the gateway has no such
 * one. Reads address_book_shown, and what was sent to each by its own index; locks nothing.
 */
export async function listBook(
  sql: Reads,
  { gatewayId, limit, after }: { gatewayId: string; limit: number; after: string | null },
): Promise<BookEntry[] | undefined> {
  const [place] =
    after === null ? [] : await sql<{ at: string }[]>`select created_at::text as at from address_book where id = ${after} and gateway_id = ${gatewayId}`;
  if (after !== null && place === undefined) return undefined;
  const behind = place === undefined ? sql`` : sql`and (created_at, id) < (${place.at}::text::timestamptz, ${after}::uuid)`;
  return sql<BookEntry[]>`
    select ${entryColumns(sql)} from (
      select * from address_book where gateway_id = ${gatewayId} and hidden_at is null ${behind} order by created_at desc, id desc limit ${limit + 1}) b
    ${entryJoins(sql)} order by b.created_at desc, b.id desc`;
}

/** Finds one entry of a gateway, hidden or not; locks nothing. */
export async function findBookEntry(sql: Reads, gatewayId: string, id: string): Promise<BookEntry | undefined> {
  const [row] = await sql<BookEntry[]>`
    select ${entryColumns(sql)} from (select * from address_book where id = ${id} and gateway_id = ${gatewayId}) b ${entryJoins(sql)}`;
  return row;
}

function entryColumns(sql: Reads) {
  return sql`b.id, coalesce(b.name, b.label) as label, n.name as network, b.address, b.tag, coalesce(b.added_at, b.created_at) as "createdAt", b.added_by as "createdBy",
    b.changed_at, b.changed_by, b.hidden_at, u.first_used_at, u.last_used_at, u.sent`;
}

function entryJoins(sql: Reads) {
  return sql`
    join networks n on n.id = b.network_id
    cross join lateral (
      select min(x.first_at) as first_used_at, max(x.last_at) as last_used_at,
        coalesce(json_agg(json_build_object('asset', s.symbol, 'cashouts', x.cashouts, 'amount', trim_scale(x.sent)::text) order by s.symbol), '[]') as sent
      from (
        select asset_id, sum(cashouts) as cashouts, sum(sent) as sent, min(first_at) as first_at, max(last_at) as last_at
        from address_uses where address_id = b.id group by asset_id) x
      join assets s on s.id = x.asset_id) u`;
}

const BOOK_LOCK_CLASS = 0x626f_6f6b;

/** Keeps everybody else from changing this gateway's book by hand until commit; cashouts do not wait. */
export async function lockBook(tx: Tx, gatewayId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${BOOK_LOCK_CLASS}, hashtext(${gatewayId}))`;
}

/** Whether a gateway has so many entries made by hand: shown ones, and all that ever were. Stops reading there; the caller holds the lock of `lockBook`. */
export async function isBookFull(tx: Tx, gatewayId: string, { shown, ever }: { shown: number; ever: number }): Promise<boolean> {
  const rows = await tx`
    (select 1 from address_book where gateway_id = ${gatewayId} and added_at is not null and hidden_at is null offset ${shown - 1} limit 1)
    union all
    (select 1 from address_book where gateway_id = ${gatewayId} and added_at is not null offset ${ever - 1} limit 1)`;
  return rows.length > 0;
}

/**
 * Enters a destination by hand, or shows a hidden one again under this name; undefined when it is shown already. With `vouches` somebody stands for one that only a key or a cashout
 * brought, which is then as if they had entered it. Locks its row.
 */
export async function enterAddress(tx: Tx, entry: AddressBookEntry & { by: string; vouches?: boolean }): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    insert into address_book as b (id, gateway_id, network_id, address, label, name, tag, added_at, added_by)
    values (${entry.id}, ${entry.gatewayId}, ${entry.networkId}, ${entry.address}, ${entry.label}, ${entry.label}, 'BOOK', sluice_now(), ${entry.by})
    on conflict (gateway_id, network_id, address) do update set name = excluded.name, added_at = excluded.added_at, added_by = excluded.added_by, hidden_at = null,
      changed_at = null, changed_by = null
      where b.hidden_at is not null or (${entry.vouches ?? false} and b.added_by is distinct from ${entry.by} and coalesce(b.added_by, '') not like '%@%')
    returning id`;
  return row?.id;
}

/** Renames an entry that is shown; false when there is none. Locks its row. */
export async function renameBookEntry(tx: Tx, { gatewayId, id, label, by }: { gatewayId: string; id: string; label: string; by: string }): Promise<boolean> {
  const rows = await tx`
    update address_book set name = ${label}, changed_at = sluice_now(), changed_by = ${by} where id = ${id} and gateway_id = ${gatewayId} and hidden_at is null
    returning id`;
  return rows.length > 0;
}

/** Hides an entry; one that is hidden already stays as it is. Locks its row. */
export async function hideBookEntry(tx: Tx, { gatewayId, id, by }: { gatewayId: string; id: string; by: string }): Promise<void> {
  await tx`
    update address_book set hidden_at = sluice_now(), changed_at = sluice_now(), changed_by = ${by} where id = ${id} and gateway_id = ${gatewayId} and hidden_at is null`;
}

/** Rows appended that are worth adding up. */
const FOLDED_FROM = 200;

/** Whether enough was appended; a condition. */
export function areUsesToFold(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from address_uses where not folded offset ${FOLDED_FROM - 1})`;
}

/** Adds up what cashouts appended since the last time with what it adds to; answers how many rows it was. Whoever reads meanwhile sees the one or the other. */
export async function foldAddressUses(sql: Reads): Promise<number> {
  const [{ enough }] = await sql<[{ enough: boolean }]>`select ${areUsesToFold(sql)} as enough`;
  if (!enough) return 0;
  const rows = await sql`
    with appended as (delete from address_uses where not folded returning *),
    sums as (
      delete from address_uses u using (select distinct address_id, asset_id from appended) k
      where u.folded and u.address_id = k.address_id and u.asset_id = k.asset_id returning u.*),
    added as (
      insert into address_uses (address_id, asset_id, cashouts, sent, first_at, last_at, folded)
      select address_id, asset_id, sum(cashouts), sum(sent), min(first_at), max(last_at), true from (select * from appended union all select * from sums) a group by 1, 2)
    select 1 from appended`;
  return rows.length;
}

/** A destination as a gateway's book knows it, when it was ever paid to or entered; by the unique index, and locks nothing. */
export async function findBookAddress(
  sql: Reads,
  { gatewayId, networkId, address }: Pick<AddressBookEntry, 'gatewayId' | 'networkId' | 'address'>,
): Promise<{ label: string; lastUsedAt: Date | null } | null> {
  const [row] = await sql<{ label: string; lastUsedAt: Date | null }[]>`
    select coalesce(b.name, b.label) as label, (select max(last_at) from address_uses u where u.address_id = b.id) as last_used_at from address_book b
    where b.gateway_id = ${gatewayId} and b.network_id = ${networkId} and b.address = ${address}`;
  return row ?? null;
}

/** How many of the newest entries are looked through for one that is like another. */
const LIKE_LOOKED_THROUGH = 2_000;
const LIKE_CHARACTERS = 4;

/** Another entry of the book that begins and ends with the same characters; looks through the newest ones alone, and locks nothing. */
export async function findLikeAddress(
  sql: Reads,
  { gatewayId, networkId, address }: Pick<AddressBookEntry, 'gatewayId' | 'networkId' | 'address'>,
): Promise<{ label: string; address: string } | null> {
  // What every address of the chain begins with says nothing.
  const begins = (/^(0x|(bc|tb|bcrt)1[qp]|.)/.exec(address)?.[0].length ?? 0) + LIKE_CHARACTERS;
  const [row] = await sql<{ label: string; address: string }[]>`
    select coalesce(b.name, b.label) as label, b.address from (
      select * from address_book where gateway_id = ${gatewayId} and hidden_at is null order by created_at desc, id desc limit ${LIKE_LOOKED_THROUGH}) b
    where b.network_id = ${networkId} and b.address <> ${address} and left(lower(b.address), ${begins}) = left(lower(${address}), ${begins})
      and right(lower(b.address), ${LIKE_CHARACTERS}) = right(lower(${address}), ${LIKE_CHARACTERS}) limit 1`;
  return row ?? null;
}
