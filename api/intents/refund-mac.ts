import { createHmac, hkdfSync } from 'node:crypto';
import type { StoredRefund } from '#api/store/aml.ts';
import { formatAmount } from '#shared/core/money.ts';

type Ordered = Pick<StoredRefund, 'id' | 'paymentId' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount'>;

/** Authenticates an ordered refund with a key the database does not hold, for a signer of the release before this one (decision 0036). */
export function refundMac(masterKey: string, r: Ordered): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'refund orders, version 1', 32));
  const said = [r.id, r.paymentId, r.gatewayId, r.assetId, r.networkId, r.recipient, formatAmount(r.amount)];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}
