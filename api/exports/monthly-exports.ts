import type { Deps } from '#api/deps.ts';
import { countExports, insertExport, lockExports } from '#api/store/exports.ts';
import {
  endMonthlyExports,
  findMonthWanted,
  findNextDue,
  insertMonthlyFiles,
  listGatewaysDue,
  listMonthlyExports,
  type MonthlyExport,
  type MonthOver,
  replaceMonthlyExports,
} from '#api/store/monthly-exports.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { withEach } from '#shared/core/with-each.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type ColumnChoice, columnsOf, kindsFor } from './chosen-columns.ts';
import { READS_AUDIT } from './exports.ts';

/** What a person may want of each month, and what of it they do; all columns where nothing was chosen. */
export interface MonthlyChoice extends ColumnChoice {
  format: 'csv' | 'jsonl' | null;
}

/** What a person may have mailed each month, kind by kind. */
export async function readMonthlyChoices(
  { db }: Pick<Deps, 'db'>,
  { personId, gatewayId, permissions }: { personId: string; gatewayId: string; permissions: readonly string[] },
): Promise<MonthlyChoice[]> {
  const wanted = await listMonthlyExports(db.sql, personId, gatewayId);
  return kindsFor(permissions).map((kind) => {
    const own = wanted.find((one) => one.kind === kind);
    return { kind, format: own?.format ?? null, columns: columnsOf(kind, own?.columns) };
  });
}

/**
 * Replaces what a person wants of a gateway each month: one file of each kind at most. Locks those rows; the caller holds the membership.
 * @throws validation_error for no column; forbidden for a list that their role may not read
 */
export async function chooseMonthlyExports(
  tx: Tx,
  { personId, gatewayId, permissions, wanted }: { personId: string; gatewayId: string; permissions: readonly string[]; wanted: readonly MonthlyExport[] },
): Promise<void> {
  for (const { kind, columns } of wanted) {
    if (kind === 'audit' && !permissions.includes(READS_AUDIT)) throw new ServiceError('forbidden');
    if (columns.length === 0) throw invalid(`monthly:${kind}`, 'must have a column at least');
  }
  await replaceMonthlyExports(tx, personId, gatewayId, wanted);
}

/**
 * Asks for the files that people want of the month that is over, one of each gateway at a time, so that another one that somebody asks for meanwhile has its place; whoever is
 * down on the first day does it later. An export and whose it is are one transaction: killed anywhere, each is asked for once (decision 0082). Locks the gateway's exports.
 * @returns how many exports were asked for
 * @throws the first failure, once every other gateway was gone through
 */
export async function makeMonthlyExports(deps: Deps): Promise<number> {
  const { db } = deps;
  if (deps.config.SLUICE_CONSOLE_URL === undefined) return 0;
  const month = await findMonthWanted(db.sql);
  if (month === undefined) return 0;
  await db.transaction((tx) => endMonthlyExports(tx, month));
  let made = 0;
  const room = { kept: POLICY.exportsKept, bytes: POLICY.exportsKeptBytes, limit: POLICY.monthlyExportsAtOnce };
  const due = await listGatewaysDue(db.sql, month, room);
  const ask = async (gatewayId: string): Promise<number> => {
    const asked = await db.transaction((tx) => askForNext(deps, tx, gatewayId, month));
    made += asked;
    return asked;
  };
  try {
    return await withEach(due, ask, (err, gatewayId) => deps.log.error({ err, gatewayId }, 'the file of a month cannot be asked for'));
  } finally {
    if (made > 0) deps.wake();
  }
}

async function askForNext(deps: Pick<Deps, 'randomBytes'>, tx: Tx, gatewayId: string, month: MonthOver): Promise<number> {
  await lockExports(tx, gatewayId);
  const { making, kept, bytes } = await countExports(tx, gatewayId);
  if (making > 0 || kept >= POLICY.exportsKept || bytes >= POLICY.exportsKeptBytes) return 0;
  const next = await findNextDue(tx, gatewayId, month);
  if (next === undefined) return 0;
  const { kind, format, columns, people } = next;
  const times = { fromAt: month.from, until: month.until };
  const asked = { id: uuidFrom(deps.randomBytes(16)), gatewayId, kind, format, columns, filter: {}, ...times, keyId: null, personId: people[0] ?? null };
  const { id: exportId } = await insertExport(tx, asked);
  await insertMonthlyFiles(tx, { people, gatewayId, kind, month, exportId });
  return 1;
}
