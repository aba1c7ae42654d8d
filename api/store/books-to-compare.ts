import type { Reads } from '#shared/platform/postgres.ts';
import {
  type BalanceRow,
  type BookedAsset,
  type BookedBalance,
  type BookedRow,
  bookedAsset,
  bookedBalances,
  fromBalance,
  fromBooked,
  fromOutput,
  type HeldOutput,
  heldOutputs,
  type OutputRow,
} from './holdings.ts';
import { type AskedAtMost, fromLook, type Look, type LookRow, looks } from './kept-readings.ts';
import { fromStored, type Reconciliation, type StoredReconciliation, storedReconciliation } from './reconciliations.ts';

/** What is needed of a network where coins are balances to compare it in turn: all of one moment. */
export interface BooksToCompare {
  books: BookedBalance[];
  /** Which addresses to ask about, by asset; none of an asset that was never looked at as a whole, or whose opening balances are not booked. */
  looks: ReadonlyMap<string, Look>;
  /** The last comparison of each asset that was compared before. */
  earlier: ReadonlyMap<string, Reconciliation>;
}

/** Reads it by one statement, which is a snapshot by itself; of each asset at most so many addresses as `most` says. Locks nothing. */
export async function readBooksToCompare(reads: Reads, networkId: string, most: AskedAtMost): Promise<BooksToCompare> {
  const of: ReturnType<Reads> = reads`select b."assetId" as id, b."finalHeight" as final_height from booked b where b.opened`;
  const rows = await reads<(BalanceRow & { look: LookRow | null; earlier: StoredReconciliation | null })[]>`
    with booked as materialized (${bookedBalances(reads, networkId)}),
    looked as materialized (${looks(reads, { networkId, of, most })})
    select b.*, (select to_json(l) from looked l where l.asset_id = b."assetId") as look, ${storedReconciliation(reads, reads`b."assetId"`)} as earlier
    from booked b order by b.symbol, b."assetId"`;
  return {
    books: rows.map(({ look: _look, earlier: _earlier, ...row }) => fromBalance(row)),
    looks: new Map(rows.flatMap(({ assetId, look }) => (look === null ? [] : [[assetId, fromLook(look, most)] as const]))),
    earlier: new Map(rows.flatMap(({ assetId, earlier }) => (earlier === null ? [] : [[assetId, fromStored(earlier)] as const]))),
  };
}

/** What is needed of a network where coins are outputs to compare it: the books of its own coin, its last comparison, and every output of ours. */
export interface OutputsToCompare {
  asset: BookedAsset;
  earlier: Reconciliation | undefined;
  outputs: HeldOutput[];
}

/** Reads it by one statement; undefined before the network's first block. Locks nothing. */
export async function readOutputsToCompare(reads: Reads, networkId: string): Promise<OutputsToCompare | undefined> {
  const [row] = await reads<(BookedRow & { earlier: StoredReconciliation | null; outputs: OutputRow[] })[]>`
    select ${bookedAsset(reads)}, ${storedReconciliation(reads, reads`a.id`)} as earlier,
      (select coalesce(json_agg(h order by h.txid, h.vout), '[]') from (${heldOutputs(reads, networkId)}) h) as outputs
    from assets a join chain_tips t on t.network_id = a.network_id where a.network_id = ${networkId} and a.contract is null`;
  if (row === undefined) return undefined;
  const { earlier, outputs, ...asset } = row;
  return { asset: fromBooked(asset), earlier: earlier === null ? undefined : fromStored(earlier), outputs: outputs.map(fromOutput) };
}
