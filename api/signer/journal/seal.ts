import { listStatements } from '#api/store/keyed-orders.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { makeStatement, readStatement, type Statement } from '#shared/platform/statements.ts';

const KIND = 'journal-reseal';

/** The agreement of two people that this journal, in this state, is the signer's memory from now on. */
export interface Seal {
  journalId: string;
  seq: number;
  /** 64 hex digits. */
  hash: string;
  /** Id of the journal that it replaces; empty when Postgres knew none. */
  replaces: string;
  proposedBy: string;
  confirmedBy: string;
  reason: string;
}

/** Makes the statement of a seal, signed with the http role's key. @throws Invariant when the key cannot be read */
export function makeSeal(privateKey: string, { journalId, seq, hash, replaces, proposedBy, confirmedBy, reason }: Seal): Statement {
  return makeStatement(privateKey, { kind: KIND, subject: journalId, said: { seq: String(seq), hash, replaces, proposedBy, confirmedBy, reason } });
}

/** The newest agreement of two different people about a journal, stated by a trusted key; null when there is none. Locks nothing. */
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
