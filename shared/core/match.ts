import type { Sighting, SentTransaction, Transfer } from './chain-events.ts';

/** Answers whether an address, in canonical form, is watched. */
export interface Watched {
  has(address: string): boolean;
}

/**
 * Keeps what concerns us: transfers with a watched address at either end, and transactions a watched address signed
 * (architecture 3.2). Zero-value transfers are noise anyone can make and are left out (decisions 3). Pure; order is kept.
 */
export function match(found: { transfers: readonly Transfer[]; sent: readonly SentTransaction[] }, watched: Watched): Sighting[] {
  const transfers = found.transfers.filter((t) => t.rawAmount !== '0' && (watched.has(t.recipient) || watched.has(t.sender)));
  return [...transfers, ...found.sent.filter((s) => watched.has(s.sender))];
}

/**
 * Leaves out the tokens nobody configured; `configured` are the contracts that were. Anybody can deploy a contract that logs
 * transfers to our addresses without end, and none of them is in any books. Pure; order is kept.
 */
export function withoutStrangeTokens(sightings: readonly Sighting[], configured: ReadonlySet<string>): Sighting[] {
  return sightings.filter((sighting) => sighting.kind !== 'token' || (sighting.contract !== null && configured.has(sighting.contract)));
}
