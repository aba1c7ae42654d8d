import type { Sighting, SentTransaction, Transfer } from './chain-events.ts';
import { atOnce, type Steps } from './turns.ts';

/** Answers whether an address, in canonical form, is watched. */
export interface Watched {
  has(address: string): boolean;
}

/** What happened in a block. */
interface Found {
  transfers: readonly Transfer[];
  sent: readonly SentTransaction[];
}

/**
 * Keeps what concerns us: transfers with a watched address at either end, and transactions a watched address signed
 * (architecture 3.2). Zero-value transfers are noise anyone can make and are left out (decisions 3). Pure; order is kept.
 */
export function match(found: Found, watched: Watched): Sighting[] {
  return atOnce(matching([found], watched));
}

/** The same of several blocks, in steps. */
export function* matching(blocks: readonly Found[], watched: Watched): Steps<Sighting[]> {
  const sightings: Sighting[] = [];
  for (const { transfers, sent } of blocks) {
    for (const one of transfers) {
      if (one.rawAmount !== '0' && (watched.has(one.recipient) || watched.has(one.sender))) sightings.push(one);
      yield;
    }
    for (const one of sent) if (watched.has(one.sender)) sightings.push(one);
    yield;
  }
  return sightings;
}

/**
 * Leaves out the tokens nobody configured; `configured` are the contracts that were. Anybody can deploy a contract that logs
 * transfers to our addresses without end, and none of them is in any books. Pure; order is kept.
 */
export function withoutStrangeTokens(sightings: readonly Sighting[], configured: ReadonlySet<string>): Sighting[] {
  return sightings.filter((sighting) => sighting.kind !== 'token' || (sighting.contract !== null && configured.has(sighting.contract)));
}

/** How many payers these name beside the first, anew with each transfer that names them. Pure. */
export function payersNamed(sightings: readonly { coSenders?: string[] }[]): number {
  return sightings.reduce((sum, { coSenders = [] }) => sum + coSenders.length, 0);
}

/**
 * Names `most` payers or fewer beside the first, the same share with each transfer and at least one, for where all of them would
 * be more than a message carries: a transaction may have hundreds of payers and thousands of outputs to our addresses. Pure.
 */
export function withFewerPayers<T extends { coSenders?: string[] }>(transfers: readonly T[], most: number): T[] {
  const share = Math.max(1, Math.floor(most / transfers.length));
  return transfers.map((one) => (one.coSenders === undefined || one.coSenders.length <= share ? one : { ...one, coSenders: one.coSenders.slice(0, share) }));
}
