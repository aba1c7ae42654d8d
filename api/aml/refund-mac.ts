import { createHmac, hkdfSync } from 'node:crypto';
import type { StoredRefund } from '#api/store/aml-refunds.ts';
import { formatAmount } from '#shared/core/money.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';

type Ordered = Pick<StoredRefund, 'id' | 'paymentId' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount'>;

/**
 * Authenticates an ordered refund with a key the database does not hold, so that whoever can write rows still cannot send
 * held coins anywhere (reliability D15). Made when it is ordered, checked by the signer.
 */
export function refundMac(masterKey: string, r: Ordered): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'refund orders, version 1', 32));
  const said = [r.id, r.paymentId, r.gatewayId, r.assetId, r.networkId, r.recipient, formatAmount(r.amount)];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}

/** Whether a refund carries the MAC it was ordered with, under any of the keys. */
export function isOrderedRefund(keys: KeyRing, refund: StoredRefund): boolean {
  return isMacOf(keys, refund.intentMac, (key) => refundMac(key, refund));
}
