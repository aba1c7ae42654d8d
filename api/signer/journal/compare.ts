import type { JournalHead } from './record.ts';

/** Why a journal cannot be signed with; `open` is the only one that can. */
export const JOURNAL_STATES = ['open', 'missing', 'corrupt', 'foreign', 'other', 'shorter', 'forked', 'locked', 'unreadable'] as const;
export type JournalState = (typeof JOURNAL_STATES)[number];

/** Why nothing is signed, as operators read it. */
export interface JournalProblem {
  state: Exclude<JournalState, 'open'>;
  reason: string;
}

/** A journal as far as it is compared with what Postgres knows of it. */
export interface Comparable {
  head: JournalHead;
  /** The hash after that many records; undefined beyond its end. */
  hashAt(seq: number): string | undefined;
}

/**
 * Compares a journal with the head that Postgres knows (decisions 10): it must hold everything that Postgres ever heard of, in the same
 * words. What it holds beyond that says that a crash came between the two, or that the database went back: its own memory counts.
 */
export function compareHeads(journal: Comparable, known: JournalHead | undefined): { ahead: number } | JournalProblem {
  const { head } = journal;
  if (known === undefined) {
    if (head.seq === 0) return { ahead: 0 };
    return { state: 'other', reason: `it holds ${head.seq} signatures, and Postgres knows of no journal: somebody took that away, or it is another database` };
  }
  if (known.id !== head.id) return { state: 'other', reason: `it is the journal ${head.id}, and Postgres knows ${known.id}` };
  if (known.seq > head.seq) return { state: 'shorter', reason: `it holds ${head.seq} signatures, and Postgres knows of ${known.seq}: this is an old copy` };
  if (journal.hashAt(known.seq) !== known.hash)
    return { state: 'forked', reason: `its signature ${known.seq} is not the one that Postgres knows of: another signer signs with a journal of its own` };
  return { ahead: head.seq - known.seq };
}

/** Whether a journal was made with the keys of another seed: the account of a network both know is another one, or they have no network in common. */
export function isForeign(journal: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): boolean {
  const common = Object.keys(own).filter((name) => journal[name] !== undefined);
  return common.length === 0 || common.some((name) => journal[name] !== own[name]);
}
