import type { Sighting, Transfer } from './chain-events.ts';

/** What says which movement inside a transaction a transfer is. */
export type Movement = Pick<Transfer, 'blockHash' | 'txid' | 'ordinal' | 'recipient' | 'rawAmount'>;

/**
 * Sightings of a block that was read before, without the internal transfers of transactions whose places they count otherwise
 * than the first reading did: taken as well, they would be the same coins a second time under another name. `stored` are
 * internal transfers of these transactions, as first read. Pure.
 */
export function withoutRecounted(fresh: readonly Sighting[], stored: readonly Movement[]): { kept: readonly Sighting[]; recounted: string[] } {
  const told = new Set(fresh.flatMap((one) => (one.kind === 'internal' ? [nameOf(one)] : [])));
  // Who was watched may differ between two readings; both name everything that one and the same recipient got.
  const recipients = new Set(fresh.flatMap((one) => (one.kind === 'internal' ? [recipientOf(one)] : [])));
  const recounted = new Set(stored.filter((one) => recipients.has(recipientOf(one)) && !told.has(nameOf(one))).map((one) => one.txid));
  return { kept: fresh.filter((one) => one.kind !== 'internal' || !recounted.has(one.txid)), recounted: [...recounted] };
}

function recipientOf({ blockHash, txid, recipient }: Movement): string {
  return `${blockHash} ${txid} ${recipient}`;
}

function nameOf(movement: Movement): string {
  return `${recipientOf(movement)} ${movement.ordinal} ${movement.rawAmount}`;
}
