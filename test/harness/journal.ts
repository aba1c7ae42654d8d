import { mkdtemp, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountsOf, initJournal } from '#api/signer/journal/init-journal.ts';
import { SignerJournal, type SignerJournalOptions } from '#api/signer/journal/signer-journal.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** A journal of the signer in a folder of its own, begun and open. */
export interface TestJournal {
  folder: string;
  journal: SignerJournal;
  /** Closes it and removes its folder. */
  stop(): Promise<void>;
}

/** Begins one for a database in which nothing was signed. */
export async function aJournal(
  db: Database,
  { networks, log, ...more }: { networks: readonly NetworkConfig[]; log: Logger } & Partial<SignerJournalOptions>,
): Promise<TestJournal> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-journal-'));
  await beginJournal(db, folder, networks);
  const journal = new SignerJournal({ folder, accounts: accountsOf(networks), trusted: [], log, fatal: throwIt, ...more });
  const problem = await journal.open(db);
  if (problem !== null) throw new Error(problem.reason);
  return {
    folder,
    journal,
    async stop() {
      journal.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Begins an empty journal in a folder. */
export async function beginJournal(db: Database, folder: string, networks: readonly NetworkConfig[]): Promise<void> {
  await initJournal(db, { folder, accounts: accountsOf(networks), id: randomUUID(), now: Date.now() });
}

function throwIt(error: unknown): never {
  throw error;
}
