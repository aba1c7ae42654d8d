import type { Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { advance } from '#api/store/advance.ts';
import { endRefund } from '#api/store/aml.ts';
import { listPaymentCredits, setTaken } from '#api/store/credits.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { sharesOf } from '#state-machines/aml/shares.ts';
import { cancelRefund } from '#state-machines/ledger/postings.ts';
import { factsOf } from './funds.ts';
import { idsOf, lockRefund } from './lock-refund.ts';
import { commissionPaid } from './place-refunds.ts';

/**
 * Takes a refund back that cannot be paid: everything is as before it was ordered, and the operator decides anew. The caller
 * knows that no transaction of it can still take effect. Calling it again changes nothing. Locks like `completeRefund`.
 */
export async function failRefund(tx: Tx, deps: Pick<Deps, 'log'>, { refundId, reason }: { refundId: string; reason: string }): Promise<void> {
  const { payment, refund, parts, credits } = await lockRefund(tx, refundId, { gateway: ['refunding'], system: ['commission'] });
  if (!(await endRefund(tx, refundId, { failure: reason }))) return;
  await setTaken(tx, idsOf(parts), null);
  const { gatewayId, assetId } = refund;
  const share = sharesOf(credits.filter((credit) => idsOf(parts).includes(credit.id))).get(assetId);
  if (share === undefined) throw new Invariant(`refund ${refundId} is made of nothing`);
  const facts = factsOf(await listPaymentCredits(tx, payment.id));
  await advance(tx, 'aml', {
    id: payment.id,
    event: 'REFUND_FAILED',
    actor: 'chain',
    facts: () => ({ facts, record: { refundId, reason } }),
    effects: {
      giveBack: () =>
        post(tx, {
          sourceKey: `refund:${refundId}:cancel`,
          kind: 'refund-cancel',
          postings: cancelRefund({ gatewayId, assetId, ...share, commission: commissionPaid(payment, parts) }),
        }),
    },
  });
  deps.log.error({ paymentId: payment.id, refundId, reason }, 'a refund cannot be paid: its payment is held again and an operator must decide');
}
