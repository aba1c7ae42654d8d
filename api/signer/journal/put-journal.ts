import { existsSync, mkdirSync } from 'node:fs';
import { type KnownHead, readHead } from '#api/store/signer-journal.ts';
import type { Database } from '#shared/platform/postgres.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { compareHeads, isForeign } from './compare.ts';
import type { Interchange } from './interchange.ts';
import { JournalFile } from './journal-file.ts';
import { takeLock } from './lock.ts';
import { JournalCorrupt, type JournalHead } from './record.ts';
import { type RebuildingChain, type Rebuilt, rebuildJournal } from './rebuild.ts';
import { journalPath, pendingPath } from './signer-journal.ts';

interface Place {
  folder: string;
  accounts: Readonly<Record<string, string>>;
}

/** Does `work` while holding the lock of the journal's folder. @throws Error while a signer holds it */
async function holding<T>(folder: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = await takeLock(folder);
  if (lock === null) throw new Error('a signer uses this journal: stop it first');
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Puts an exported journal in place and returns its head. It only moves forward: the export must continue the journal that is there, and hold every
 * signature that Postgres knows of.
 * @throws Error saying why the export is not accepted, and while a signer holds the folder
 */
export function importJournal(db: Database, { folder, accounts }: Place, given: Interchange): Promise<JournalHead> {
  return holding(folder, async () => {
    if (isForeign(given.header.accounts, accounts)) throw new Error('it was made with the keys of another seed');
    const compared = compareHeads({ head: given.head, hashAt: (seq) => given.hashes[seq] }, await readHead(db.sql));
    if (!('ahead' in compared)) throw new Error(`${compared.state}: ${compared.reason}`);
    const there = readOld(folder);
    if (there !== null) {
      if (there.head.id !== given.head.id) throw new Error(`there is another journal, ${there.head.id}`);
      if (given.hashes[there.head.seq] !== there.head.hash)
        throw new Error(`the journal that is there holds ${there.head.seq} signatures, and this one is not its continuation: nothing is taken back`);
    }
    return JournalFile.create(journalPath(folder), given.header, given.entries);
  });
}

/** A rebuilt journal that waits for the approval of two people, and what they need to know. */
export interface Pending extends Omit<Rebuilt, 'entries'> {
  head: JournalHead;
  /** Head of the old journal; null when none could be read. */
  old: JournalHead | null;
  known: KnownHead | null;
}

/**
 * Rebuilds the journal from our rows and from `base`, or without `base` from the journal that is there, and puts the result beside it.
 * The signer uses the rebuilt journal only after two people approved exactly this one (decisions 10).
 * @throws Error as `rebuildJournal` does, and while a signer signs
 */
export function resealJournal(
  db: Database,
  place: Place & { chains: ReadonlyMap<string, RebuildingChain>; id: string; now: number },
  base?: Interchange,
): Promise<Pending> {
  const { folder, accounts, chains, id, now } = place;
  return holding(folder, async () => {
    if (base !== undefined && isForeign(base.header.accounts, accounts)) throw new Error('it was made with the keys of another seed');
    const old = base ?? readOld(folder);
    const known = (await readHead(db.sql)) ?? null;
    const { entries, ...differences } = await rebuildJournal(db.sql, chains, old?.entries ?? []);
    const head = JournalFile.create(pendingPath(folder), { id, createdAtMs: now, accounts }, entries);
    return { head, old: old?.head ?? null, known, ...differences };
  });
}

/** The whole journal in the folder; null when there is none, or it is corrupt. */
function readOld(folder: string): { head: JournalHead; entries: JournalEntry[] } | null {
  if (!existsSync(journalPath(folder))) return null;
  try {
    const file = JournalFile.open(journalPath(folder), { write: false });
    const old = { head: file.head, entries: [...file.entries()] };
    file.close();
    return old;
  } catch (error) {
    if (error instanceof JournalCorrupt) return null;
    throw error;
  }
}
