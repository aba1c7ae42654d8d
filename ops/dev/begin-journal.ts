import { randomUUID } from 'node:crypto';
import { accountsOf, initJournal } from '#api/signer/journal/init-journal.ts';
import { hasJournal } from '#api/signer/journal/signer-journal.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { migrate } from '#shared/platform/migrate.ts';
import { connect } from '#shared/platform/postgres.ts';
import { CannotStart } from './cannot-start.ts';

/** Begins the signer's journal where the data is new; data with signatures and no journal was made before there were any. @throws CannotStart with what to do */
export async function beginJournal(options: { databaseUrl: string; schema: string; folder: string; networks: readonly NetworkConfig[] }): Promise<void> {
  if (hasJournal(options.folder)) return;
  const db = connect(options.databaseUrl, { name: 'sluice-begin-journal', max: 1, deadlines: 'none' });
  try {
    await migrate(db.sql, options.schema);
    await initJournal(db, { folder: options.folder, accounts: accountsOf(options.networks), id: randomUUID(), now: Date.now() });
  } catch (error) {
    throw new CannotStart(`the signer has no journal of this data (${(error as Error).message}); npm start -- --reset begins anew`);
  } finally {
    await db.end();
  }
}
