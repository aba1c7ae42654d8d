import { advance } from '#api/store/advance.ts';
import { listHeldPaymentsOfDraws, listPaymentCredits } from '#api/store/credits.ts';
import { lockPayment } from '#api/store/payments.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { factsOf } from './funds.ts';

/**
 * Makes the held payments RELEASED that the cashout which has just settled drew the last of (contract 3.2, decisions 10); one
 * with anything left, or reserved by another cashout, stays HELD. The caller holds the settlement's lock, has marked its draws
 * spent, and has posted nothing yet. Locks the payments, in id order.
 */
export async function clearDrawnPayments(tx: Tx, settlementId: string): Promise<void> {
  for (const id of await listHeldPaymentsOfDraws(tx, settlementId)) {
    await lockPayment(tx, id);
    // Under its lock: of two cashouts that settle at once, the second one sees what the first one spent.
    const facts = factsOf(await listPaymentCredits(tx, id));
    await advance(tx, 'aml', { id, event: 'DRAWN', actor: 'chain', facts: () => ({ facts, record: { settlementId } }), orConflict: () => null });
  }
}
