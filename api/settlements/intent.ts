import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type Coins, formatAmount } from '#shared/core/money.ts';

/** What a claimed cashout promises: who pays whom how much of what, from which pool. */
export interface Intent {
  settlementId: string;
  gatewayId: string;
  assetId: string;
  networkId: string;
  /** Destination, canonical. */
  recipient: string;
  pool: 'green' | 'held';
  amount: Coins;
  feeLocked: Coins;
}

/**
 * Authenticates a claim with a key the database does not hold, so that whoever can write rows still cannot redirect a
 * cashout (reliability D15). Made when the amount is claimed, checked by the signer.
 */
export function intentMac(masterKey: string, i: Intent): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'settlement intents, version 1', 32));
  const said = [i.settlementId, i.gatewayId, i.assetId, i.networkId, i.recipient, i.pool, formatAmount(i.amount), formatAmount(i.feeLocked)];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}

/** Whether a stored MAC is the one this claim was given. */
export function isIntended(masterKey: string, intent: Intent, mac: Uint8Array | null): boolean {
  const expected = intentMac(masterKey, intent);
  return mac !== null && mac.length === expected.length && timingSafeEqual(expected, mac);
}
