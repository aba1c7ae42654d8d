import type { Sql } from '#shared/platform/postgres.ts';

/**
 * Refuses to start when Postgres might forget a commit that it acknowledged (reliability D2, trap D). Every role that writes money calls this at
 * start.
 * @throws when `synchronous_commit` is a setting that does not wait for the disk
 */
export async function assertDurable(sql: Sql): Promise<void> {
  const [row] = await sql<{ setting: string }[]>`select current_setting('synchronous_commit') as setting`;
  const setting = row?.setting ?? 'unknown';
  if (!['on', 'remote_write', 'remote_apply'].includes(setting)) {
    throw new Error(`synchronous_commit is ${setting}: an acknowledged commit could be lost; set it to on for this database and role`);
  }
}
