import type { Deps } from '#api/deps.ts';
import { listRefundDetails, type RefundDetail } from '#api/store/aml.ts';

/** The refunds of a payment as the operator sees them, their addresses written the way people of their network write them. */
export async function refundViews(deps: Deps, paymentId: string): Promise<RefundDetail[]> {
  const refunds = await listRefundDetails(deps.db.sql, paymentId);
  return refunds.map((refund) => ({ ...refund, address: deps.chains.get(refund.network)?.codec.display(refund.address) ?? refund.address }));
}
