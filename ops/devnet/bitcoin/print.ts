import { type Block, blockHex, medianTime } from './block.ts';
import { idOf, toHex } from './bytes.ts';
import type { Coin } from './coins.ts';
import type { Entry } from './entry.ts';
import type { BitcoinNode } from './node.ts';
import { REGTEST } from './parameters.ts';
import { coins } from './request.ts';
import { asmOf, scriptPubKeyJson } from './script.ts';
import type { Tx } from './transaction.ts';

export type Json = Record<string, unknown>;

/** A block's header as `getblockheader` prints it; the successor only on the branch that counts. */
export function headerJson(node: BitcoinNode, block: Block): Json {
  const { chain } = node;
  const header = Buffer.from(block.header);
  const next = chain.active(block) ? chain.at(block.height + 1) : undefined;
  return {
    hash: block.hash,
    confirmations: chain.active(block) ? chain.tip().height - block.height + 1 : -1,
    height: block.height,
    version: header.readInt32LE(0),
    versionHex: (header.readInt32LE(0) >>> 0).toString(16).padStart(8, '0'),
    merkleroot: idOf(block.header.subarray(36, 68)),
    time: block.time,
    mediantime: medianTime(block),
    nonce: header.readUInt32LE(76),
    bits: REGTEST.bits.toString(16),
    target: REGTEST.target,
    difficulty: REGTEST.difficulty,
    chainwork: block.work.toString(16).padStart(64, '0'),
    nTx: block.transactions.length,
    ...(block.parent !== null && { previousblockhash: block.parent.hash }),
    ...(next !== undefined && { nextblockhash: next.hash }),
  };
}

/** A block as `getblock` prints it at verbosity 1 to 3. */
export function blockJson(node: BitcoinNode, block: Block, verbosity: number): Json {
  const [coinbase] = block.transactions;
  const size = blockHex(block).length / 2;
  const witnesses = block.transactions.reduce((sum, tx) => sum + tx.size - strippedSize(tx), 0);
  const input = coinbase?.raw.ins[0];
  const witness = input?.witness[0];
  return {
    ...headerJson(node, block),
    strippedsize: size - witnesses,
    size,
    weight: (size - witnesses) * 3 + size,
    coinbase_tx: {
      version: coinbase?.raw.version,
      locktime: coinbase?.raw.locktime,
      sequence: input?.sequence,
      coinbase: toHex(input?.script ?? new Uint8Array(0)),
      ...(witness !== undefined && { witness: toHex(witness) }),
    },
    tx: block.transactions.map((tx, at) =>
      verbosity === 1 ? tx.txid : txJson(tx, { ...(block.spent !== null && { spent: block.spent[at] ?? [] }), prevouts: verbosity >= 3 }),
    ),
  };
}

function strippedSize(tx: Tx): number {
  return (tx.weight - tx.size) / 3;
}

export interface TxJsonOptions {
  /** What it spends, if that is known: tells the fee. */
  spent?: readonly Coin[];
  /** Prints what every input spends. */
  prevouts?: boolean;
  hex?: boolean;
}

/** A transaction as `getblock 2`, `getrawtransaction` and `decoderawtransaction` print it. */
export function txJson(tx: Tx, { spent, prevouts = false, hex = true }: TxJsonOptions): Json {
  const { raw } = tx;
  const made = raw.outs.reduce((sum, { value }) => sum + value, 0n);
  return {
    txid: tx.txid,
    hash: tx.wtxid,
    version: raw.version,
    size: tx.size,
    vsize: tx.vsize,
    weight: tx.weight,
    locktime: raw.locktime,
    vin: raw.ins.map(({ hash, index, script, sequence, witness }, at) => ({
      ...(tx.coinbase ? { coinbase: toHex(script) } : { txid: idOf(hash), vout: index, scriptSig: { asm: asmOf(script, true), hex: toHex(script) } }),
      ...(witness.length > 0 && { txinwitness: witness.map(toHex) }),
      ...(prevouts && !tx.coinbase && spent?.[at] !== undefined && { prevout: prevoutJson(spent[at]) }),
      sequence,
    })),
    vout: raw.outs.map(({ value, script }, n) => ({ value: coins(value), n, scriptPubKey: scriptPubKeyJson(script) })),
    ...(!tx.coinbase && spent !== undefined && { fee: coins(spent.reduce((sum, { value }) => sum + value, 0n) - made) }),
    ...(hex && { hex: tx.hex }),
  };
}

function prevoutJson({ coinbase, height, value, script }: Coin): Json {
  return { generated: coinbase, height, value: coins(value), scriptPubKey: scriptPubKeyJson(script) };
}

/** What waits as `getmempoolentry` prints it; the chunk is the package that would be mined together. */
export function entryJson({ mempool }: BitcoinNode, entry: Entry): Json {
  const ancestors = mempool.ancestors(entry);
  const descendants = mempool.descendants(entry);
  const chunk = chunkOf(entry, ancestors, descendants);
  const { tx, fee } = entry;
  return {
    vsize_adjusted: tx.vsize,
    vsize: tx.vsize,
    vsize_bip141: tx.vsize,
    weight: tx.weight,
    time: entry.time,
    height: entry.height,
    descendantcount: descendants.length,
    descendantsize: sizes(descendants),
    ancestorcount: ancestors.length,
    ancestorsize: sizes(ancestors),
    wtxid: tx.wtxid,
    chunkweight: chunk.reduce((sum, each) => sum + each.tx.weight, 0),
    fees: { base: coins(fee), modified: coins(fee), ancestor: coins(fees(ancestors)), descendant: coins(fees(descendants)), chunk: coins(fees(chunk)) },
    depends: mempool.parents(entry).map((parent) => parent.tx.txid),
    spentby: mempool.children(entry).map((child) => child.tx.txid),
    unbroadcast: true,
  };
}

/** A child that pays more for its size pulls its parents along; otherwise each stands alone. */
function chunkOf(entry: Entry, ancestors: Entry[], descendants: Entry[]): Entry[] {
  const better = (candidates: Entry[]): boolean => Number(fees(candidates)) / sizes(candidates) > Number(entry.fee) / entry.tx.vsize;
  if (descendants.length > 1 && better(descendants)) return descendants;
  const parents = ancestors.slice(1);
  return parents.length > 0 && Number(entry.fee) / entry.tx.vsize > Number(fees(parents)) / sizes(parents) ? ancestors : [entry];
}

function sizes(entries: Entry[]): number {
  return entries.reduce((sum, { tx }) => sum + tx.vsize, 0);
}

function fees(entries: Entry[]): bigint {
  return entries.reduce((sum, { fee }) => sum + fee, 0n);
}
