import type { Sighting, Transfer } from './chain-events.ts';
import { type Coins, fromUnits } from './money.ts';
import { POLICY } from './policy.ts';

/** Many transfers of one asset to one address in one block, as one: named after its first part, with the amount of all. */
export interface TransferSum {
  transfer: Transfer;
  /** In chain order; at least two. */
  parts: Transfer[];
}

/** What has to be known before transfers may be taken together. */
export interface FoldFacts {
  /** By recipient and contract of a transfer, `address contract` (`native` for the coin): where it is one of ours and the asset is configured. */
  places: ReadonlyMap<string, FoldPlace>;
  /** Names, by `nameOfTransfer`, of transfers that are stored by themselves already. */
  stored: ReadonlySet<string>;
  /** Addresses of ours among the senders, cold storage too, and transactions we signed. */
  ownSenders: ReadonlySet<string>;
  ownTxids: ReadonlySet<string>;
}

export interface FoldPlace {
  decimals: number;
  /** Less than this is dust at a deposit address; null at a wallet, where every unit counts. */
  dustFloor: Coins | null;
}

/** Nothing that exists has more units; what claims to have is looked at by itself. */
const BELIEVABLE = 10n ** 50n;

/** What names a transfer wherever it is mined. */
export function nameOfTransfer({ txid, kind, ordinal }: { txid: string; kind: string; ordinal: number }): string {
  return `${txid} ${kind} ${ordinal}`;
}

/** What names where a transfer goes. */
export function placeOfTransfer({ recipient, contract }: { recipient: string | null; contract: string | null }): string {
  return `${recipient} ${contract ?? 'native'}`;
}

/** The transfers that are so many to one place of one block that they may be taken together; what is an output of a transaction is never among them. Pure. */
export function crowds(sightings: readonly Sighting[]): Transfer[][] {
  const groups = new Map<string, Transfer[]>();
  for (const one of sightings) {
    if (one.kind === 'sent' || one.coSenders !== undefined || one.coinbase !== undefined || one.unproven !== undefined || one.rawAmount === '0') continue;
    const key = `${one.kind} ${one.blockHash} ${placeOfTransfer(one)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].filter((group) => group.length > POLICY.transfersAlone);
}

/**
 * Takes crowds together as far as nothing is judged otherwise by it (decisions 3, decision 0030). What is no dust counts as one anyway, and is
 * summed by sender, because screening asks about each of them. Dust stays what it is: a sum of it is itself below the floor. What moves
 * by our own doing, and what is stored by itself already, stays alone. Pure.
 */
export function foldTransfers(groups: readonly Transfer[][], facts: FoldFacts): TransferSum[] {
  return groups.flatMap((group) => {
    const place = facts.places.get(placeOfTransfer(group[0] as Transfer));
    if (place === undefined) return [];
    const free = group.filter(
      (one) =>
        !facts.stored.has(nameOfTransfer(one)) && !facts.ownSenders.has(one.sender) && !facts.ownTxids.has(one.txid) && BigInt(one.rawAmount) < BELIEVABLE,
    );
    if (free.length <= POLICY.transfersAlone) return [];
    const inOrder = free.toSorted((a, b) => a.position - b.position || a.ordinal - b.ordinal);
    const { dustFloor, decimals } = place;
    if (dustFloor === null) return [sumOf(inOrder)];
    const isDust = (rawAmount: bigint): boolean => fromUnits(rawAmount, decimals) < dustFloor;
    const [dust, whole]: [Transfer[], Map<string, Transfer[]>] = [[], new Map()];
    for (const one of inOrder) {
      if (isDust(BigInt(one.rawAmount))) dust.push(one);
      else if (whole.get(one.sender)?.push(one) === undefined) whole.set(one.sender, [one]);
    }
    return [...[...whole.values()].filter((parts) => parts.length > POLICY.transfersAlone), ...heapsOf(dust, isDust)].map(sumOf);
  });
}

/** Dust in as few heaps as are dust themselves, in order; what would be a heap by itself is none. */
function heapsOf(dust: readonly Transfer[], isDust: (rawAmount: bigint) => boolean): Transfer[][] {
  const heaps: Transfer[][] = [];
  let total = 0n;
  for (const one of dust) {
    const heap = heaps.at(-1);
    total += BigInt(one.rawAmount);
    if (heap !== undefined && isDust(total)) heap.push(one);
    else {
      heaps.push([one]);
      total = BigInt(one.rawAmount);
    }
  }
  return heaps.filter((heap) => heap.length > 1);
}

function sumOf(parts: Transfer[]): TransferSum {
  const total = parts.reduce((sum, one) => sum + BigInt(one.rawAmount), 0n);
  return { transfer: { ...(parts[0] as Transfer), rawAmount: total.toString() }, parts };
}
