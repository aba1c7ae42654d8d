import { createHmac, hkdfSync } from 'node:crypto';
import { type Coins, formatAmount } from '#shared/core/money.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';
import type { Route } from '#state-machines/settlement/settlement.ts';

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
 * Authenticates a claim with a key the database does not hold, for a signer of the release before this one. Ours believes what the http role said it
 * accepted (decision 0036); this proves only, while an upgrade goes on, that an order from before it was made by that release.
 */
export function intentMac(masterKey: string, i: Intent): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'settlement intents, version 1', 32));
  const said = [i.settlementId, i.gatewayId, i.assetId, i.networkId, i.recipient, i.pool, formatAmount(i.amount), formatAmount(i.feeLocked)];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}

/** What a parked cashout asks for; its pool is null until a verdict chose one. */
export type Order = Omit<Intent, 'pool' | 'feeLocked'> & { route: Route; pool: Intent['pool'] | null };

/**
 * The same of what a cashout that claims nothing yet was parked with. Made when it is parked and when its pool is chosen, which may be a worker's doing
 * (a verdict about a SMART one) and so nothing the http role could say: its claim asks for it beside what was accepted.
 */
export function orderMac(masterKey: string, o: Order): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'parked cashouts, version 1', 32));
  const said = [o.settlementId, o.gatewayId, o.assetId, o.networkId, o.recipient, o.route, o.pool ?? '', formatAmount(o.amount)];
  return createHmac('sha256', key).update(said.join('\n')).digest();
}

/** Whether a stored MAC is the one this parked cashout was given, under any of the keys. */
export function isOrdered(keys: KeyRing, order: Order, mac: Uint8Array | null): boolean {
  return isMacOf(keys, mac, (key) => orderMac(key, order));
}
