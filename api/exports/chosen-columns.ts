import type { Deps } from '#api/deps.ts';
import { keepExportColumns, listExportColumns } from '#api/store/export-columns.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { READS_AUDIT } from './exports.ts';
import { EXPORT_KINDS, type ExportKind, kindOf } from './kinds.ts';

/** Columns of a kind of export, each with whether it is chosen. */
export interface ColumnChoice {
  kind: ExportKind;
  columns: { name: string; on: boolean }[];
}

/** Every kind, in the order in which it is offered. */
export const OFFERED_KINDS = Object.keys(EXPORT_KINDS) as ExportKind[];

/** Kinds that somebody with these permissions exports. Pure. */
export function kindsFor(permissions: readonly string[]): ExportKind[] {
  return OFFERED_KINDS.filter((kind) => kind !== 'audit' || permissions.includes(READS_AUDIT));
}

/** The columns of a kind, with those that were chosen; all of them where nothing was. Pure. */
export function columnsOf(kind: ExportKind, chosen: readonly string[] | undefined): ColumnChoice['columns'] {
  return kindOf(kind).columns.map((name) => ({ name, on: chosen === undefined || chosen.includes(name) }));
}

/** What a person may ask for now, with the columns that they chose last for each. */
export async function readColumnChoices(
  { db }: Pick<Deps, 'db'>,
  { personId, gatewayId, permissions }: { personId: string; gatewayId: string; permissions: readonly string[] },
): Promise<ColumnChoice[]> {
  const kept = await listExportColumns(db.sql, personId, gatewayId);
  return kindsFor(permissions).map((kind) => ({ kind, columns: columnsOf(kind, kept.find((one) => one.kind === kind)?.columns) }));
}

/** Keeps which columns a person chose, for the next time: all of them are no choice, so that those that come to be later are in too (decision 0093). Locks that row. */
export async function rememberColumns(
  tx: Tx,
  { kind, columns, ...whose }: { personId: string; gatewayId: string; kind: ExportKind; columns: readonly string[] },
): Promise<void> {
  const all = kindOf(kind).columns.every((name) => columns.includes(name));
  await keepExportColumns(tx, { ...whose, kind, columns: all ? null : columns });
}
