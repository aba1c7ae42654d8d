import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runAudit, runCheck } from '#api/audit/run-audit.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** Runs every check of the audit, those of the night too; each must return zero rows. @throws listing the rows of each that does not */
export async function assertCleanAudit(database: Pick<Database, 'sql'>): Promise<void> {
  const results = await runAudit(database.sql);
  for (const check of KEPT_CHECKS) results.push(await runCheck(database.sql, check, { staticAllowed: true }));
  const violated = results.filter((result) => result.rows.length > 0);
  if (violated.length > 0)
    throw new Error(
      `the audit is not clean:\n${violated.map(({ check, title, rows }) => `${check} ${title}\n${rows.map((row) => `  ${JSON.stringify(row)}`).join('\n')}`).join('\n')}`,
    );
}
