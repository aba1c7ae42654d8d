import type { Chain, Deps } from '#api/deps.ts';
import { type ChainTip, readTip } from '#api/store/chain-blocks.ts';
import { listContracts } from '#api/store/assets.ts';
import { listOpenDeposits } from '#api/store/deposits.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { heightsOf } from '#shared/core/finality.ts';
import { nameOfTransfer } from '#shared/core/fold-transfers.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import { type Batch, highestFinal } from './deposit-batch.ts';

/** What a network's node says beyond our tip, while its indexer is stopped or behind. */
export interface Ahead {
  /** The tip as it would be if everything up to the node's head were applied. */
  tip: ChainTip;
  /** Hashes of the blocks that were found on the node's main chain. By this tip nothing in any other block is final. */
  blocks: ReadonlySet<string>;
  /** All transfers of the block to the payment's addresses, because they are judged together (decisions 3). */
  transfers: Transfer[];
}

/** What was read beyond the tips, by the id of the network. */
export type AheadOf = ReadonlyMap<string, Ahead>;
export const NOTHING_AHEAD: AheadOf = new Map();

/** The tip that judges a batch that was read beyond the stored tip; undefined for every other batch. */
export function tipFor(ahead: AheadOf, { first }: Batch): ChainTip | undefined {
  const read = ahead.get(first.networkId);
  return read?.blocks.has(first.blockHash) === true ? read.tip : undefined;
}

/** A node is asked about at most this many blocks of one payment. With deposits in more blocks the payment waits for the indexer. */
const MOST_BLOCKS = 20;

/** Transfers to a payment, and the block that holds them. */
interface Found {
  chain: Chain;
  height: number;
  blockHash: string;
  transfers: readonly Transfer[];
}

/**
 * Reads a block beyond the stored tip for an inquiry, with every check that the indexer makes. Undefined when the tip has already reached the
 * node's head, when the block is not final for any value, or when deposits lie in more than MOST_BLOCKS blocks.
 * The payment's other open deposits are checked against the same chain, because the first to become final decides. Asks over the network; call it
 * before anything is locked.
 * @throws ChainUnavailable
 */
export async function readAhead(
  deps: Deps,
  { chain, height, blockHash, transfers }: Found,
  paymentId: string,
  addresses: ReadonlySet<string>,
): Promise<Ahead | undefined> {
  const stored = await readTip(deps.db.sql, chain.id);
  if (stored === undefined) return undefined;
  const head = await chain.reader.head();
  if (head.latest.height <= stored.height) return undefined;
  const heights = heightsOf(chain.config.finality, head);
  const tip: ChainTip = { ...stored, ...heights, finalHeight: Math.max(stored.finalHeight, heights.finalHeight), headHeight: heights.height };
  if (height > highestFinal(chain.config.finality, tip)) return undefined;
  const open = (await listOpenDeposits(deps.db.sql, paymentId)).filter((one) => one.networkId === chain.id && !isDust(one.amount, one.dustFloor));
  const places = new Map(open.map((one) => [one.height, one.blockHash]));
  if (places.size > MOST_BLOCKS) return undefined;
  const [{ block, transfers: besides }, contracts] = await Promise.all([chain.reader.block(blockHash, addresses), listContracts(deps.db.sql, chain.id)]);
  if (block.height !== height) throw new ChainUnavailable(`block ${blockHash} was at height ${height} a moment ago, and is at ${block.height}`);
  const known = new Set(transfers.map(nameOfTransfer));
  const others = besides.filter(
    (one) => addresses.has(one.recipient) && BigInt(one.rawAmount) > 0n && contracts.has(one.contract) && !known.has(nameOfTransfer(one)),
  );
  const sure = await Promise.all([...places].map(async ([at, hash]) => ((await chain.reader.blockAt(at)).hash === hash ? hash : undefined)));
  return { tip, blocks: new Set([blockHash, ...sure.filter((hash) => hash !== undefined)]), transfers: [...transfers, ...others] };
}
