import type { Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { reverseAccrual } from '#api/store/charges.ts';
import { advance } from '#api/store/advance.ts';
import { endRefund } from '#api/store/aml.ts';
import { listPaymentCredits, setTaken } from '#api/store/credits.ts';
import { Invariant } from '#shared/core/errors.ts';
import { amount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { payRefund } from '#state-machines/ledger/postings.ts';
import { factsOf } from './funds.ts';
import { idsOf, lockRefund } from './lock-refund.ts';

/**
 * Books a refund whose payout is final: the coins have left, the commission is reversed, and the payment reads REFUNDED once
 * nothing else of it is held (decisions 10). Calling it again changes nothing. Locks the payment, its credits, the ledger.
 */
export async function completeRefund(tx: Tx, deps: Pick<Deps, 'log'>, { refundId, txid }: { refundId: string; txid: string }): Promise<void> {
  const { payment, refund, parts } = await lockRefund(tx, refundId, { gateway: ['refunding'], system: ['chain', 'commission', 'platformExpense'] });
  if (!(await endRefund(tx, refundId, { txid }))) {
    if (refund.status === 'paid') return;
    throw new Invariant(`refund ${refundId} was paid by ${txid} although it is ${refund.status}`);
  }
  await setTaken(tx, idsOf(parts), 'refunded');
  // What came out of the deposit is in the amount already; what the platform bore is the platform's again.
  const borne = payment.commissionFeePayer === 'PLATFORM' ? parts : [];
  const facts = factsOf(await listPaymentCredits(tx, payment.id));
  const result = await advance(tx, 'aml', {
    id: payment.id,
    event: 'REFUND_PAID',
    actor: 'chain',
    facts: () => ({ facts, record: { refundId, txid } }),
    effects: {
      pay: async () => {
        await post(tx, {
          sourceKey: `refund:${refundId}:pay`,
          kind: 'refund',
          postings: payRefund({
            gatewayId: refund.gatewayId,
            assetId: refund.assetId,
            amount: refund.amount,
            platformCommission: amount(borne.reduce((sum, part) => sum + part.commission, 0n)),
          }),
        });
        for (const part of borne) await reverseAccrual(tx, { creditId: part.creditId, coins: part.commission });
      },
    },
  });
  crashPoint('aml.refund-completed');
  deps.log.info({ paymentId: payment.id, refundId, txid, amlState: result.to }, 'a refund is paid');
}
