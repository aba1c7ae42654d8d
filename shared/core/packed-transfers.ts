import type { Sighting, Transfer, TransferKind } from './chain-events.ts';
import { POLICY } from './policy.ts';
import type { Steps } from './turns.ts';

/** Transfers of one asset to one address in one block, as a message carries very many of them: nothing is left out, only said once. */
export interface Pack {
  kind: TransferKind;
  height: number;
  blockHash: string;
  time: number;
  recipient: string;
  contract: string | null;
  transactions: PackedTransaction[];
}

/** What one transaction has of them from one sender; amounts stand in the order of the ordinals. */
export interface PackedTransaction {
  txid: string;
  position: number;
  sender: string;
  ordinals: number[];
  rawAmounts: string[];
}

/**
 * Takes the transfers of one asset to one address in one block together where they are more than a message should list one by one, and any
 * two where all of them would be more than it carries (decision 0030); `alone` are all others, in their order. What has several payers, or cannot move yet, is never among them. Pure.
 */
export function* packTransfers(sightings: readonly Sighting[]): Steps<{ alone: Sighting[]; packs: Pack[] }> {
  if (sightings.length <= POLICY.transfersUnpacked) return { alone: [...sightings], packs: [] };
  const groups = new Map<string, Transfer[]>();
  for (const one of sightings) {
    if (isPlain(one)) {
      const key = `${one.kind} ${one.blockHash} ${one.height} ${one.time} ${one.recipient} ${one.contract}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [one]);
      else group.push(one);
    }
    yield;
  }
  const most = sightings.length > POLICY.sightingsUnpacked ? 1 : POLICY.transfersUnpacked;
  const many = [...groups.values()].filter((group) => group.length > most);
  const packed = new Set<Sighting>();
  const packs: Pack[] = [];
  for (const group of many) {
    packs.push(yield* packOf(group));
    for (const one of group) packed.add(one);
  }
  return { alone: sightings.filter((one) => !packed.has(one)), packs };
}

function isPlain(one: Sighting): one is Transfer {
  return one.kind !== 'sent' && one.coSenders === undefined && one.coinbase === undefined && one.unproven === undefined;
}

function* packOf(group: readonly Transfer[]): Steps<Pack> {
  const { kind, height, blockHash, time, recipient, contract } = group[0] as Transfer;
  const transactions = new Map<string, PackedTransaction>();
  for (const { txid, position, sender, ordinal, rawAmount } of group) {
    const key = `${txid} ${position} ${sender}`;
    const known = transactions.get(key);
    if (known === undefined) transactions.set(key, { txid, position, sender, ordinals: [ordinal], rawAmounts: [rawAmount] });
    else {
      known.ordinals.push(ordinal);
      known.rawAmounts.push(rawAmount);
    }
    yield;
  }
  return { kind, height, blockHash, time, recipient, contract, transactions: [...transactions.values()] };
}

/** The transfers again, each by itself. Pure. */
export function* unpackTransfers(packs: readonly Pack[]): Steps<Transfer[]> {
  const transfers: Transfer[] = [];
  for (const { transactions, ...common } of packs) {
    for (const { ordinals, rawAmounts, ...one } of transactions) {
      for (const [at, ordinal] of ordinals.entries()) transfers.push({ ...common, ...one, ordinal, rawAmount: rawAmounts[at] as string });
      yield;
    }
  }
  return transfers;
}
