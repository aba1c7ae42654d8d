import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { components } from '#api/contract/types.ts';
import type { Commit, Deps, Gateway, Reply, SentFile } from '#api/deps.ts';
import { countExports, findExport, findExportPart, insertExport, listExportsAfter, lockExports, type StoredExport } from '#api/store/exports.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readTime } from '#shared/core/read-time.ts';
import { badCursor, follow, type Following, type PageQuery, readFollowing } from '#shared/platform/page.ts';
import { EXPORT_KINDS, kindOf } from './kinds.ts';

type ExportView = components['schemas']['Export'];
type Asked = components['schemas']['CreateExport'];

/** What somebody's role must allow so that they may read who did what at a gateway. */
export const READS_AUDIT = 'team:manage';

/** Who asks: a key, or a person in the console, with whether they may read who did what. */
type Asker = { keyId: string } | { personId: string; audit: boolean };

/**
 * Asks for a file of what a list of the gateway shows; it is made in the background. Locks the gateway's exports.
 * @throws validation_error naming kind, columns, filter, from or to; conflict when too many are being made or kept
 */
export async function createExport(deps: Deps, { gateway, by, body, commit }: { gateway: Gateway; by: Asker; body: Asked; commit: Commit }): Promise<Reply> {
  const kind = EXPORT_KINDS[body.kind];
  if (kind === undefined) throw invalid('kind', `must be one of ${Object.keys(EXPORT_KINDS).join(', ')}`);
  // It names people and where they come from.
  if (body.kind === 'audit' && !('audit' in by && by.audit)) throw new ServiceError('forbidden', { message: 'Owners export who did what, in the console.' });
  const columns = readColumns(body.columns ?? null, kind.columns);
  const filter = readFilter(body.filter ?? {}, kindOf(body.kind).filters);
  const [fromAt, until] = [readTime('from', body.from ?? undefined), readTime('to', body.to ?? undefined)];
  if (fromAt !== null && until !== null && until <= fromAt) throw invalid('to', 'must be later than from');
  const asked = {
    id: uuidFrom(deps.randomBytes(16)),
    gatewayId: gateway.id,
    kind: body.kind,
    format: body.format ?? ('csv' as const),
    columns,
    filter,
    fromAt,
    until,
    keyId: 'keyId' in by ? by.keyId : null,
    personId: 'personId' in by ? by.personId : null,
  };
  return commit(async (tx) => {
    await lockExports(tx, gateway.id);
    const { making, kept, bytes } = await countExports(tx, gateway.id);
    if (making >= POLICY.exportsMaking)
      throw new ServiceError('conflict', { message: `The gateway has ${making} exports being made, which is as many as it may have.` });
    if (kept >= POLICY.exportsKept)
      throw new ServiceError('conflict', {
        message: `The gateway has ${kept} exports of the last ${POLICY.exportsKeptDays} days, which is as many as it may have.`,
      });
    if (bytes >= POLICY.exportsKeptBytes)
      throw new ServiceError('conflict', {
        message: `The exports of the last ${POLICY.exportsKeptDays} days come to ${Math.floor(bytes / 2 ** 20)} MiB, which is as much as a gateway may have.`,
      });
    // Its id is not kept with the key, which outlives it: the audit would look for a row that is gone by then (A12).
    return { status: 202, data: exportView(await insertExport(tx, asked)) };
  });
}

/** Exports of this gateway that are kept, newest first. @throws validation_error for a limit below 1 or a cursor that is none */
export async function listExports(
  deps: Pick<Deps, 'db'>,
  query: { gateway: Gateway; audit?: boolean } & Pick<PageQuery, 'limit' | 'after'>,
): Promise<{ items: ExportView[]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  const rows =
    after !== null && !isUuid(after)
      ? undefined
      : await listExportsAfter(deps.db.sql, { gatewayId: query.gateway.id, limit, after, audit: query.audit === true });
  if (rows === undefined) throw badCursor();
  const { shown, pagination } = follow(rows, limit, ({ id }) => id);
  return { items: shown.map(exportView), pagination };
}

/** How far one export is. @throws not_found for an unknown id and for another gateway's alike */
export async function readExport(deps: Pick<Deps, 'db'>, { gateway, id }: { gateway: Gateway; id: string }): Promise<ExportView> {
  return exportView(await ownExport(deps, gateway, { id, audit: false }));
}

/** The file of an export that is ready. @throws not_found; conflict before it is ready */
export async function readExportFile(
  deps: Pick<Deps, 'db'>,
  { gateway, id, audit = false }: { gateway: Gateway; id: string; audit?: boolean },
): Promise<SentFile> {
  const one = await ownExport(deps, gateway, { id, audit });
  if (one.state !== 'ready') throw new ServiceError('conflict', { message: 'The export is not ready.' });
  return {
    name: `${one.kind}-${one.askedAt.toISOString().slice(0, 10)}-${one.id.slice(0, 8)}.${one.format}`,
    type: one.format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/jsonl; charset=utf-8',
    etag: `"${one.id}"`,
    length: one.byteCount,
    read: (from, to) => bytesOf(deps, one.id, from, to),
  };
}

async function ownExport(deps: Pick<Deps, 'db'>, gateway: Gateway, { id, audit }: { id: string; audit: boolean }): Promise<StoredExport> {
  const one = isUuid(id) ? await findExport(deps.db.sql, gateway.id, id) : undefined;
  if (one === undefined || (one.kind === 'audit' && !audit)) throw new ServiceError('not_found');
  return one;
}

/** Bytes of the file from one on and before another, a piece at a time. */
async function* bytesOf(deps: Pick<Deps, 'db'>, id: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const part = await findExportPart(deps.db.sql, id, at);
    if (part === undefined) throw new Error('the export was deleted while it was read');
    const bytes = (await promisify(gunzip)(part.body)).subarray(at - part.startsAt, to - part.startsAt);
    if (bytes.length === 0) throw new Error('a part of the export is missing');
    yield bytes;
    at += bytes.length;
  }
}

function readColumns(given: readonly string[] | null, known: readonly string[]): string[] {
  if (given === null) return [...known];
  for (const [index, one] of given.entries()) {
    if (!known.includes(one)) throw invalid(`columns.${index}`, `must be one of ${known.join(', ')}`);
    if (given.indexOf(one) !== index) throw invalid(`columns.${index}`, 'is there twice');
  }
  return [...given];
}

function readFilter(given: object, known: Readonly<Record<string, readonly string[] | null>>): Record<string, string> {
  const filter: Record<string, string> = {};
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (value === null || value === undefined) continue;
    const values = Object.hasOwn(known, name) ? known[name] : undefined;
    if (values === undefined) throw invalid(`filter.${name}`, `must be one of ${Object.keys(known).join(', ')}`);
    const text = String(value);
    if (values !== null && !values.includes(text)) throw invalid(`filter.${name}`, `must be one of ${values.join(', ')}`);
    filter[name] = text;
  }
  return filter;
}

function exportView(one: StoredExport): ExportView {
  return {
    exportId: one.id,
    kind: one.kind,
    format: one.format,
    columns: one.columns,
    filter: one.filter,
    from: one.fromAt?.toISOString() ?? null,
    to: one.until.toISOString(),
    state: one.state,
    problem: one.problem,
    rows: one.rowCount,
    bytes: one.byteCount,
    createdAt: one.askedAt.toISOString(),
    createdBy: one.keyId,
    endedAt: one.endedAt?.toISOString() ?? null,
    deletedAt: new Date(one.askedAt.getTime() + POLICY.exportsKeptDays * 86_400_000).toISOString(),
  };
}
