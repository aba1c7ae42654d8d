import type { Chain, Deps } from '#api/deps.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { REMEMBERED } from '#api/payouts/rules/remembered.ts';
import { findStoredTxids } from '#api/store/signer-journal.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { Journal } from './journal/journal.ts';
import { judge } from './journal/judge.ts';
import type { proveDead } from './prove-dead.ts';

/**
 * Checks the next bytes of an order against the journal, whatever Postgres says about the order (decisions 10). Every other slot used for it must
 * be proven dead first.
 * Returns how many signatures the journal holds for the order, or why it must not be signed. Asks chains; never call it with a transaction open.
 * Signatures that Postgres does not know are logged as errors: Postgres was restored to an earlier state, or rows were deleted.
 */
export async function recall(
  deps: Deps & { journal: Journal },
  chain: Chain,
  payout: StoredPayout,
  entry: JournalEntry,
  prove: typeof proveDead,
): Promise<{ known: number } | { wait: string } | { refuse: string }> {
  const earlier = deps.journal.ofOrder(entry.order);
  if (earlier.some(({ txid, network }) => txid === entry.txid && network === entry.network)) return { known: earlier.length };
  const shrinks = payout.purpose === 'consolidation' || (payout.purpose === 'sweep' && payout.contract === null);
  const judged = judge(earlier, entry, { shrinks });
  if ('allow' in judged) return { known: earlier.length };
  const forgotten = await forgottenOf(deps, earlier);
  const said = { payout: payout.id, order: entry.order, signed: earlier.map(({ txid }) => txid), forgotten };
  if ('refuse' in judged) {
    deps.metrics?.journalContradictions.inc({ chain: entry.network, answer: 'refused' });
    deps.log.error({ ...said, reason: judged.refuse }, 'the journal contradicts what is to be signed');
    return { refuse: `the signer's journal: ${judged.refuse}` };
  }
  for (const slot of judged.prove) {
    const [{ slot: name }] = slot as [JournalEntry];
    const problem = await prove(deps, chain, entry.order, deps.journal.ofSlot(entry.network, name));
    if (problem === null) continue;
    // Waiting is normal while an earlier failure is not proven yet, but not when Postgres lacks the earlier bytes.
    if (forgotten.length > 0) {
      deps.metrics?.journalContradictions.inc({ chain: entry.network, answer: 'waiting' });
      deps.log.error({ ...said, reason: problem }, 'Postgres does not know what was signed for this order');
    }
    return { wait: `${REMEMBERED}${problem}` };
  }
  return { known: earlier.length };
}

/** Ids of the transactions that are in the journal but have no bytes in Postgres. */
async function forgottenOf(deps: Deps, signed: readonly JournalEntry[]): Promise<string[]> {
  const stored = await findStoredTxids(
    deps.db.sql,
    signed.map(({ txid }) => txid),
  );
  return signed.map(({ txid }) => txid).filter((txid) => !stored.has(txid));
}
