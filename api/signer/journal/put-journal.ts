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

/** Runs something with the journal's folder held. @throws Error while a signer signs with it */
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
 * Puts an exported journal in place, and only ever moves forward: what is there must be a beginning of it, and it must hold all that Postgres
 * knows of. Answers where it ends.
 * @throws Error saying what it lacks
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

/** A journal that waits for two people, and what they have to know. */
export interface Pending extends Omit<Rebuilt, 'entries'> {
  head: JournalHead;
  /** Where the old one ended; null where nothing of it is left. */
  old: JournalHead | null;
  known: KnownHead | null;
}

/**
 * Rebuilds the journal from `base`, or from what is there, and from the books, and leaves it beside: the signer takes it once two people agreed
 * to exactly this one (decisions 10). Nothing is signed with it before.
 * @throws Error as `rebuildJournal`, and while a signer signs
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

/** All of the journal that is there; null where there is none, or one that cannot be believed. */
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
