import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { JournalEntry } from '../journal-entry.ts';
import type { JournalProblem } from './compare.ts';

/**
 * The signer's own record of everything it signed, kept outside Postgres (decisions 10, decision 0037). It reads as empty while it is closed, and
 * `problem` then says why.
 */
export interface Journal {
  /** Unix milliseconds of the signer's own clock, which no row of Postgres can move. */
  now(): number;
  /** Compares the journal with what Postgres knows, and returns why nothing may be signed now, or null. Locks nothing. */
  problem(sql: Reads): Promise<JournalProblem | null>;
  /** Everything that was ever signed for an order, oldest first. */
  ofOrder(order: string): readonly JournalEntry[];
  /** Everything that was ever signed in a slot of a network, oldest first. */
  ofSlot(network: string, slot: string): readonly JournalEntry[];
  /** Everything signed at or after a time of the signer's clock, Unix milliseconds. */
  since(sinceMs: number): readonly JournalEntry[];
  /**
   * Stores a signature on disk, then moves the head in Postgres in the transaction that stores the bytes. A signature that the journal already
   * holds is not written again.
   * Returns why it may not be stored, with nothing written, or null. Locks the head, after settlement, wallet and payout. Ends the process when the
   * disk fails.
   */
  append(tx: Tx, entry: JournalEntry): Promise<JournalProblem | null>;
}
