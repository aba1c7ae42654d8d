import { databaseTime } from '#shared/platform/database-clock.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { type Signable, signable } from './payouts.ts';

/** The end of the signer's journal as Postgres knows it. */
export interface KnownHead {
  id: string;
  seq: number;
  /** 64 hex digits. */
  hash: string;
}

/** Reads how far the journal went; undefined when none was ever begun. Locks nothing. */
export async function readHead(sql: Reads): Promise<KnownHead | undefined> {
  const [row] = await sql<KnownHead[]>`select journal_id as id, seq, hash from signer_journal`;
  return row;
}

/** The same with what waits for the signer on some networks, and the wall time of the database, Unix milliseconds, in one statement. Locks nothing. */
export async function readHeadAndSignable(
  sql: Reads,
  networkIds: readonly string[],
): Promise<{ head: KnownHead | undefined; waiting: Signable[]; atMs: number }> {
  const [row] = await sql<[{ head: KnownHead | null; waiting: Signable[]; atMs: number }]>`
    select (select json_build_object('id', journal_id, 'seq', seq, 'hash', hash) from signer_journal) as head,
      (select coalesce(json_agg(w), '[]') from (${signable(sql, networkIds)}) w) as waiting, ${databaseTime(sql)} as "atMs"`;
  return { ...row, head: row.head ?? undefined };
}

/** The head, locked until commit: after settlement, wallet and payout. */
export async function lockHead(tx: Tx): Promise<KnownHead | undefined> {
  const [row] = await tx<KnownHead[]>`select journal_id as id, seq, hash from signer_journal for update`;
  return row;
}

/** Moves the end of the journal from where it was read under lock. False when somebody else made the row meanwhile. */
export async function moveHead(tx: Tx, from: KnownHead | undefined, { id, seq, hash }: KnownHead): Promise<boolean> {
  const rows =
    from === undefined
      ? await tx`insert into signer_journal (journal_id, seq, hash) values (${id}, ${seq}, ${hash}) on conflict do nothing returning 1`
      : await tx`
          update signer_journal set journal_id = ${id}, seq = ${seq}, hash = ${hash}, moved_at = sluice_now()
          where journal_id = ${from.id} and seq = ${from.seq} and hash = ${from.hash} returning 1`;
  return rows.length === 1;
}

/** What the signer says of its journal. */
export interface SignerReport {
  state: string;
  reason: string;
  unknown: number;
  reportedAt: Date;
}

/** A signer says something every minute; one that said nothing for longer than this is not running. */
export const REPORT_FRESH_MS = 120_000;

/** Notes what the signer says; locks its row. A standby, whose journal is locked, does not speak over one that said something in the last two minutes. */
export async function writeReport(sql: Reads, { state, reason, unknown }: Omit<SignerReport, 'reportedAt'>): Promise<void> {
  await sql`
    insert into signer_reports (state, reason, unknown) values (${state}, ${reason}, ${unknown})
    on conflict (one) do update set state = excluded.state, reason = excluded.reason, unknown = excluded.unknown, reported_at = sluice_now()
    where excluded.state <> 'locked' or signer_reports.state = 'locked' or signer_reports.reported_at < sluice_now() - interval '2 minutes'`;
}

/** Reads what it said last; undefined while it never did. Locks nothing. */
export async function readReport(sql: Reads): Promise<SignerReport | undefined> {
  const [row] = await sql<SignerReport[]>`select state, reason, unknown, reported_at from signer_reports`;
  return row;
}

/** Of these transaction ids those that signed bytes are stored of. Locks nothing. */
export async function findStoredTxids(sql: Reads, txids: readonly string[]): Promise<Set<string>> {
  if (txids.length === 0) return new Set();
  const rows = await sql<{ txid: string }[]>`select txid from payout_attempts where txid = any(${[...txids]}::text[])`;
  return new Set(rows.map(({ txid }) => txid));
}

/** Signed bytes with what they were made for, as a journal is built from. */
export interface BookedAttempt {
  id: string;
  payoutId: string;
  txid: string;
  kind: 'transfer' | 'close';
  signedBytes: Uint8Array;
  rawFeeLimit: bigint;
  createdAt: Date;
}

/** The next signed bytes after `after` in the order of their ids, at most `limit`; null begins. Locks nothing. */
export async function pageAttempts(sql: Reads, after: string | null, limit: number): Promise<BookedAttempt[]> {
  const rows = await sql<(Omit<BookedAttempt, 'rawFeeLimit'> & { rawFeeLimit: string })[]>`
    select id, payout_id, txid, kind, signed_bytes, fee_limit as "rawFeeLimit", created_at
    from payout_attempts where ${after === null ? sql`true` : sql`id > ${after}`} order by id limit ${limit}`;
  return rows.map((row) => ({ ...row, rawFeeLimit: BigInt(row.rawFeeLimit) }));
}

/** Ids of the next signed bytes after `after`, at most `limit`, without the bytes; null begins. Locks nothing. */
export async function pageTxids(sql: Reads, after: string | null, limit: number): Promise<{ id: string; txid: string }[]> {
  return sql<{ id: string; txid: string }[]>`
    select id, txid from payout_attempts where ${after === null ? sql`true` : sql`id > ${after}`} order by id limit ${limit}`;
}

/** Whether anything was ever signed. Locks nothing. */
export async function hasAttempts(sql: Reads): Promise<boolean> {
  return (await sql`select 1 from payout_attempts limit 1`).length > 0;
}
