import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { StoredExport } from './exports.ts';

/** Columns that a person chose last for exports of a gateway, of the kinds of which they chose fewer than all; by the key. Locks nothing. */
export async function listExportColumns(sql: Reads, personId: string, gatewayId: string): Promise<Pick<StoredExport, 'kind' | 'columns'>[]> {
  return sql<Pick<StoredExport, 'kind' | 'columns'>[]>`select kind, columns from export_columns where person_id = ${personId} and gateway_id = ${gatewayId}`;
}

/** Keeps which columns a person chose for exports of this kind; null forgets it. Locks that row. */
export async function keepExportColumns(
  tx: Tx,
  { personId, gatewayId, kind, columns }: { personId: string; gatewayId: string; kind: StoredExport['kind']; columns: readonly string[] | null },
): Promise<void> {
  if (columns === null) await tx`delete from export_columns where person_id = ${personId} and gateway_id = ${gatewayId} and kind = ${kind}`;
  else
    await tx`
      insert into export_columns (person_id, gateway_id, kind, columns) values (${personId}, ${gatewayId}, ${kind}, ${columns})
      on conflict (person_id, gateway_id, kind) do update set columns = excluded.columns`;
}
