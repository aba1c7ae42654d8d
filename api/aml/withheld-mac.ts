import { createHmac, hkdfSync } from 'node:crypto';
import type { WithheldTransfer } from '#api/store/withheld-transfers.ts';
import { formatAmount } from '#shared/core/money.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';

type Ordered = Pick<WithheldTransfer, 'id' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount' | 'proposedBy' | 'confirmedBy'>;

/**
 * Authenticates an ordered transfer of withheld coins with a key the database does not hold, so that a row alone moves none
 * (reliability D15). Made when the second person confirms it, checked by the signer.
 */
export function withheldMac(masterKey: string, t: Ordered): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'withheld transfers, version 1', 32));
  const said = [t.id, t.gatewayId, t.assetId, t.networkId, t.recipient, formatAmount(t.amount), t.proposedBy, t.confirmedBy];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}

/** Whether a transfer carries the MAC it was ordered with, under any of the keys. */
export function isOrderedTransfer(keys: KeyRing, transfer: WithheldTransfer): boolean {
  return isMacOf(keys, transfer.intentMac, (key) => withheldMac(key, transfer));
}
