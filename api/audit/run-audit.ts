import type { PricePolicy } from '#api/clients/prices.ts';
import type { Changed } from '#api/store/audit-marks.ts';
import type { Reads, Sql } from '#shared/platform/postgres.ts';
import { type Check, isAbout } from './check.ts';
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
 * of the books and takes no lock, so it may run at any moment. Without `prices` those count that do in development.
 */
export async function runAudit(sql: Sql, prices: PricePolicy = { staticAllowed: true }): Promise<AuditResult[]> {
  const results: AuditResult[] = [];
  for (const check of CHECKS) results.push(await runCheck(sql, check, prices));
  return results;
}

/** Runs one check; about what changed alone where that is given and the check can. */
export async function runCheck(sql: Reads, check: Check, prices: PricePolicy, changed?: Changed): Promise<AuditResult> {
  const { name, title, query, ofChanged } = check;
  if (changed !== undefined && !isAbout(changed, check)) return { check: name, title, rows: [] };
  const whole = typeof query === 'string' ? query : query(prices);
  const text = changed === undefined || ofChanged === undefined ? whole : ofChanged(changed);
  return { check: name, title, rows: await sql.unsafe<Record<string, unknown>[]>(text) };
}
