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

/** Stores the exact bytes of the next attempt of a family; the caller holds the payout's lock. Returns its number. */
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

/** Reads the attempt a transaction id belongs to; locks nothing. */
export async function findAttemptByTxid(sql: Reads, txid: string): Promise<StoredAttempt | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from payout_attempts where txid = ${txid}`;
  return row && fromRow(row);
}

/** Every attempt of a family, the newest first; locks nothing. */
export async function listAttempts(sql: Reads, payoutId: string): Promise<StoredAttempt[]> {
  const rows = await sql<Row[]>`select ${columns(sql)} from payout_attempts where payout_id = ${payoutId} order by number desc`;
  return rows.map(fromRow);
}

/**
 * Of a family's attempts those that could still be, or already are, in a block: all but the ones that expired before a final
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
  return sql`id, payout_id as "payoutId", number, kind, txid, signed_bytes as "signedBytes", fee_limit as "rawFeeLimit", expires_at as "expiresAt",
    tip_height as "tipHeight", created_at as "createdAt"`;
}

function fromRow(row: Row): StoredAttempt {
  return { ...row, rawFeeLimit: BigInt(row.rawFeeLimit) };
}
