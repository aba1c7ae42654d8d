import { existsSync, mkdirSync } from 'node:fs';
import { hasAttempts, lockHead, moveHead, readHead } from '#api/store/signer-journal.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { JournalFile } from './journal-file.ts';
import type { JournalHead } from './record.ts';
import { journalPath } from './signer-journal.ts';

/** Fingerprint of each network's account key, by the network's name. */
export function accountsOf(networks: readonly { name: string; accountFingerprint: string }[]): Record<string, string> {
  return Object.fromEntries(networks.map(({ name, accountFingerprint }) => [name, accountFingerprint]));
}

/**
 * Begins an empty journal for a deployment that never signed anything. Nothing else makes an empty journal; the signer itself never does (decisions
 * 10).
 * The caller must ensure that no other process does this at the same time. Locks the head.
 * @throws Error when the folder holds a journal, Postgres knows one, or something was signed before: it is then restored or made with `reseal`
 */
export async function initJournal(
  db: Database,
  { folder, accounts, id, now }: { folder: string; accounts: Readonly<Record<string, string>>; id: string; now: number },
): Promise<JournalHead> {
  const path = journalPath(folder);
  if (existsSync(path)) throw new Error(`${path} is there already`);
  if ((await readHead(db.sql)) !== undefined)
    throw new Error('Postgres knows a journal already: restore it, or reseal one (sluice signer journal restore, reseal)');
  if (await hasAttempts(db.sql)) throw new Error('something was signed before: an empty journal would not know of it (sluice signer journal reseal)');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const head = JournalFile.create(path, { id, createdAtMs: now, accounts });
  const begun = await db.transaction(async (tx) => (await lockHead(tx)) === undefined && moveHead(tx, undefined, head));
  if (!begun) throw new Error('somebody else began a journal at this moment');
  return head;
}
