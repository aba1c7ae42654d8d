import { createHmac, hkdfSync } from 'node:crypto';
import type { WithheldTransfer } from '#api/store/withheld-transfers.ts';
import { formatAmount } from '#shared/core/money.ts';

type Ordered = Pick<WithheldTransfer, 'id' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount' | 'proposedBy' | 'confirmedBy'>;

/** Authenticates an ordered transfer of withheld coins with a key the database does not hold, for a signer of the release before this one (decision 0036). */
export function withheldMac(masterKey: string, t: Ordered): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'withheld transfers, version 1', 32));
  const said = [t.id, t.gatewayId, t.assetId, t.networkId, t.recipient, formatAmount(t.amount), t.proposedBy, t.confirmedBy];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}
