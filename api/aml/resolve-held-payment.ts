import type { Deps } from '#api/deps.ts';
import { readAsset, readDestination } from '#api/treasury/destination.ts';
import { advance } from '#api/store/advance.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { listPaymentCredits, type PaymentCredit } from '#api/store/credits.ts';
import { lockPayment } from '#api/store/payments.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { AmlEvent, AmlFacts, AmlState } from '#state-machines/aml/machine.ts';
import { changePool } from './change-pool.ts';
import { factsOf, lockFunds, type MoreAccounts } from './funds.ts';
import { placeRefunds } from './place-refunds.ts';
import { withholdCredits } from './withhold.ts';

/** What an operator may do with a held payment (decisions 10). */
export type Resolution = { action: 'RELEASE' } | { action: 'WITHHOLD' } | { action: 'REFUND'; address: unknown };

const EVENTS = { RELEASE: 'OPERATOR_RELEASED', WITHHOLD: 'OPERATOR_WITHHELD', REFUND: 'REFUND_ORDERED' } as const satisfies Record<string, AmlEvent>;
const ACCOUNTS: Record<Resolution['action'], MoreAccounts> = {
  RELEASE: { gateway: ['owed'] },
  WITHHOLD: { gateway: ['withheld'] },
  REFUND: { gateway: ['refunding'], system: ['commission'] },
};

/**
 * Clears a held payment into the green pool, withholds it, or orders it back to its payer, with an audit row. Whichever of this
 * and a cashout that wants the same coins comes first has them. Locks the payment, its credits and the ledger as `lockFunds` says.
 * @throws not_found; validation_error naming address; conflict when the payment is not held, or not so that this may be done
 */
export async function resolveHeldPayment(deps: Deps, call: { paymentId: string; resolution: Resolution; reason: string }): Promise<void> {
  const { paymentId, resolution, reason } = call;
  const { action } = resolution;
  // Addresses are looked up before anything is locked; a deposit in a further asset may come in between.
  const recipients = action === 'REFUND' ? await recipientsOf(deps, paymentId, resolution.address) : undefined;
  await deps.db.transaction((tx) => resolveWithin(tx, deps, { paymentId, action, reason, recipients }));
  crashPoint('aml.resolved');
  deps.wake();
}

/** Where a refund of each asset of a payment goes, canonical, if that address may be paid. Locks nothing. @throws validation_error naming address */
export async function recipientsOf(deps: Deps, paymentId: string, address: unknown): Promise<Map<string, string>> {
  return readRecipients(deps, await listPaymentCredits(deps.db.sql, paymentId), address);
}

/** The same within a transaction, which calls `deps.wake()` after its commit; a refund goes to `recipients`, by asset. */
export async function resolveWithin(
  tx: Tx,
  deps: Deps,
  {
    paymentId,
    action,
    reason,
    recipients,
  }: { paymentId: string; action: Resolution['action']; reason: string; recipients: ReadonlyMap<string, string> | undefined },
): Promise<void> {
  const payment = await lockPayment(tx, paymentId);
  if (payment === undefined) throw new ServiceError('not_found');
  const credits = await lockFunds(tx, payment, ACCOUNTS[action]);
  const facts = factsOf(credits);
  const record = { reason, ...(recipients !== undefined && { recipients: Object.fromEntries(recipients) }) };
  const result = await advance(tx, 'aml', {
    id: paymentId,
    event: EVENTS[action],
    actor: 'operator',
    facts: () => ({ facts, record }),
    effects: {
      clear: () => changePool(tx, deps, payment, { credits, to: 'green', why: 'released' }),
      withhold: () =>
        withholdCredits(
          tx,
          credits.filter((credit) => credit.taken === null),
          `payment:${paymentId}`,
        ),
      order: async () => {
        if (recipients === undefined || credits.some((credit) => !recipients.has(credit.assetId)))
          throw new ServiceError('conflict', { message: 'A further deposit was credited just now; try again.' });
        await placeRefunds(tx, deps, payment, { credits, recipients, reason });
      },
    },
    orConflict: (status) => {
      throw new ServiceError('conflict', { message: whyNot(action, status, facts) });
    },
  });
  await insertOperatorAction(tx, deps.operator, {
    action: `payment.${action.toLowerCase()}`,
    target: paymentId,
    reason,
    details: { from: result.from, to: result.to },
  });
}

/** Checks the address on every chain the payment has coins on; answers its canonical form by asset. */
async function readRecipients(deps: Deps, credits: readonly PaymentCredit[], address: unknown): Promise<Map<string, string>> {
  const recipients = new Map<string, string>();
  for (const assetId of new Set(credits.map((credit) => credit.assetId))) {
    const { asset, chain } = await readAsset(deps, assetId);
    recipients.set(assetId, (await readDestination(deps, asset, chain, address)).canonical);
  }
  return recipients;
}

function whyNot(action: Resolution['action'], status: AmlState, facts: AmlFacts): string {
  if (status === 'NONE') return 'Screening has not flagged this payment; only a held one can be resolved.';
  if (status !== 'HELD') return `The payment is ${status} already; only a held one can be resolved.`;
  if (facts.refunding) return 'A refund of this payment is on its way.';
  if (action !== 'WITHHOLD' && facts.unscreened) return 'A deposit of this payment still waits for its verdict.';
  if (facts.touched) return 'A cashout has drawn from this payment or has reserved some of it; it can no longer be refunded.';
  return 'Nothing of this payment is left to be paid back.';
}
