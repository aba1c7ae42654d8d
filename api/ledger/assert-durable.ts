import type { Sql } from '#shared/platform/postgres.ts';

/**
 * Refuses to go on when Postgres may forget a commit it acknowledged (reliability D2, trap D); called at start by every
 * role that writes money.
 * @throws when `synchronous_commit` is not one that waits for the disk
 */
export async function assertDurable(sql: Sql): Promise<void> {
  const [row] = await sql<{ setting: string }[]>`select current_setting('synchronous_commit') as setting`;
  const setting = row?.setting ?? 'unknown';
  if (!['on', 'remote_write', 'remote_apply'].includes(setting)) {
    throw new Error(`synchronous_commit is ${setting}: an acknowledged commit could be lost; set it to on for this database and role`);
  }
}
