import type { JournalEntry } from '../journal-entry.ts';

/** What is about to be signed, as far as its order is held to what was signed before. */
export type Candidate = Pick<JournalEntry, 'network' | 'slot' | 'kind' | 'recipient' | 'contract' | 'rawAmount'>;

/** `prove`: it may be signed once every one of these slots is proven dead. `refuse`: nothing of us asks for that. */
export type Judgement = { allow: true } | { prove: readonly (readonly JournalEntry[])[] } | { refuse: string };

/**
 * What the journal makes of the next bytes of an order (decisions 10). An order is paid once: to one recipient, of one asset, one amount, however
 * often and in whatever words it is asked for. Further bytes in a slot that was used for it can never be mined beside the earlier ones; bytes of
 * another slot can, so that they wait for the proof that none of the earlier ones ever will. What closes a slot pays no recipient. `earlier` is
 * everything that was ever signed for the order; `shrinks` says that what it moves may lose its fee, as it does where coins of our own change their
 * place.
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
