import type { Reads } from '#shared/platform/postgres.ts';
import { inOrder, type Place, placeOf, stretch, type Walk } from './operator-walks.ts';

/** What somebody looks for, in every form in which it may be written down here. What it cannot be is empty or null. */
export interface Sought {
  id: string | null;
  /** First 16 bytes of the SHA-256 of a reference, in hexadecimal digits. */
  digest: string | null;
  /** The text itself: an Idempotency-Key, a name, a word of the audit log. */
  text: string | null;
  txids: readonly string[];
  /** Canonical, and as the contract shows them. */
  addresses: readonly string[];
  shownAddresses: readonly string[];
}

/** Rows that one look for something finds at most; behind the last of them one goes on. */
export const FOUND = 200;

type Range = Pick<Walk, 'gatewayId' | 'from' | 'to' | 'oldest' | 'after'>;

/**
 * Finds payments by their id, a transaction that paid them, an address of theirs, or a value stored with them, of whichever gateway. Reads the keys of
 * payments and payment_references, the hash of deposits and sandbox_deposits, and the address of deposit_addresses; locks nothing.
 */
export async function seekPayments(sql: Reads, sought: Sought, range: Range): Promise<Place[]> {
  const { id, digest, txids, addresses } = sought;
  const tail = sql`
    ${range.gatewayId === null ? sql`` : sql`and p.gateway_id = ${range.gatewayId}`} ${stretch(sql, range, sql`p.created_at`, sql`p.id`)}
    ${inOrder(sql, range, sql`p.created_at`, sql`p.id`)} limit ${FOUND}`;
  const none = sql`select null::uuid as id, null::timestamptz as at where false`;
  return sql<Place[]>`
    select f.id, ${placeOf(sql, sql`f.at`)} as at from (
      ${
        digest === null
          ? none
          : sql`
      select r.payment_id as id, r.created_at as at from gateways g cross join lateral (
        select r.payment_id, r.created_at from payment_references r
        where r.gateway_id = g.id and r.digest = ${digest}::text::uuid ${stretch(sql, range, sql`r.created_at`, sql`r.payment_id`)}
        ${inOrder(sql, range, sql`r.created_at`, sql`r.payment_id`)} limit ${FOUND}) r
      where ${range.gatewayId === null ? sql`true` : sql`g.id = ${range.gatewayId}`}`
      }
      ${id === null ? sql`` : sql`union (select p.id, p.created_at from payments p where p.id = ${id} ${tail})`}
      ${
        txids.length === 0
          ? sql``
          : sql`
      union (select p.id, p.created_at from deposits d join payments p on p.id = d.payment_id where d.network_id in (select n.id from networks n) and d.txid = any(${txids}) ${tail})
      union (select p.id, p.created_at from sandbox_deposits d join payments p on p.id = d.payment_id where d.txid = any(${txids}) ${tail})`
      }
      ${
        addresses.length === 0
          ? sql``
          : sql`union (select p.id, p.created_at from deposit_addresses a join payments p on p.id = a.payment_id where a.address = any(${addresses}) ${tail})`
      }) f
    ${inOrder(sql, range, sql`f.at`, sql`f.id`)} limit ${FOUND}`;
}

/**
 * Finds cashouts by their id, a transaction that was signed for them or paid them, their destination, or the Idempotency-Key they were asked for with. Reads
 * the keys of settlements, payout_attempts and idempotency_keys, settlements_txid and settlements_address; locks nothing.
 */
export async function seekSettlements(sql: Reads, { id, text, txids, shownAddresses }: Sought, range: Range): Promise<Place[]> {
  const tail = sql`
    ${range.gatewayId === null ? sql`` : sql`and s.gateway_id = ${range.gatewayId}`} ${stretch(sql, range, sql`s.created_at`, sql`s.id`)}
    ${inOrder(sql, range, sql`s.created_at`, sql`s.id`)} limit ${FOUND}`;
  return sql<Place[]>`
    select f.id, ${placeOf(sql, sql`f.at`)} as at from (
      ${
        text === null
          ? sql`select null::uuid as id, null::timestamptz as at where false`
          : sql`
      (select s.id, s.created_at as at from gateways g
        join idempotency_keys k on k.gateway_id = g.id and k.operation = 'createSettlement' and k.key = ${text} join settlements s on s.id = k.resource_id
        where true ${tail})`
      }
      ${id === null ? sql`` : sql`union (select s.id, s.created_at from settlements s where s.id = ${id} ${tail})`}
      ${
        txids.length === 0
          ? sql``
          : sql`
      union (select s.id, s.created_at from settlements s where s.txid = any(${txids}) ${tail})
      union (select s.id, s.created_at from payout_attempts a join payouts o on o.id = a.payout_id join settlements s on s.id = o.settlement_id
        where a.txid = any(${txids}) ${tail})`
      }
      ${shownAddresses.length === 0 ? sql`` : sql`union (select s.id, s.created_at from settlements s where s.address = any(${shownAddresses}) ${tail})`}) f
    ${inOrder(sql, range, sql`f.at`, sql`f.id`)} limit ${FOUND}`;
}

/**
 * Finds deposits by their id, their transaction, who sent them or where they arrived, or by what their payment is known by. `payments` are those. Reads the
 * keys of deposits and deposit_addresses, deposits_payment, deposits_address and deposits_sender; locks nothing.
 */
export async function seekDeposits(sql: Reads, { id, txids, addresses }: Sought, payments: readonly string[], range: Range): Promise<Place[]> {
  const tail = sql`
    ${stretch(sql, range, sql`d.first_seen_at`, sql`d.id`)} ${inOrder(sql, range, sql`d.first_seen_at`, sql`d.id`)} limit ${FOUND}`;
  return sql<Place[]>`
    select f.id, ${placeOf(sql, sql`f.at`)} as at from (
      (select d.id, d.first_seen_at as at from deposits d where d.payment_id = any(${payments}::uuid[]) ${tail})
      ${id === null ? sql`` : sql`union (select d.id, d.first_seen_at from deposits d where d.id = ${id} ${tail})`}
      ${
        txids.length === 0
          ? sql``
          : sql`
      union (select d.id, d.first_seen_at from deposits d where d.network_id in (select n.id from networks n) and d.txid = any(${txids}) ${tail})`
      }
      ${
        addresses.length === 0
          ? sql``
          : sql`
      union (select d.id, d.first_seen_at from deposit_addresses a join deposits d on d.address_id = a.id where a.address = any(${addresses}) ${tail})
      union (select d.id, d.first_seen_at from unnest(${addresses}::text[]) a (address) cross join lateral (
        select d.id, d.first_seen_at from deposits d where d.sender = a.address ${tail}) d)`
      }) f
    ${inOrder(sql, range, sql`f.at`, sql`f.id`)} limit ${FOUND}`;
}

/** Finds webhooks by their id, or those of payments. Reads the key of webhook_events, and its payment and status; locks nothing. */
export async function seekWebhooks(sql: Reads, { id }: Pick<Sought, 'id'>, payments: readonly string[], range: Range): Promise<Place[]> {
  const tail = sql`
    ${range.gatewayId === null ? sql`` : sql`and w.gateway_id = ${range.gatewayId}`} ${stretch(sql, range, sql`w.created_at`, sql`w.id`)}
    ${inOrder(sql, range, sql`w.created_at`, sql`w.id`)} limit ${FOUND}`;
  return sql<Place[]>`
    select f.id, ${placeOf(sql, sql`f.at`)} as at from (
      (select w.id, w.created_at as at from webhook_events w where w.payment_id = any(${payments}::uuid[]) ${tail})
      ${id === null ? sql`` : sql`union (select w.id, w.created_at from webhook_events w where w.id = ${id} ${tail})`}) f
    ${inOrder(sql, range, sql`f.at`, sql`f.id`)} limit ${FOUND}`;
}

/** Finds gateways by their id, the public half of a key of theirs, or how their name begins, in whatever case. Reads the keys of gateways and api_keys, and gateways_name; locks nothing. */
export async function seekGateways(sql: Reads, { id, text }: Pick<Sought, 'id' | 'text'>, range: Range): Promise<Place[]> {
  const tail = sql`${stretch(sql, range, sql`g.created_at`, sql`g.id`)} ${inOrder(sql, range, sql`g.created_at`, sql`g.id`)} limit ${FOUND}`;
  return sql<Place[]>`
    select f.id, ${placeOf(sql, sql`f.at`)} as at from (
      (select g.id, g.created_at as at from gateways g where lower(g.name) ~>=~ lower(${text}) and lower(g.name) ~<~ (lower(${text}) || chr(1114111)) ${tail})
      union (select g.id, g.created_at from api_keys k join gateways g on g.id = k.gateway_id where k.id = ${text} ${tail})
      ${id === null ? sql`` : sql`union (select g.id, g.created_at from gateways g where g.id = ${id} ${tail})`}) f
    ${inOrder(sql, range, sql`f.at`, sql`f.id`)} limit ${FOUND}`;
}
