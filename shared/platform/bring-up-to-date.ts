import { grantRights, mayMigrate } from './database-roles.ts';
import type { Logger } from './logger.ts';
import { awaitSchema, migrate } from './migrate.ts';
import { connect } from './postgres.ts';

/**
 * Sees to it that the schema is the one this build needs. Whoever owns it migrates, and gives the roles their rights on what is new; any
 * other login waits until somebody has. Nothing is taken from a role, because a release beside this one may need it.
 * Has a connection of its own, without deadlines: an index takes as long as it takes. Answers what was applied.
 * @throws when the schema cannot be shared with this build (compareSchema)
 */
export async function bringUpToDate(options: { url: string; directory: string; log: Logger; signal: AbortSignal; waiting(): void }): Promise<string[]> {
  const { log, directory } = options;
  const db = connect(options.url, { name: 'sluice-migrations', max: 1, deadlines: 'none' });
  try {
    if (!(await mayMigrate(db.sql))) {
      options.waiting();
      log.info(
        { directory },
        'this login does not own the schema: waiting until it is what this build needs (sluice db migrate, or a process with DATABASE_OWNER_URL)',
      );
      await awaitSchema(db.sql, directory, options.signal);
      return [];
    }
    const { applied } = await migrate(db.sql, directory);
    const granted = await db.transaction((tx) => grantRights(tx, { revoke: false }));
    if (granted > 0) log.info({ granted }, 'rights granted to the database roles');
    return applied;
  } finally {
    await db.end();
  }
}
