import { runAudit } from '#api/audit/run-audit.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** Runs every check of the audit; each must return zero rows. @throws listing the rows of each that does not */
export async function assertCleanAudit(database: Pick<Database, 'sql'>): Promise<void> {
  const violated = (await runAudit(database.sql)).filter((result) => result.rows.length > 0);
  if (violated.length > 0)
    throw new Error(
      `the audit is not clean:\n${violated.map(({ check, title, rows }) => `${check} ${title}\n${rows.map((row) => `  ${JSON.stringify(row)}`).join('\n')}`).join('\n')}`,
    );
}
