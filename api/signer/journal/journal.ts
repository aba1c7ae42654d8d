import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { JournalEntry } from '../journal-entry.ts';
import type { JournalProblem } from './compare.ts';

/**
 * The signer's own memory of what it signed, outside of Postgres (decisions 10, decision 0037). Its reads answer nothing while
 * `problem` says why nothing may be signed.
 */
export interface Journal {
  /** Unix milliseconds of the signer's own clock, which no row of Postgres can move. */
  now(): number;
  /** Why nothing may be signed now, or null; compares with what Postgres knows. Locks nothing. */
  problem(sql: Reads): Promise<JournalProblem | null>;
  /** Everything that was ever signed for an order, oldest first. */
  ofOrder(order: string): readonly JournalEntry[];
  /** Everything that was ever signed in a slot of a network, oldest first. */
  ofSlot(network: string, slot: string): readonly JournalEntry[];
  /** Everything that was signed at that time or later, Unix milliseconds of its own clock. */
  since(sinceMs: number): readonly JournalEntry[];
  /**
   * Remembers a signature, on disk before it answers, and moves what Postgres knows in the transaction that stores the bytes; what it knows already it
   * does not write again. Locks the head, after settlement, wallet and payout. Answers why it may not be, having written nothing.
   * Ends the process when the disk fails.
   */
  append(tx: Tx, entry: JournalEntry): Promise<JournalProblem | null>;
}
