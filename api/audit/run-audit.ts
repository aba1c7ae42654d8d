import type { Sql } from '#shared/platform/postgres.ts';
import { CHECKS, type Check } from './checks.ts';

export interface AuditResult {
  /** Short name and what it promises. */
  check: string;
  title: string;
  /** What violates it; empty when it holds. */
  rows: Record<string, unknown>[];
}

/**
 * Runs every check of the audit; each must come back without rows (reliability 5). Each reads one consistent snapshot
 * of the books and takes no lock, so it may run at any moment.
 */
export async function runAudit(sql: Sql): Promise<AuditResult[]> {
  const results: AuditResult[] = [];
  for (const check of CHECKS) results.push(await runCheck(sql, check));
  return results;
}

/** Runs one check. */
export async function runCheck(sql: Sql, check: Check): Promise<AuditResult> {
  return { check: check.name, title: check.title, rows: await sql.unsafe<Record<string, unknown>[]>(check.query) };
}
