import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { StoredExport } from './exports.ts';

/** A file that a person wants of each month. */
export type MonthlyExport = Pick<StoredExport, 'kind' | 'format' | 'columns'>;

/** What a person wants of a gateway each month; by the key. Locks nothing. */
export async function listMonthlyExports(sql: Reads, personId: string, gatewayId: string): Promise<MonthlyExport[]> {
  return sql<MonthlyExport[]>`select kind, format, columns from monthly_exports where person_id = ${personId} and gateway_id = ${gatewayId} order by kind`;
}

/** Replaces what a person wants of a gateway each month; what stays wanted stays since when it was. Locks those rows. */
export async function replaceMonthlyExports(tx: Tx, personId: string, gatewayId: string, wanted: readonly MonthlyExport[]): Promise<void> {
  const kinds = wanted.map(({ kind }) => kind);
  await tx`delete from monthly_exports where person_id = ${personId} and gateway_id = ${gatewayId} and kind <> all(${kinds})`;
  for (const { kind, format, columns } of wanted)
    await tx`
      insert into monthly_exports (person_id, gateway_id, kind, format, columns) values (${personId}, ${gatewayId}, ${kind}, ${format}, ${columns})
      on conflict (person_id, gateway_id, kind) do update set format = excluded.format, columns = excluded.columns`;
}

/** The last month that is over, in UTC: its first moment and the one after its last. */
export interface MonthOver {
  from: Date;
  until: Date;
}

/** The last month that is over, of service time; undefined while nobody wants anything of any month. Locks nothing. */
export async function findMonthWanted(sql: Reads): Promise<MonthOver | undefined> {
  const [row] = await sql<MonthOver[]>`
    select (m.until - interval '1 month') at time zone 'UTC' as from, m.until at time zone 'UTC' as until
    from (select date_trunc('month', sluice_now() at time zone 'UTC') as until) m where exists (select 1 from monthly_exports)`;
  return row;
}

/** Whether anybody wants files of months; a condition. */
export function isAnyMonthWanted(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from monthly_exports)`;
}

/** What the role of whoever wants a file must allow. */
function stillMay(sql: Reads) {
  return sql`exists (
    select 1 from memberships x join roles r on r.name = x.role
    where x.person_id = m.person_id and x.gateway_id = m.gateway_id and x.ended_at is null and 'report:export' = any(r.permissions)
      and (m.kind <> 'audit' or 'team:manage' = any(r.permissions)))`;
}

/** What is wanted of a month that was not asked for yet. */
function isDue(sql: Reads, { from, until }: MonthOver) {
  return sql`m.since < ${until} and ${stillMay(sql)} and not exists (
    select 1 from monthly_export_files f
    where f.person_id = m.person_id and f.gateway_id = m.gateway_id and f.kind = m.kind and f.month = (${from} at time zone 'UTC')::date)`;
}

/** Ends what the roles of people do not allow any more, and forgets which files were asked for of months before this one. Locks what it deletes. */
export async function endMonthlyExports(tx: Tx, { from }: MonthOver): Promise<void> {
  await tx`delete from monthly_exports m where not ${stillMay(tx)}`;
  await tx`delete from monthly_export_files where month < (${from} at time zone 'UTC')::date`;
}

/** Gateways that are open, wait for a file of this month, and may have one made now: nothing else of theirs is being made. Locks nothing. */
export async function listGatewaysDue(sql: Reads, month: MonthOver, { kept, bytes, limit }: { kept: number; bytes: number; limit: number }): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select g.id from gateways g where g.status = 'VERIFIED' and exists (select 1 from monthly_exports m where m.gateway_id = g.id and ${isDue(sql, month)})
      and not exists (select 1 from exports e where e.gateway_id = g.id and e.state = 'making')
      and (select count(*) < ${kept} and coalesce(sum(e.byte_count) filter (where e.state <> 'failed'), 0) < ${bytes} from exports e where e.gateway_id = g.id)
    order by g.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** The next file of a gateway that is due, with everybody who wants exactly this one. The caller holds the lock of `lockExports`. */
export async function findNextDue(tx: Tx, gatewayId: string, month: MonthOver): Promise<(MonthlyExport & { people: string[] }) | undefined> {
  const [row] = await tx<(MonthlyExport & { people: string[] })[]>`
    select m.kind, m.format, m.columns, array_agg(m.person_id order by m.since, m.person_id) as people from monthly_exports m
    where m.gateway_id = ${gatewayId} and ${isDue(tx, month)} group by m.kind, m.format, m.columns order by min(m.since), m.kind, m.format, m.columns limit 1`;
  return row;
}

/** Notes which export is whose of this month: who has one of the kind already gets no second. */
export async function insertMonthlyFiles(
  tx: Tx,
  { people, gatewayId, kind, month, exportId }: { people: readonly string[]; gatewayId: string; kind: string; month: MonthOver; exportId: string },
): Promise<void> {
  await tx`
    insert into monthly_export_files (person_id, gateway_id, kind, month, export_id)
    select person_id, ${gatewayId}, ${kind}, (${month.from} at time zone 'UTC')::date, ${exportId} from unnest(${[...people]}::uuid[]) as person_id`;
}
