import type { Reads } from '#shared/platform/postgres.ts';

/** A table and the columns that are written, not computed. */
export interface Table {
  name: string;
  columns: string[];
}

/**
 * Every table of the schema but the record of migrations, each after those that its rows refer to.
 * @throws Error when two refer to each other
 */
export async function listTables(sql: Reads): Promise<Table[]> {
  const tables = await sql<Table[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'schema_migrations'
    group by c.relname order by c.relname`;
  const references = await sql<{ child: string; parent: string }[]>`
    select distinct k.conrelid::regclass::text as child, k.confrelid::regclass::text as parent from pg_constraint k
    where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and k.conrelid <> k.confrelid`;
  const sorted: Table[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name));
    const ready = left.filter(({ name }) => !references.some(({ child, parent }) => child === name && waiting.has(parent)));
    if (ready.length === 0) throw new Error(`tables refer to each other: ${[...waiting].join(', ')}`);
    sorted.push(...ready);
    left = left.filter((one) => !ready.includes(one));
  }
  return sorted;
}

/** References of tables to themselves that are checked row by row. Locks nothing. */
export async function listSelfReferences(sql: Reads): Promise<{ table: string; name: string }[]> {
  return sql<{ table: string; name: string }[]>`
    select c.relname as table, k.conname as name from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and k.conrelid = k.confrelid and not k.condeferrable`;
}
