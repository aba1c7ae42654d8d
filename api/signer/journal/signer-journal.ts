import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findStoredTxids, type KnownHead, lockHead, moveHead, pageTxids, readHead } from '#api/store/signer-journal.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database, Reads, Tx } from '#shared/platform/postgres.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { compareHeads, isForeign, type JournalProblem } from './compare.ts';
import type { Journal } from './journal.ts';
import { JournalFile, replaceFile } from './journal-file.ts';
import { type FolderLock, takeLock } from './lock.ts';
import { JournalCorrupt, type JournalHead } from './record.ts';
import { readSeal } from './seal.ts';

const ATTEMPTS_AT_ONCE = 20_000;
const DAY_MS = 86_400_000;

export function journalPath(folder: string): string {
  return join(folder, 'journal.jsonl');
}

/** Path of a rebuilt journal that waits for the approval of two people. */
export function pendingPath(folder: string): string {
  return join(folder, 'resealed.jsonl');
}

/** Whether the folder holds a journal, or a rebuilt one that waits for approval. */
export function hasJournal(folder: string): boolean {
  return existsSync(journalPath(folder)) || existsSync(pendingPath(folder));
}

/** Path to which a journal is moved when another replaces it. */
function retiredPath(folder: string, id: string): string {
  return join(folder, `replaced-${id}.jsonl`);
}

export interface SignerJournalOptions {
  folder: string;
  /** Fingerprint of each network's account key, by the network's name. */
  accounts: Readonly<Record<string, string>>;
  /** Public keys whose statements are believed. Only such a statement lets another journal replace the one that Postgres knows. */
  trusted: readonly string[];
  log: Logger;
  now?(): number;
  /** Ends the process. Called after a disk error, when the content of the journal is unknown. */
  fatal(error: unknown): void;
}

/** The journal of this process. It is closed until `open` finds no problem, and closes again when it turns out not to be the only one. */
export class SignerJournal implements Journal {
  readonly #options: SignerJournalOptions;
  #held: { file: JournalFile; lock: FolderLock } | undefined;
  #problem: JournalProblem = { state: 'missing', reason: 'it was not opened yet' };
  /** The state of files and Postgres when opening last failed. `open` reads everything again only after a change. */
  #failedWith = '';
  /** The head that Postgres was last heard to know, and when, by a clock that never goes back. */
  #heard: { head: KnownHead | undefined; atMs: number } | undefined;

  constructor(options: SignerJournalOptions) {
    this.#options = options;
  }

  now(): number {
    return (this.#options.now ?? Date.now)();
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** Its head; undefined while it is closed. */
  get head(): JournalHead | undefined {
    return this.#held?.file.head;
  }

  /**
   * Opens the journal: takes the folder's lock, puts an approved rebuilt journal in place, verifies every record, and compares it with Postgres
   * both ways.
   * Returns why nothing may be signed with it, or null. A later call tries again if something changed; while it is open that asks Postgres nothing that was heard within
   * `heardMs` milliseconds.
   */
  async open(db: Database, heardMs = 0): Promise<JournalProblem | null> {
    if (this.#held !== undefined)
      return this.#heard !== undefined && performance.now() - this.#heard.atMs < heardMs ? this.#check(this.#heard.head) : this.problem(db.sql);
    const { folder } = this.#options;
    const seen = `${stamp(journalPath(folder))} ${stamp(pendingPath(folder))} ${JSON.stringify(await readHead(db.sql))} ${await this.#sealStamp(db.sql)}`;
    if (seen === this.#failedWith && this.#problem.state !== 'locked') return this.#problem;
    const lock = await takeLock(folder).catch((error: unknown) => problemOf(error));
    if (lock === null) return this.#fail({ state: 'locked', reason: 'another process signs with it' }, seen);
    if ('state' in lock) return this.#fail(lock, seen);
    try {
      const opened = await this.#openUnderLock(db);
      if (opened instanceof JournalFile) {
        this.#held = { file: opened, lock };
        this.#heard = undefined;
        this.#failedWith = '';
        return null;
      }
      lock.release();
      return this.#fail(opened, seen);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Compares the journal with the head that Postgres was just heard to know, and closes it when it is not the only one. */
  hear(head: KnownHead | undefined): void {
    this.#heard = { head, atMs: performance.now() };
    if (this.#held !== undefined) this.#check(head);
  }

  async problem(sql: Reads): Promise<JournalProblem | null> {
    const known = this.#held && (await readHead(sql));
    // It may have been closed while Postgres was asked.
    return this.#held === undefined ? this.#problem : this.#check(known);
  }

  ofOrder(order: string): readonly JournalEntry[] {
    return this.#held?.file.ofOrder(order) ?? [];
  }

  ofSlot(network: string, slot: string): readonly JournalEntry[] {
    return this.#held?.file.ofSlot(network, slot) ?? [];
  }

  since(sinceMs: number): readonly JournalEntry[] {
    return this.#held?.file.since(sinceMs) ?? [];
  }

  async append(tx: Tx, entry: JournalEntry): Promise<JournalProblem | null> {
    const known = await lockHead(tx);
    const problem = this.#held === undefined ? this.#problem : this.#check(known);
    if (problem !== null) return problem;
    const { file } = this.#held as { file: JournalFile };
    if (!file.ofTxid(entry.txid).some(({ order, network }) => order === entry.order && network === entry.network)) {
      try {
        file.append(entry);
      } catch (error) {
        this.#options.fatal(error);
        throw error;
      }
    }
    const moved = await moveHead(tx, known, file.head);
    return moved ? null : this.#shut({ state: 'forked', reason: 'another signer began a journal meanwhile' });
  }

  /** How many signatures the journal holds beyond the head that Postgres knows; 0 while it is closed. */
  async ahead(sql: Reads): Promise<number> {
    if (this.#held === undefined) return 0;
    const compared = compareHeads(this.#held.file, await readHead(sql));
    return 'ahead' in compared ? compared.ahead : 0;
  }

  /** How many signatures of the last day have no bytes in Postgres. The newest is not counted, because a crash may have lost its bytes. Locks nothing. */
  async countUnknown(sql: Reads): Promise<number> {
    const recent = this.since(this.now() - DAY_MS);
    const last = this.#held?.file.head.seq === undefined ? undefined : recent.at(-1)?.txid;
    const txids = recent.map(({ txid }) => txid).filter((txid) => txid !== last);
    const stored = await findStoredTxids(sql, txids);
    return txids.filter((txid) => !stored.has(txid)).length;
  }

  close(): void {
    this.#held?.file.close();
    this.#held?.lock.release();
    this.#held = undefined;
    this.#problem = { state: 'missing', reason: 'it was closed' };
  }

  #check(known: KnownHead | undefined): JournalProblem | null {
    const { file, lock } = this.#held as { file: JournalFile; lock: FolderLock };
    if (!lock.isOurs()) return this.#shut({ state: 'locked', reason: 'another process took it over' });
    const compared = compareHeads(file, known);
    return 'ahead' in compared ? null : this.#shut(compared);
  }

  #shut(problem: JournalProblem): JournalProblem {
    this.close();
    return this.#fail(problem, '');
  }

  #fail(problem: JournalProblem, seen: string): JournalProblem {
    this.#problem = problem;
    this.#failedWith = seen;
    return problem;
  }

  async #openUnderLock(db: Database): Promise<JournalFile | JournalProblem> {
    const { folder, accounts } = this.#options;
    let file: JournalFile | undefined;
    try {
      await this.#putInPlace(db.sql);
      if (!existsSync(journalPath(folder))) return { state: 'missing', reason: `there is no journal in ${folder}` };
      file = JournalFile.open(journalPath(folder), { write: true });
      const problem = isForeign(file.header.accounts, accounts)
        ? { state: 'foreign' as const, reason: 'it was made with the keys of another seed' }
        : await this.#compare(db, file);
      if (problem === null) return file;
      file.close();
      return problem;
    } catch (error) {
      file?.close();
      return problemOf(error);
    }
  }

  /** Puts an approved rebuilt journal in place. The journal it replaces is kept under another name. */
  async #putInPlace(sql: Reads): Promise<void> {
    const { folder, trusted, log } = this.#options;
    const pending = pendingPath(folder);
    if (!existsSync(pending)) return;
    const next = JournalFile.open(pending, { write: false });
    const { head } = next;
    next.close();
    const seal = await readSeal(sql, trusted, head.id);
    if (seal === null || seal.seq !== head.seq || seal.hash !== head.hash) return;
    if (existsSync(journalPath(folder))) replaceFile(journalPath(folder), retiredPath(folder, seal.replaces === '' ? 'unknown' : seal.replaces));
    replaceFile(pending, journalPath(folder));
    log.warn({ journal: head.id, signatures: head.seq, proposedBy: seal.proposedBy, confirmedBy: seal.confirmedBy }, 'a rebuilt journal took its place');
  }

  async #compare(db: Database, file: JournalFile): Promise<JournalProblem | null> {
    const compared = compareHeads(file, await readHead(db.sql));
    if (!('ahead' in compared)) {
      if (compared.state !== 'other' || !(await this.#isSealed(db, file))) return compared;
    } else if (compared.ahead > 1)
      this.#options.log.error({ signatures: compared.ahead }, 'Postgres does not know signatures that the journal holds: it went back');
    return this.#missing(db.sql, file);
  }

  /** Whether two people agreed that this journal replaces the one that Postgres knows. If so, Postgres knows this one from then on. */
  async #isSealed(db: Database, file: JournalFile): Promise<boolean> {
    const seal = await readSeal(db.sql, this.#options.trusted, file.head.id);
    if (seal === null || file.hashAt(seal.seq) !== seal.hash) return false;
    return db.transaction(async (tx) => {
      const known = await lockHead(tx);
      return (known?.id ?? '') === seal.replaces && (await moveHead(tx, known, file.head));
    });
  }

  /**
   * Why the journal cannot be used if Postgres holds signed bytes that it lacks: a signer without this journal, for example of an earlier release,
   * made them.
   */
  async #missing(sql: Reads, file: JournalFile): Promise<JournalProblem | null> {
    let [count, first] = [0, ''];
    for (let after: string | null = null; ; ) {
      const page: { id: string; txid: string }[] = await pageTxids(sql, after, ATTEMPTS_AT_ONCE);
      for (const { txid } of page) {
        if (file.ofTxid(txid).length > 0) continue;
        count += 1;
        first ||= txid;
      }
      after = page.at(-1)?.id ?? null;
      if (page.length < ATTEMPTS_AT_ONCE) break;
    }
    return count === 0 ? null : { state: 'shorter', reason: `Postgres holds ${count} signatures that it does not, such as ${first}: another signer made them` };
  }

  async #sealStamp(sql: Reads): Promise<string> {
    const pending = pendingPath(this.#options.folder);
    if (!existsSync(pending)) return '';
    try {
      const next = JournalFile.open(pending, { write: false });
      next.close();
      return JSON.stringify(await readSeal(sql, this.#options.trusted, next.header.id));
    } catch (error) {
      return problemOf(error).reason;
    }
  }
}

function problemOf(error: unknown): JournalProblem {
  if (error instanceof JournalCorrupt) return { state: 'corrupt', reason: error.message };
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return { state: 'unreadable', reason: String(message) };
  throw error;
}

/** A text that changes whenever the file does. */
function stamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '-' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
