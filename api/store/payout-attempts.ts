import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Signed bytes, stored before anything is broadcast. */
export interface StoredAttempt {
  id: string;
  payoutId: string;
  number: number;
  txid: string;
  signedBytes: Uint8Array;
  /** The most they can cost, native units. */
  rawFeeLimit: bigint;
}

type Row = Omit<StoredAttempt, 'rawFeeLimit'> & { rawFeeLimit: string };

/** Stores the exact bytes of the next attempt of a family; the caller holds the payout's lock. Returns its number. */
export async function insertAttempt(tx: Tx, attempt: Omit<StoredAttempt, 'number'>): Promise<number> {
  const [row] = await tx<{ number: number }[]>`
    insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit)
    values (${attempt.id}, ${attempt.payoutId}, (select count(*) + 1 from payout_attempts where payout_id = ${attempt.payoutId}), ${attempt.txid},
      ${Buffer.from(attempt.signedBytes)}, ${attempt.rawFeeLimit.toString()}::text::numeric)
    returning number`;
  return (row as { number: number }).number;
}

/** Reads one attempt; locks nothing. */
export async function findAttempt(sql: Reads, id: string): Promise<StoredAttempt | undefined> {
  const [row] = await sql<Row[]>`
    select id, payout_id as "payoutId", number, txid, signed_bytes as "signedBytes", fee_limit as "rawFeeLimit" from payout_attempts where id = ${id}`;
  return row && { ...row, rawFeeLimit: BigInt(row.rawFeeLimit) };
}

/** The newest attempt of a family; locks nothing. */
export async function findLatestAttempt(sql: Reads, payoutId: string): Promise<StoredAttempt | undefined> {
  const [row] = await sql<Row[]>`
    select id, payout_id as "payoutId", number, txid, signed_bytes as "signedBytes", fee_limit as "rawFeeLimit"
    from payout_attempts where payout_id = ${payoutId} order by number desc limit 1`;
  return row && { ...row, rawFeeLimit: BigInt(row.rawFeeLimit) };
}
