import type { Chain, Deps } from '#api/deps.ts';
import type { JournalEntry } from './journal-entry.ts';

/**
 * Why bytes of one slot that were signed for an order might still pay it, or null when none of them ever will (decisions 10).
 * `signed` is everything of the slot that the journal knows to pay the order.
 */
export async function proveDead(_deps: Deps, _chain: Chain, _signed: readonly JournalEntry[]): Promise<string | null> {
  return null;
}
