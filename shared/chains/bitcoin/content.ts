import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import { breathe } from '../breathe.ts';
import type { BlockContent, BlockRef, WatchSet } from '../chain.ts';
import type { BitcoinParams } from './params.ts';
import { type Block, type Header, type Transaction, unsure } from './replies.ts';
import { ownerOfScript } from './script.ts';
import { crossCheckAmounts, crossCheckSpends, feeOf } from './prevouts.ts';

/** A movement of coins, wherever it is. */
export type Flow = Omit<Transfer, 'height' | 'blockHash' | 'position' | 'time'>;

/** How the books name the payer of coins that a block made. */
export const COINBASE = 'coinbase';

/**
 * What happened to watched addresses in one block. A payment is an output to one of them; a transaction that spends an output
 * of theirs is one they sent, with all of its outputs. Outputs are matched by their scripts, whatever text a node prints.
 */
export async function contentOf(block: Block, params: BitcoinParams, watched: WatchSet): Promise<BlockContent> {
  const transfers: Transfer[] = [];
  const sent: SentTransaction[] = [];
  for (const [position, transaction] of block.transactions.entries()) {
    const found = movementsOf(block, transaction, position, params, watched);
    // One by one: a transaction can have more outputs than a function takes arguments.
    for (const transfer of found.transfers) transfers.push(transfer);
    if (found.sent !== undefined) sent.push(found.sent);
    await breathe();
  }
  return { block: refOf(block), transfers, sent };
}

/**
 * What one transaction of a block did to watched addresses, once what it is said to spend is what it can spend; of a stranger's
 * transaction it is enough that no coins of ours are hidden in it.
 */
export function movementsOf(
  block: Header,
  transaction: Transaction,
  position: number,
  params: BitcoinParams,
  watched: WatchSet,
): { transfers: Transfer[]; sent?: SentTransaction } {
  const { flows, spent } = flowsOf(transaction, params, watched);
  crossCheckSpends(transaction, flows.length + spent.length > 0 ? 'all' : 'keys');
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
  const { txid, outputs, prevouts, coinbase } = transaction;
  const owners = prevouts.map(({ script }) => ownerOfScript(script, params));
  const spent = owners.flatMap((owner, at) => (watched.has(owner) ? [at] : []));
  const recipients = outputs.map(({ script }) => ownerOfScript(script, params));
  if (spent.length === 0 && !recipients.some((recipient) => watched.has(recipient))) return { flows: [], spent };
  const sender = coinbase ? COINBASE : (owners[spent[0] ?? 0] ?? unsure(`transaction ${txid} spends nothing`));
  const coSenders = [...new Set(owners)].filter((owner) => owner !== sender);
  const payers = { sender, ...(coSenders.length === 0 ? {} : { coSenders }), ...(coinbase ? { coinbase: true as const } : {}) };
  const flows = outputs.flatMap(({ rawAmount }, ordinal): Flow[] => {
    const recipient = recipients[ordinal] as string;
    if (rawAmount === 0n || (spent.length === 0 && !watched.has(recipient))) return [];
    return [{ kind: 'native', txid, ordinal, ...payers, recipient, contract: null, rawAmount: rawAmount.toString() }];
  });
  return { flows, spent };
}

/** A header as far as following the chain needs it. */
export function refOf({ height, hash, parentHash, time }: Header): BlockRef {
  return { height, hash, parentHash, time };
}
