import type { Deps } from '#api/deps.ts';
import type { StoredProposal } from '#api/store/proposals.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** What takes two people: one who proposes it, and another one who confirms it (decision 0032). */
export interface Act {
  /**
   * Does it, in the transaction that confirms the proposal, with everything it depends on checked again under lock. Answers the ids of
   * what it made. @throws ServiceError when it cannot be done (any more); the proposal then stays open
   */
  execute(tx: Tx, deps: Deps, call: { proposal: StoredProposal; confirmedBy: string }): Promise<Record<string, unknown>>;
}
