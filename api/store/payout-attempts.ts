import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** `transfer` does what its payout is for; `close` uses the nonce up by sending nothing to ourselves. */
export type AttemptKind = 'transfer' | 'close';

/** Signed bytes, stored before anything is broadcast. */
export interface StoredAttempt {
  id: string;
  payoutId: string;
  number: number;
  kind: AttemptKind;
  txid: string;
  signedBytes: Uint8Array;
  /** The most they can cost, native units. */
  rawFeeLimit: bigint;
  /** Chain time from which no block takes them any more; null where bytes never expire. */
  expiresAt: Date | null;
  /** Height our scan had reached when they were signed; null when nothing was scanned yet. */
  tipHeight: number | null;
  /** Service time of signing. */
  createdAt: Date;
}

type Row = Omit<StoredAttempt, 'rawFeeLimit'> & { rawFeeLimit: string };

/** Stores the exact bytes of the next attempt of a payout; the caller holds the payout's lock. Returns its number. */
export async function insertAttempt(tx: Tx, attempt: Omit<StoredAttempt, 'number' | 'createdAt'>): Promise<number> {
  const [row] = await tx<{ number: number }[]>`
    insert into payout_attempts (id, payout_id, number, kind, txid, signed_bytes, fee_limit, expires_at, tip_height)
    values (${attempt.id}, ${attempt.payoutId}, (select count(*) + 1 from payout_attempts where payout_id = ${attempt.payoutId}), ${attempt.kind},
      ${attempt.txid}, ${Buffer.from(attempt.signedBytes)}, ${attempt.rawFeeLimit.toString()}::text::numeric, ${attempt.expiresAt}, ${attempt.tipHeight})
    returning number`;
  return (row as { number: number }).number;
}

/** Reads one attempt; locks nothing. */
export async function findAttempt(sql: Reads, id: string): Promise<StoredAttempt | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from payout_attempts where id = ${id}`;
  return row && fromRow(row);
}

/** Name of the network that an attempt is for; locks nothing. */
export async function networkOfAttempt(sql: Reads, id: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select n.name from payout_attempts t join payouts p on p.id = t.payout_id join wallets w on w.id = p.wallet_id join networks n on n.id = w.network_id
    where t.id = ${id}`;
  return row?.name;
}

/** Reads the attempt a transaction id belongs to; locks nothing. */
export async function findAttemptByTxid(sql: Reads, txid: string): Promise<StoredAttempt | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from payout_attempts where txid = ${txid}`;
  return row && fromRow(row);
}

/** Every attempt of a payout, the newest first; locks nothing. */
export async function listAttempts(sql: Reads, payoutId: string): Promise<StoredAttempt[]> {
  const rows = await sql<Row[]>`select ${columns(sql)} from payout_attempts where payout_id = ${payoutId} order by number desc`;
  return rows.map(fromRow);
}

/**
 * Of a payout's attempts those that could still be, or already are, in a block: all but the ones that expired before a final
 * block our scan went through, with their sender watched all the time, and that no canonical block holds (reliability D14).
 * Our own clock must have passed their end as well: a block's time is its producer's word, and may run ahead. Answers their
 * transaction ids. Locks nothing; once a final block proves one dead, only a reorganisation of it could raise it.
 */
export async function listUndead(sql: Reads, payoutId: string): Promise<string[]> {
  const rows = await sql<{ txid: string }[]>`
    select t.txid from payout_attempts t join payouts p on p.id = t.payout_id join wallets w on w.id = p.wallet_id
    where t.payout_id = ${payoutId} and (
      t.expires_at is null
      or t.expires_at > sluice_now()
      or t.expires_at > coalesce((
        select max(b.block_time) from chain_blocks b join chain_tips c on c.network_id = b.network_id
        where b.network_id = p.network_id and b.canonical and b.height <= c.final_height), '-infinity')
      or not exists (
        select 1 from watches x where x.network_id = p.network_id and x.address = w.address and x.acked_epoch is not null
          and x.watched_from <= coalesce(t.tip_height, -1) + 1)
      or exists (select 1 from sightings g where g.network_id = p.network_id and g.txid = t.txid and g.canonical))
    order by t.number`;
  return rows.map((row) => row.txid);
}

function columns(sql: Reads) {
  return sql`id, payout_id, number, kind, txid, signed_bytes, fee_limit as "rawFeeLimit", expires_at,
    tip_height, created_at`;
}

function fromRow(row: Row): StoredAttempt {
  return { ...row, rawFeeLimit: BigInt(row.rawFeeLimit) };
}

/** Payouts of these networks that are planned or signed and in no block, at wallets that work, by wallet in order of their nonces. Locks nothing. */
export async function listTendable(sql: Reads, networkIds: readonly string[]): Promise<{ id: string; networkId: string }[]> {
  return tendable(sql, networkIds);
}

/** Whether there are any; a condition. */
export function isAnyTendable(sql: Reads, networkIds: readonly string[]): ReturnType<Reads> {
  return sql`exists (${tendable(sql, networkIds)})`;
}

function tendable(sql: Reads, networkIds: readonly string[]) {
  return sql<{ id: string; networkId: string }[]>`
    select p.id, p.network_id from payouts p join wallets w on w.id = p.wallet_id
    where p.network_id = any(${[...networkIds]}::uuid[]) and p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING') and p.plan ? 'rawFee'
      and w.halted_reason is null
    order by p.wallet_id, p.nonce, p.created_at, p.id`;
}

/** What our own rows say about a payout in no block, for the decision what it needs. */
export interface PayoutAge {
  /** Service time. */
  now: Date;
  /** Service time of its last quote; of its planning where no quote is noted. */
  quotedAt: Date;
  /** Service time at which a reorganisation last took it out of a block; null when none did. */
  orphanedAt: Date | null;
  /** True while a payout of its wallet with a lower nonce is in no block. */
  waitsForAnother: boolean;
  /** True while a payout of its wallet with a higher nonce is in no block. */
  holdsUpOthers: boolean;
  /** Height and time of the last block our scan went through; null before the first. */
  tipHeight: number | null;
  tipTime: Date | null;
}

/** Reads them; locks nothing. */
export async function readPayoutAge(sql: Reads, payoutId: string): Promise<PayoutAge | undefined> {
  const [row] = await sql<PayoutAge[]>`
    select sluice_now() as now, coalesce((p.plan->>'quotedAt')::timestamptz, p.created_at) as "quotedAt", c.height as "tipHeight", c.block_time as "tipTime",
      (select max(e.at) from payout_events e where e.payout_id = p.id and e.event = 'ORPHANED') as "orphanedAt",
      exists (select 1 from payouts o where o.wallet_id = p.wallet_id and o.nonce < p.nonce and o.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING'))
        as "waitsForAnother",
      exists (select 1 from payouts o where o.wallet_id = p.wallet_id and o.nonce > p.nonce and o.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING'))
        as "holdsUpOthers"
    from payouts p left join chain_tips c on c.network_id = p.network_id where p.id = ${payoutId}`;
  return row;
}

/**
 * Attempts that should be with the network and that no job is going to send: of payouts in no block for longer than
 * `seconds`, the newest first, as older ones may be what a node still accepts. Of bytes that expire only the newest. Locks nothing.
 */
export async function listUnsent(sql: Reads, seconds: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select t.id from payouts p join payout_attempts t on t.payout_id = p.id
    where p.status not in ('CONFIRMED', 'FAILED', 'CANCELLED') and ${mayBeSent(sql)} and t.created_at < sluice_now() - make_interval(secs => ${seconds})
      and not exists (select 1 from outbox o where o.ref_id = t.id and o.topic = 'payout.broadcast' and o.state = 'due')
    order by t.created_at desc, t.number desc`;
  return rows.map((row) => row.id);
}

/** The attempts of one payout that may still be handed to the network, the newest first; locks nothing. */
export async function listLiveAttempts(sql: Reads, payoutId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select t.id from payouts p join payout_attempts t on t.payout_id = p.id where p.id = ${payoutId} and ${mayBeSent(sql)} order by t.number desc`;
  return rows.map((row) => row.id);
}

/** Bytes in no block that can still take effect: any of a nonce, but of those that expire only the newest, and not when it was proven dead. */
function mayBeSent(sql: Reads) {
  return sql`(case when t.expires_at is null then p.status in ('SIGNED', 'BROADCAST', 'REPLACING')
    else p.status in ('SIGNED', 'BROADCAST') and t.number = (select max(m.number) from payout_attempts m where m.payout_id = p.id) end)`;
}

/** A payout that took effect more than once: two of its attempts are in canonical blocks. */
export interface DoublePayout {
  id: string;
  walletId: string;
  txids: string[];
}

/**
 * Payouts of which the canonical chain holds two attempts, one of them not booked yet. Only possible when bytes that a final
 * block had proven dead were included after all: a reorganisation deeper than finality. Locks nothing.
 */
export function listDoublePayouts(sql: Reads, networkId: string) {
  return sql<DoublePayout[]>`
    select p.id, p.wallet_id, array_agg(distinct t.txid) as txids
    from payouts p join payout_attempts t on t.payout_id = p.id
      join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.kind = 'sent' and g.canonical
    where p.network_id = ${networkId} and p.id in (
      select s.payout_id from sightings u join payout_attempts s on s.txid = u.txid
      where u.network_id = ${networkId} and u.canonical and u.booked_at is null and u.kind = 'sent')
    group by p.id having count(distinct t.txid) > 1`;
}

/** Whether a canonical block that is final holds a transaction of ours; locks nothing. */
export async function isFinalOnChain(sql: Reads, networkId: string, txid: string): Promise<boolean> {
  const rows = await sql`
    select 1 from sightings g join chain_tips c on c.network_id = g.network_id and g.height <= c.final_height
    where g.network_id = ${networkId} and g.txid = ${txid} and g.kind = 'sent' and g.canonical limit 1`;
  return rows.length === 1;
}

/**
 * Whether any attempt of a payout moved coins of its asset from its wallet, or from outputs it took, to its recipient on the
 * canonical chain, whatever its rows say. Locks nothing.
 */
export async function hasPaid(sql: Reads, payoutId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from payouts p join payout_attempts t on t.payout_id = p.id join assets a on a.id = p.asset_id join wallets w on w.id = p.wallet_id
      join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.canonical and g.kind <> 'sent' and (g.sender = w.address or p.anchor is not null)
        and g.recipient = p.recipient and g.contract is not distinct from a.contract and g.raw_amount > 0
    where p.id = ${payoutId} limit 1`;
  return rows.length === 1;
}

/**
 * Whether any attempt of a payout took coins of any kind from its wallet on the canonical chain, to whomever; where coins are outputs, gave any
 * to another address than its wallet's. Locks nothing.
 */
export async function hasMoved(sql: Reads, payoutId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from payouts p join payout_attempts t on t.payout_id = p.id join wallets w on w.id = p.wallet_id
      join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.canonical and g.kind <> 'sent' and g.raw_amount > 0
        and case when p.anchor is null then g.sender = w.address else g.recipient <> w.address end
    where p.id = ${payoutId} limit 1`;
  return rows.length === 1;
}

/** Whether a canonical block holds a transaction of ours; locks nothing. */
export async function isOnChain(sql: Reads, networkId: string, txid: string): Promise<boolean> {
  const rows = await sql`select 1 from sightings where network_id = ${networkId} and txid = ${txid} and kind = 'sent' and canonical limit 1`;
  return rows.length === 1;
}
