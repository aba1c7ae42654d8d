import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import { ChainUnavailable, type TransactionFacts, type WatchSet } from '../chain.ts';
import { type Blocks, refusalOf } from './blocks.ts';
import { movementsOf } from './content.ts';
import type { BitcoinParams } from './params.ts';
import { readHash, readInteger, readObject, readTransaction, unsure } from './replies.ts';

const EVERYTHING: WatchSet = { has: () => true };
const UNKNOWN = -5;
/** What a node with an index of all transactions, read to its tip, says of one that does not exist. */
const INDEXED = /no such mempool or blockchain transaction/i;
/** Outputs looked at for one that is unspent still: it tells the block of its transaction. */
const OUTPUTS_TRIED = 32;

/**
 * Looks up one transaction: waiting, or in a block, whose bytes then prove all of it. A node without an index of all
 * transactions (-txindex=1) still finds those that wait, those in a block that was named, and those with an output among
 * their first 32 that nobody spent; of others it cannot tell, which is no answer.
 */
export function openLookUp(blocks: Blocks, params: BitcoinParams): (txid: string, inBlock?: string) => Promise<TransactionFacts | null> {
  const { call, head, header, headerAt, block } = blocks;

  /** Null when the block is not on the node's chain any more, or does not hold it. */
  const inBlock = async (txid: string, blockHash: string): Promise<TransactionFacts | null> => {
    if ((await header(blockHash)).confirmations === null) return null;
    const read = await block(blockHash);
    const position = read.transactions.findIndex((transaction) => transaction.txid === txid);
    const transaction = read.transactions[position];
    if (transaction === undefined) return null;
    const { transfers } = await inTurns(movementsOf(read, transaction, position, params, EVERYTHING), breathe);
    const spends = transaction.inputs.map((input) => `${input.txid}:${input.vout}`);
    return { txid, height: read.height, blockHash: read.hash, succeeded: true, transfers, spends };
  };

  const inNamedBlock = async (txid: string, blockHash: string): Promise<TransactionFacts | null> => {
    try {
      return await inBlock(txid, blockHash);
    } catch (error) {
      if (refusalOf(error)?.code === UNKNOWN) return null;
      throw error;
    }
  };

  /** Hash of the block that made an output of it which nobody spent; null when there is none. */
  const blockByOutputs = async (txid: string): Promise<string | null> => {
    const tip = await head();
    const outputs = await Promise.all(Array.from({ length: OUTPUTS_TRIED }, (_, vout) => call('gettxout', [txid, vout, false])));
    const found = outputs.find((output) => output !== null);
    if (found === undefined) return null;
    const { bestblock, confirmations } = readObject(found, 'an output');
    if (readHash(bestblock, 'the block of an answer') !== tip.hash) return unsure(`its head moved while transaction ${txid} was looked for`);
    return (await headerAt(tip.height + 1 - readInteger(confirmations, 'the confirmations of an output'))).hash;
  };

  return async (txid, named) => {
    const told = await ask(call('getrawtransaction', [txid, 1]));
    if ('refused' in told) {
      if (INDEXED.test(told.refused)) return null;
      const there = named === undefined ? null : await inNamedBlock(txid, named);
      if (there !== null) return there;
      const blockHash = await blockByOutputs(txid);
      if (blockHash !== null) return (await inBlock(txid, blockHash)) ?? unsure(`block ${blockHash} does not hold ${txid}`);
      throw new ChainUnavailable(`the node has no index of all transactions (-txindex=1): it cannot tell whether there ever was a transaction ${txid}`, {
        trouble: 'refused',
      });
    }
    const answer = readObject(told.answer, 'the transaction');
    readTransaction(answer.hex, txid);
    if (answer.blockhash === undefined) return waiting(txid);
    const blockHash = readHash(answer.blockhash, 'the block of a transaction');
    const facts = await inBlock(txid, blockHash);
    if (facts !== null) return facts;
    if ((await header(blockHash)).confirmations !== null) unsure(`block ${blockHash} does not hold ${txid}`);
    // An index goes on naming a block that lost its place, also while the transaction waits again.
    return 'answer' in (await ask(call('getmempoolentry', [txid]))) ? waiting(txid) : null;
  };
}

function waiting(txid: string): TransactionFacts {
  return { txid, height: null, blockHash: null, succeeded: null, transfers: [] };
}

async function ask(answer: Promise<unknown>): Promise<{ answer: unknown } | { refused: string }> {
  try {
    return { answer: await answer };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.code !== UNKNOWN) throw error;
    return { refused: refusal.message };
  }
}
