import type { Deps } from '#api/deps.ts';
import type { StoredProposal } from '#api/store/proposals.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Said } from '#shared/platform/statements.ts';
import { differing, heard, say } from './say.ts';

/** States what a person proposed, and until when another may confirm it, in the transaction that stores it. @throws Invariant outside of the http role */
export async function sayProposed(tx: Tx, deps: Pick<Deps, 'config'>, proposal: StoredProposal): Promise<void> {
  await say(tx, deps, { kind: 'proposal', subject: proposal.id, said: wordsOf(proposal) });
}

/** Whether a stored proposal is exactly what was proposed over HTTP, its last moment included. Locks nothing. */
export async function isProposed(sql: Reads, deps: Pick<Deps, 'config'>, proposal: StoredProposal): Promise<boolean> {
  return (await heard(sql, deps, { kind: 'proposal', subject: proposal.id })).some((said) => differing(said, wordsOf(proposal)) === null);
}

/** The database keeps the fields of JSON in an order of its own. */
function wordsOf({ act, target, content, reason, proposedBy, expiresAt }: StoredProposal): Said {
  const inOrder = Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1));
  return { act, target, content: JSON.stringify(inOrder), reason, proposedBy, expiresAt: expiresAt.toISOString() };
}
