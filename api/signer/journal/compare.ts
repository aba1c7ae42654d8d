import type { JournalHead } from './record.ts';

/** States of a journal. The signer signs only while it is `open`; every other state says why it does not. */
export const JOURNAL_STATES = ['open', 'missing', 'corrupt', 'foreign', 'other', 'shorter', 'forked', 'locked', 'unreadable'] as const;
export type JournalState = (typeof JOURNAL_STATES)[number];

/** Why nothing is signed, as operators read it. */
export interface JournalProblem {
  state: Exclude<JournalState, 'open'>;
  reason: string;
}

/** The parts of a journal that are compared with the head in Postgres. */
export interface Comparable {
  head: JournalHead;
  /** Hash of the chain after `seq` records; undefined beyond the end. */
  hashAt(seq: number): string | undefined;
}

/**
 * Compares a journal with the head that Postgres knows (decisions 10). Returns how many signatures the journal is ahead, or what is wrong.
 * The journal must hold every signature that Postgres knows of, unchanged. It is ahead after a crash between the two writes, or when the database
 * was restored to an earlier state; the extra signatures still count.
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

/** Whether a journal was made with keys of another seed: the two name different accounts for a network, or have no network in common. */
export function isForeign(journal: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): boolean {
  const common = Object.keys(own).filter((name) => journal[name] !== undefined);
  return common.length === 0 || common.some((name) => journal[name] !== own[name]);
}
