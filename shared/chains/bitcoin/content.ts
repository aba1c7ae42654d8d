import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import { inTurns, type Steps } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import type { BlockContent, BlockRef, WatchSet } from '../chain.ts';
import type { BitcoinParams } from './params.ts';
import { type Block, type Transaction, unsure } from './replies.ts';
import { ownerOfScript } from './script.ts';
import type { RawOutput } from './raw-transaction.ts';
import { crossCheckAmounts, crossCheckSpends, feeOf } from './prevouts.ts';

/** How the script of a P2WPKH output begins, in digits and in bytes, and how long it is. */
const P2WPKH = '0014';
const P2WPKH_PUSH = 2;
const P2WPKH_DIGITS = 44;

/** A movement of coins, wherever it is. */
export type Flow = Omit<Transfer, 'height' | 'blockHash' | 'position' | 'time'>;

/** How the books name the payer of coins that a block made. */
export const COINBASE = 'coinbase';

/**
 * What happened to watched addresses in one block. A payment is an output to one of them; a transaction that spends an output
 * of theirs is one they sent, with all of its outputs. Outputs are matched by their scripts, whatever text a node prints.
 */
export async function contentOf(block: Block, params: BitcoinParams, watched: WatchSet): Promise<BlockContent> {
  const found: Movements[] = [];
  for (const [position, transaction] of block.transactions.entries()) {
    found.push(await inTurns(movementsOf(block, transaction, position, params, watched), breathe));
    await breathe();
  }
  return gathered(block, found);
}

/** The content of a block, of what its transactions did in their order. */
export function gathered(block: BlockRef, found: readonly Movements[]): BlockContent {
  const transfers: Transfer[] = [];
  const sent: SentTransaction[] = [];
  for (const one of found) {
    // One by one: a transaction can have more outputs than a function takes arguments.
    for (const transfer of one.transfers) transfers.push(transfer);
    if (one.sent !== undefined) sent.push(one.sent);
  }
  return { block: refOf(block), transfers, sent };
}

/** What one transaction did to watched addresses; `sent` when it is one of theirs. */
export interface Movements {
  transfers: Transfer[];
  sent?: SentTransaction;
}

/**
 * What one transaction of a block did to watched addresses, once what it is said to spend is what it can spend; of a stranger's
 * transaction it is enough that no coins of ours are hidden in it.
 */
export function* movementsOf(block: BlockRef, transaction: Transaction, position: number, params: BitcoinParams, watched: WatchSet): Steps<Movements> {
  const { flows, spent } = flowsOf(transaction, params, watched);
  yield* crossCheckSpends(transaction, flows.length + spent.length > 0 ? 'all' : 'keys');
  const place = { txid: transaction.txid, height: block.height, blockHash: block.hash, position, time: block.time };
  const transfers = flows.map((flow): Transfer => ({ ...flow, ...place }));
  const [first] = spent;
  if (first === undefined) return { transfers };
  const { inputs, prevouts } = transaction;
  crossCheckAmounts(transaction, spent);
  const spends = spent.map((at) => ({ txid: inputs[at]?.txid as string, vout: inputs[at]?.vout as number }));
  const sender = ownerOfScript(prevouts[first]?.script as string, params);
  return { transfers, sent: { kind: 'sent', ...place, sender, nonce: null, spends, succeeded: true, rawFee: feeOf(transaction).toString() } };
}

/**
 * The outputs of a transaction that concern watched addresses, wherever it stands, and which of its inputs are theirs: all
 * outputs when any is, else those to watched addresses.
 */
export function flowsOf(transaction: Transaction, params: BitcoinParams, watched: WatchSet): { flows: Flow[]; spent: number[] } {
  const { bytes, txid, outputs, prevouts, coinbase } = transaction;
  const owners = prevouts.map(({ script }) => ownerOfScript(script, params));
  const spent = owners.flatMap((owner, at) => (watched.has(owner) ? [at] : []));
  const concerns = ({ script, scriptAt }: RawOutput): boolean =>
    watched.hasKey === undefined
      ? watched.has(ownerOfScript(script, params))
      : script.length === P2WPKH_DIGITS && script.startsWith(P2WPKH) && watched.hasKey(bytes, scriptAt + P2WPKH_PUSH);
  const found: { ordinal: number; recipient: string; rawAmount: bigint }[] = [];
  for (const [ordinal, output] of outputs.entries())
    if (spent.length > 0 || concerns(output)) found.push({ ordinal, recipient: ownerOfScript(output.script, params), rawAmount: output.rawAmount });
  if (found.length === 0) return { flows: [], spent };
  const sender = coinbase ? COINBASE : (owners[spent[0] ?? 0] ?? unsure(`transaction ${txid} spends nothing`));
  const coSenders = [...new Set(owners)].filter((owner) => owner !== sender);
  const payers = { sender, ...(coSenders.length === 0 ? {} : { coSenders }), ...(coinbase ? { coinbase: true as const } : {}) };
  const flows = found.flatMap(({ ordinal, recipient, rawAmount }): Flow[] =>
    rawAmount === 0n ? [] : [{ kind: 'native', txid, ordinal, ...payers, recipient, contract: null, rawAmount: rawAmount.toString() }],
  );
  return { flows, spent };
}

/** A header as far as following the chain needs it. */
export function refOf({ height, hash, parentHash, time }: BlockRef): BlockRef {
  return { height, hash, parentHash, time };
}
