import { listStatements } from '#api/store/keyed-orders.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { makeStatement, readStatement, type Statement } from '#shared/platform/statements.ts';

const KIND = 'journal-reseal';

/** What two people agreed on: that this journal, as it is, is the signer's memory from now on. */
export interface Seal {
  journalId: string;
  seq: number;
  /** 64 hex digits. */
  hash: string;
  /** Id of the journal whose place it takes; empty where Postgres knew none. */
  replaces: string;
  proposedBy: string;
  confirmedBy: string;
  reason: string;
}

/** Says it, with the key of the http role. @throws Invariant when the key is none */
export function makeSeal(privateKey: string, { journalId, seq, hash, replaces, proposedBy, confirmedBy, reason }: Seal): Statement {
  return makeStatement(privateKey, { kind: KIND, subject: journalId, said: { seq: String(seq), hash, replaces, proposedBy, confirmedBy, reason } });
}

/** What two people agreed on about a journal, in the words of a key that is trusted; null when they did not. Locks nothing. */
export async function readSeal(sql: Reads, trusted: readonly string[], journalId: string): Promise<Seal | null> {
  for (const statement of (await listStatements(sql, { kind: KIND, subject: journalId })).reverse()) {
    const said = readStatement(trusted, statement, { kind: KIND, subject: journalId });
    if (said === null) continue;
    const { seq, hash, replaces, proposedBy, confirmedBy, reason } = said as Record<string, string>;
    if (seq === undefined || hash === undefined || proposedBy === undefined || confirmedBy === undefined || proposedBy === confirmedBy) continue;
    return { journalId, seq: Number(seq), hash, replaces: replaces ?? '', proposedBy, confirmedBy, reason: reason ?? '' };
  }
  return null;
}
