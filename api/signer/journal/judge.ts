import type { JournalEntry } from '../journal-entry.ts';

/** The facts about the next bytes of an order that are compared with its earlier signatures. */
export type Candidate = Pick<JournalEntry, 'network' | 'slot' | 'kind' | 'recipient' | 'contract' | 'rawAmount'>;

/**
 * `prove`: it may be signed once each of these slots is proven dead. `refuse`: it contradicts an earlier signature, and no process of ours asks for
 * that.
 */
export type Judgement = { allow: true } | { prove: readonly (readonly JournalEntry[])[] } | { refuse: string };

/**
 * Judges the next bytes of an order by what the journal holds about that order (decisions 10). Pure.
 * An order is paid once: to one recipient, in one asset, by one amount. Bytes in a slot that the order already used can never be mined beside the
 * earlier ones. Bytes in another slot can, so they wait for proof that none of the earlier ones ever will be. Bytes that close a slot pay no
 * recipient and are always allowed.
 * `earlier` is everything signed for the order. `shrinks`: the fee may come out of the amount, as it does when coins move between our own
 * addresses, so the amount may differ.
 */
export function judge(earlier: readonly JournalEntry[], candidate: Candidate, { shrinks }: { shrinks: boolean }): Judgement {
  if (candidate.kind === 'close') return { allow: true };
  const slots = new Map<string, JournalEntry[]>();
  for (const entry of earlier) {
    if (entry.kind === 'close') continue;
    if (entry.network !== candidate.network) return { refuse: `it was signed before on ${entry.network}` };
    if (entry.recipient !== candidate.recipient) return { refuse: `it was signed before to ${entry.recipient}` };
    if (entry.contract !== candidate.contract) return { refuse: 'it was signed before for another asset' };
    if (!shrinks && entry.rawAmount !== candidate.rawAmount) return { refuse: `it was signed before for ${entry.rawAmount} units` };
    const same = slots.get(entry.slot);
    if (same === undefined) slots.set(entry.slot, [entry]);
    else same.push(entry);
  }
  slots.delete(candidate.slot);
  return slots.size === 0 ? { allow: true } : { prove: [...slots.values()] };
}
