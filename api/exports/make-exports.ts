import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Deps } from '#api/deps.ts';
import { failExport, insertExportPart, lockNextExport, moveExport, postponeExport, type StoredExport } from '#api/store/exports.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { csvHead, csvLine, jsonLine } from './csv.ts';
import { kindOf } from './kinds.ts';

/** How long one run works before it lets others look: whoever asks meanwhile is taken up within it. */
const RUN_MS = 4_000;

/**
 * Makes exports, a part at a time, the next always for the export that waited longest, so that a large one holds up none (decision 0073). A part and how far its
 * export is are one transaction: killed anywhere, it goes on with the next part. Locks one export at a time.
 * @returns how many parts were made
 */
export async function makeExports(deps: Deps): Promise<number> {
  const end = performance.now() + RUN_MS;
  let parts = 0;
  while (performance.now() < end && (await makeNextPart(deps))) parts += 1;
  return parts;
}

/** Makes one part; false when no export waits for one. @throws what keeps the database from everybody's parts: no export is given up for it, and the next run tries again */
export async function makeNextPart(deps: Pick<Deps, 'db' | 'chains' | 'log'>): Promise<boolean> {
  let failed: { id: string; error: unknown } | undefined;
  const found = await deps.db
    .transaction(async (tx) => {
      failed = undefined;
      const one = await lockNextExport(tx);
      if (one === undefined) return false;
      // What fails with the statement it failed in is noted once this transaction is over.
      await makePart(deps, tx, one).catch((error: unknown) => {
        failed = { id: one.id, error };
        throw error;
      });
      return true;
    })
    .catch((error: unknown) => {
      if (failed === undefined) throw error;
      return true;
    });
  if (failed !== undefined) {
    deps.log.warn({ err: failed.error, exportId: failed.id }, 'a part of an export could not be made');
    const { id, error } = failed;
    if (isEverybodys(error)) {
      await deps.db.transaction((tx) => postponeExport(tx, id));
      throw error;
    }
    await deps.db.transaction((tx) => failExport(tx, id, POLICY.exportFailures));
  }
  return found;
}

/** SQLSTATE of a statement that took too long: what an export asks for may be what makes it long, each time. */
const TOO_LONG = '57014';

/** Whether a failure says nothing about the export that met it, such as a full disk. Pure. */
function isEverybodys(error: unknown): boolean {
  return isPassing(error) && (error as { code?: unknown }).code !== TOO_LONG;
}

/** Rows of the next part: fewer where those before them were large, and few before anything is known. Pure. */
function rowsOf({ rowCount, byteCount }: Pick<StoredExport, 'rowCount' | 'byteCount'>): number {
  const { exportPartRows: most, exportPartBytes: bytes } = POLICY;
  return rowCount === 0 ? most / 10 : Math.max(1, Math.min(most, Math.floor((bytes * rowCount) / byteCount)));
}

async function makePart(deps: Pick<Deps, 'chains'>, tx: Tx, one: StoredExport): Promise<void> {
  const { rows, next } = await kindOf(one.kind).read(deps, tx, {
    gatewayId: one.gatewayId,
    filter: one.filter,
    from: one.fromAt,
    until: one.until,
    after: one.place,
    limit: rowsOf(one),
  });
  const line = one.format === 'csv' ? csvLine : jsonLine;
  const head = one.format === 'csv' && one.place === null ? csvHead(one.columns) : '';
  const bytes = Buffer.from(head + rows.map((row) => line(one.columns, row)).join(''));
  const [rowCount, byteCount] = [one.rowCount + rows.length, one.byteCount + bytes.length];
  if (rowCount > POLICY.exportRows || byteCount > POLICY.exportBytes) return moveExport(tx, { ...one, state: 'failed', problem: 'too_large' });
  // In pieces, and beside the thread that answers payers: whoever reads the file holds one piece, however large its rows are.
  for (let at = 0; at < bytes.length; at += POLICY.exportPieceBytes) {
    const body = await promisify(gzip)(bytes.subarray(at, at + POLICY.exportPieceBytes));
    await insertExportPart(tx, { exportId: one.id, startsAt: one.byteCount + at, body });
  }
  await moveExport(tx, { ...one, state: next === null ? 'ready' : 'making', problem: null, place: next ?? one.place, rowCount, byteCount });
}
