import * as z from 'zod';
import type { Commit } from '#api/deps.ts';
import { createExport, READS_AUDIT } from '#api/exports/exports.ts';
import { OFFERED_KINDS, rememberColumns } from '#api/exports/chosen-columns.ts';
import { EXPORT_KINDS, type ExportKind } from '#api/exports/kinds.ts';
import { chooseMonthlyExports } from '#api/exports/monthly-exports.ts';
import type { MonthlyExport } from '#api/store/monthly-exports.ts';
import { keepLanguage } from '#api/store/notifications.ts';
import { invalid } from '#shared/core/errors.ts';
import type { GatewayActName } from '../act-names.ts';
import { act, inOne, languageTag, type GatewayAct } from './gateway-act.ts';

const exportFormat = z.enum(['csv', 'jsonl']);
/** Each column of each kind is a box of its own, such as `column:ledger:amount`. */
const columnBoxes = Object.fromEntries(
  OFFERED_KINDS.flatMap((kind) => EXPORT_KINDS[kind].columns.map((column) => [`column:${kind}:${column}`, z.literal('on').optional()])),
);
type Boxes = Readonly<Record<string, string | undefined>>;

function columnsIn(fields: Boxes, kind: ExportKind): string[] {
  return EXPORT_KINDS[kind].columns.filter((column) => fields[`column:${kind}:${column}`] === 'on');
}

/** What is wanted of each month: a format by kind, and its columns. */
const monthlyExports = z
  .strictObject({ language: languageTag })
  .extend(Object.fromEntries(OFFERED_KINDS.map((kind) => [`monthly:${kind}`, exportFormat.optional()])))
  .extend(columnBoxes) as unknown as z.ZodType<{ language: string } & Boxes>;

function monthlyOf(fields: Boxes): MonthlyExport[] {
  return OFFERED_KINDS.flatMap((kind) => {
    const format = fields[`monthly:${kind}`] as MonthlyExport['format'] | undefined;
    return format === undefined ? [] : [{ kind, format, columns: columnsIn(fields, kind) }];
  });
}

/** An export as a form asks for it; `columns` where its boxes say which, and all of them where it has none. */
const newExport = z
  .strictObject({
    kind: z.enum(['payments', 'settlements', 'ledger', 'credits', 'audit']),
    format: exportFormat,
    from: z.iso.date().optional(),
    to: z.iso.date().optional(),
    asset: z.string().max(64).optional(),
    columns: z.literal('chosen').optional(),
  })
  .extend(columnBoxes) as unknown as z.ZodType<NewExport>;
type NewExport = Pick<MonthlyExport, 'kind' | 'format'> & { from?: string; to?: string; asset?: string; columns?: 'chosen' } & Boxes;

/** @throws validation_error for no column of its kind */
function chosenColumns(fields: NewExport): string[] | null {
  if (fields.columns === undefined) return null;
  const columns = columnsIn(fields, fields.kind);
  if (columns.length === 0) throw invalid('columns', 'must be one at least');
  return columns;
}

/** Acts on exports. */
export const EXPORT_ACTS = {
  'export-create': act({
    permission: 'report:export',
    fields: newExport,
    target: ({ kind }) => kind,
    run: async (deps, { gateway, fields, personId, permissions, commit }) => {
      const { kind, format, from, to, asset } = fields;
      const columns = chosenColumns(fields);
      const day = (text: string, more = 0): string => new Date(Date.parse(`${text}T00:00:00Z`) + more).toISOString();
      // Through the last day that is named.
      const times = { ...(from !== undefined && { from: day(from) }), ...(to !== undefined && { to: day(to, 86_400_000) }) };
      const body = { kind, format, columns, ...times, filter: { ...(asset !== undefined && { asset }) } };
      // What was refused is no choice to keep.
      const keeping: Commit = (work) =>
        commit(async (tx) => {
          const reply = await work(tx);
          if (columns !== null) await rememberColumns(tx, { personId, gatewayId: gateway.id, kind, columns });
          return reply;
        });
      await createExport(deps, { gateway, by: { personId, audit: permissions.includes(READS_AUDIT) }, body, commit: keeping });
      deps.wake();
      return {};
    },
  }),
  'export-monthly': act({
    permission: 'report:export',
    fields: monthlyExports,
    target: () => 'monthly',
    noted: (fields) => ({ after: Object.fromEntries(monthlyOf(fields).map(({ kind, format, columns }) => [kind, { format, columns }])) }),
    run: async (_deps, { gateway, fields, personId, permissions, commit }) =>
      inOne(commit, async (tx) => {
        await chooseMonthlyExports(tx, { personId, gatewayId: gateway.id, permissions, wanted: monthlyOf(fields) });
        await keepLanguage(tx, personId, fields.language);
      }),
  }),
} satisfies Partial<Record<GatewayActName, GatewayAct<unknown>>>;
