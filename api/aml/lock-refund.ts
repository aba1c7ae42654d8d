import { findRefund, listRefundedCredits, type RefundedCredit, type StoredRefund } from '#api/store/aml.ts';
import type { PaymentCredit } from '#api/store/credits.ts';
import { lockPayment, type Payment } from '#api/store/payments.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { lockFunds, type MoreAccounts } from './funds.ts';

/**
 * Reads a refund with its payment and everything that payment credited, all locked until commit. Locks the payment, then its
 * funds as `lockFunds` says, with the accounts of `more`.
 * @throws Invariant when there is no such refund
 */
export async function lockRefund(
  tx: Tx,
  refundId: string,
  more: MoreAccounts,
): Promise<{ payment: Payment; refund: StoredRefund; parts: RefundedCredit[]; credits: PaymentCredit[] }> {
  const found = await findRefund(tx, refundId);
  const payment = found && (await lockPayment(tx, found.paymentId));
  if (payment === undefined) throw new Invariant(`refund ${refundId} does not exist`);
  const credits = await lockFunds(tx, payment, more);
  // Read again under the payment's lock: another worker may have ended it.
  return { payment, credits, refund: (await findRefund(tx, refundId)) as StoredRefund, parts: await listRefundedCredits(tx, refundId) };
}

/** The credits a refund is made of. */
export function idsOf(parts: readonly RefundedCredit[]): string[] {
  return parts.map((part) => part.creditId);
}
