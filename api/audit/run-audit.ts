import type { Changed } from '#api/store/audit-marks.ts';
import type { Reads, Sql } from '#shared/platform/postgres.ts';
import { type AuditPolicy, type Check, isAbout } from './check.ts';
import { CHECKS } from './checks.ts';

export interface AuditResult {
  /** Short name and what it promises. */
  check: string;
  title: string;
  /** What violates it; empty when it holds. */
  rows: Record<string, unknown>[];
}

/**
 * Runs every check of the audit about everything there is; each must come back without rows (reliability 5). Each reads one consistent snapshot
 * of the books and takes no lock, so it may run at any moment. Without `policy` prices count that do in development, and every network.
 */
export async function runAudit(sql: Sql, policy: AuditPolicy = { staticAllowed: true }): Promise<AuditResult[]> {
  const results: AuditResult[] = [];
  for (const check of CHECKS) results.push(await runCheck(sql, check, policy));
  return results;
}

/** Runs one check; about what changed alone where that is given and the check can. */
export async function runCheck(sql: Reads, check: Check, policy: AuditPolicy, changed?: Changed): Promise<AuditResult> {
  const { name, title } = check;
  const text = textOf(check, policy, changed);
  return { check: name, title, rows: text === undefined ? [] : await sql.unsafe<Record<string, unknown>[]>(text) };
}

/**
 * Runs checks, about what changed alone where that is given and they can: all that have anything to ask in one statement; answers their rows in the same order. Their columns arrive as text.
 * @throws where one of them fails, of which it says nothing
 */
export async function runChecks(
  sql: Reads,
  some: readonly { check: Check; changed: Changed | undefined }[],
  policy: AuditPolicy,
): Promise<Record<string, unknown>[][]> {
  const texts = some.map(({ check, changed }) => textOf(check, policy, changed));
  const asked = texts.filter((text) => text !== undefined);
  if (asked.length === 0) return texts.map(() => []);
  const rows = asked.map((text) => `(select json_agg((select json_object_agg(c.key, c.value) from json_each_text(row_to_json(q)) c)) from (${text}) q)`);
  const [found] = await sql.unsafe<[{ rows: (Record<string, unknown>[] | null)[] }]>(`select json_build_array(${rows.join(', ')}) as rows`);
  const answers = found.rows.values();
  return texts.map((text) => (text === undefined ? [] : (answers.next().value ?? [])));
}

/** What a check asks; undefined where nothing changed of what it asks about. */
function textOf(check: Check, policy: AuditPolicy, changed: Changed | undefined): string | undefined {
  const { query, ofChanged } = check;
  if (changed !== undefined && !isAbout(changed, check)) return undefined;
  if (changed !== undefined && ofChanged !== undefined) return ofChanged(changed);
  return typeof query === 'string' ? query : query(policy);
}
