import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** First half of the advisory lock key; the second is a hash of the gateway's id. */
const LOCK_CLASS = 7_582_031;

/** A file that was asked for. */
export interface StoredExport {
  id: string;
  gatewayId: string;
  kind: 'payments' | 'settlements' | 'ledger' | 'credits' | 'audit';
  format: 'csv' | 'jsonl';
  columns: string[];
  filter: Record<string, string>;
  fromAt: Date | null;
  until: Date;
  keyId: string | null;
  personId: string | null;
  askedAt: Date;
  state: 'making' | 'ready' | 'failed';
  problem: 'too_large' | 'internal' | null;
  place: string | null;
  rowCount: number;
  byteCount: number;
  failures: number;
  endedAt: Date | null;
}

function columns(sql: Reads) {
  return sql`id, gateway_id, kind, format, columns, filter, from_at, until, key_id, person_id, asked_at, state, problem, place, row_count::float8 as "rowCount",
    byte_count::float8 as "byteCount", failures, ended_at`;
}

/** Keeps everybody else from asking for an export of this gateway until commit. */
export async function lockExports(tx: Tx, gatewayId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${gatewayId}))`;
}

/** Counts a gateway's exports that are being made, all that are kept, and the bytes of their files; the caller holds the lock of `lockExports`. */
export async function countExports(tx: Tx, gatewayId: string): Promise<{ making: number; kept: number; bytes: number }> {
  const [row] = await tx<[{ making: number; kept: number; bytes: number }]>`
    select count(*) filter (where state = 'making')::int as making, count(*)::int as kept,
      coalesce(sum(byte_count) filter (where state <> 'failed'), 0)::float8 as bytes from exports where gateway_id = ${gatewayId}`;
  return row;
}

/** Adds one; what it is asked for ends now at the latest. Locks nothing else. */
export async function insertExport(
  tx: Tx,
  one: Pick<StoredExport, 'id' | 'gatewayId' | 'kind' | 'format' | 'columns' | 'filter' | 'fromAt' | 'keyId' | 'personId'> & { until: Date | null },
): Promise<StoredExport> {
  const [row] = await tx<[StoredExport]>`
    insert into exports (id, gateway_id, kind, format, columns, filter, from_at, until, key_id, person_id)
    values (${one.id}, ${one.gatewayId}, ${one.kind}, ${one.format}, ${one.columns}, ${tx.json(one.filter)}, ${one.fromAt}, least(${one.until}::timestamptz, sluice_now()),
      ${one.keyId}, ${one.personId})
    returning ${columns(tx)}`;
  return row;
}

/** One export of a gateway; locks nothing. */
export async function findExport(sql: Reads, gatewayId: string, id: string): Promise<StoredExport | undefined> {
  const [row] = await sql<StoredExport[]>`select ${columns(sql)} from exports where id = ${id} and gateway_id = ${gatewayId}`;
  return row;
}

/** A gateway's exports, newest first, one more than `limit`, behind the one called `after`; undefined when it has no such export. Reads exports_newest; locks nothing. */
export async function listExportsAfter(
  sql: Reads,
  { gatewayId, limit, after, audit }: { gatewayId: string; limit: number; after: string | null; audit: boolean },
): Promise<StoredExport[] | undefined> {
  if (after !== null && (await findExport(sql, gatewayId, after)) === undefined) return undefined;
  const behind = after === null ? sql`` : sql`and (asked_at, id) < (select asked_at, id from exports where id = ${after})`;
  return sql<
    StoredExport[]
  >`select ${columns(sql)} from exports where gateway_id = ${gatewayId} ${audit ? sql`` : sql`and kind <> 'audit'`} ${behind} order by asked_at desc, id desc limit ${limit + 1}`;
}

/** Whether any export waits for a part, whoever makes one now; reads exports_making and locks nothing. */
export function isExportMaking(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from exports where state = 'making')`;
}

/** The export that waited longest for its next part; locks its row until commit, and waits for none. */
export async function lockNextExport(tx: Tx): Promise<StoredExport | undefined> {
  const [row] = await tx<StoredExport[]>`
    select ${columns(tx)} from exports where state = 'making' order by worked_at nulls first, id limit 1 for update skip locked`;
  return row;
}

/** Adds a part that begins where the file ends. The caller holds the export's row. */
export async function insertExportPart(tx: Tx, { exportId, startsAt, body }: { exportId: string; startsAt: number; body: Uint8Array }): Promise<void> {
  await tx`insert into export_parts (export_id, starts_at, body) values (${exportId}, ${startsAt}, ${Buffer.from(body)})`;
}

/** Moves an export on by a part. The caller holds its row. */
export async function moveExport(tx: Tx, one: Pick<StoredExport, 'id' | 'state' | 'problem' | 'place' | 'rowCount' | 'byteCount'>): Promise<void> {
  await tx`
    update exports set state = ${one.state}, problem = ${one.problem}, place = ${one.place}, row_count = ${one.rowCount}, byte_count = ${one.byteCount}, failures = 0,
      worked_at = clock_timestamp(), ended_at = case when ${one.state} <> 'making' then sluice_now() end
    where id = ${one.id}`;
}

/** Puts an export behind all others that wait for a part. Locks its row for the statement. */
export async function postponeExport(sql: Reads, id: string): Promise<void> {
  await sql`update exports set worked_at = clock_timestamp() where id = ${id} and state = 'making'`;
}

/** Notes that a part could not be made; after so many in a row the export is given up. Locks its row for the statement. */
export async function failExport(sql: Reads, id: string, limit: number): Promise<void> {
  await sql`
    update exports set failures = failures + 1, worked_at = clock_timestamp(), state = case when failures + 1 >= ${limit} then 'failed' else state end,
      problem = case when failures + 1 >= ${limit} then 'internal' end, ended_at = case when failures + 1 >= ${limit} then sluice_now() end
    where id = ${id} and state = 'making'`;
}

/** The part of a file that holds the byte `at`; locks nothing. */
export async function findExportPart(sql: Reads, exportId: string, at: number): Promise<{ startsAt: number; body: Uint8Array } | undefined> {
  const [row] = await sql<{ startsAt: number; body: Uint8Array }[]>`
    select starts_at::float8 as "startsAt", body from export_parts where export_id = ${exportId} and starts_at <= ${at} order by starts_at desc limit 1`;
  return row;
}

/** Deletes exports that were asked for longer ago than `days`, with their files, and the files of those that were given up; returns how many exports that were. */
export async function deleteOldExports(tx: Tx, { days, limit }: { days: number; limit: number }): Promise<number> {
  const old = await tx<{ id: string }[]>`
    select id from exports where asked_at < sluice_now() - make_interval(days => ${days}) order by asked_at limit ${limit} for update skip locked`;
  const ids = old.map(({ id }) => id);
  await tx`delete from export_parts where export_id = any(${ids}::uuid[])`;
  await tx`delete from exports where id = any(${ids}::uuid[])`;
  await tx`delete from export_parts where export_id in (select id from exports where state = 'failed')`;
  return ids.length;
}
