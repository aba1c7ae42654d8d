import type { Coin } from './coins.ts';
import { blockArgument, hashArgument, headOf, method, type Methods, readHash } from './method.ts';
import type { BitcoinNode } from './node.ts';
import { txJson } from './print.ts';
import { RPC, RpcError } from './refusal.ts';
import { type Arguments, coins } from './request.ts';
import { describe, scriptOfAddress, scriptPubKeyJson } from './script.ts';
import { outpoint, parseTx, type Tx } from './transaction.ts';
import { fromHex, toHex } from './bytes.ts';

/** Reads a transaction that a client sent. @throws RpcError */
export function txArgument(text: string): Tx {
  const tx = parseTx(text);
  if (tx === null) throw new RpcError(RPC.deserialization, 'TX decode failed. Make sure the tx has at least one input.');
  return tx;
}

function rawTransaction(node: BitcoinNode, ask: Arguments): unknown {
  const txid = hashArgument(ask, 'txid');
  const verbosity = ask.level('verbosity', 0);
  const named = ask.has('blockhash') ? blockArgument(node, hashArgument(ask, 'blockhash')) : undefined;
  const waiting = named === undefined ? node.mempool.entries.get(txid) : undefined;
  const block = named ?? node.chain.blockOf(txid);
  const at = block?.transactions.findIndex((each) => each.txid === txid) ?? -1;
  const tx = waiting?.tx ?? block?.transactions[at];
  if (tx === undefined) {
    const words =
      named === undefined
        ? 'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.'
        : 'No such transaction found in the provided block. Use gettransaction for wallet transactions.';
    throw new RpcError(RPC.addressOrKey, words);
  }
  if (verbosity <= 0) return tx.hex;
  // What waiting ones spend is not told: a node keeps that with its blocks.
  const spent = waiting === undefined ? block?.spent?.[at] : undefined;
  const json = txJson(tx, verbosity >= 2 && spent !== undefined ? { spent, prevouts: true } : {});
  if (block === undefined) return { vsize_adjusted: tx.vsize, ...json };
  const confirmations = node.chain.active(block) ? node.chain.tip().height - block.height + 1 : 0;
  return {
    ...(named !== undefined && { in_active_chain: node.chain.active(named) }),
    ...json,
    blockhash: block.hash,
    ...(confirmations > 0 ? { confirmations, time: block.time, blocktime: block.time } : { confirmations: 0 }),
  };
}

function txOut(node: BitcoinNode, ask: Arguments): unknown {
  const point = outpoint(hashArgument(ask, 'txid'), ask.int('n'));
  const waiting = ask.bool('include_mempool', true);
  const coin = waiting ? node.mempool.view.get(point) : node.chain.coins.get(point);
  if (coin === undefined || (waiting && node.mempool.spender(point) !== undefined)) return null;
  const { tip } = node.chain;
  return {
    bestblock: tip().hash,
    confirmations: Math.max(0, tip().height - coin.height + 1),
    value: coins(coin.value),
    scriptPubKey: scriptPubKeyJson(coin.script),
    coinbase: coin.coinbase,
  };
}

function scan(node: BitcoinNode, ask: Arguments): unknown {
  const action = ask.text('action');
  if (action === 'status') return null;
  if (action === 'abort') return false;
  if (action !== 'start') throw new RpcError(RPC.invalidParameter, `Invalid action '${action}'`);
  const scripts = ask.list('scanobjects').map(scannedScript);
  const { chain } = node;
  const unspents = scripts.flatMap((script) =>
    chain.coins.at(script).map((point) => {
      const coin = chain.coins.get(point) as Coin;
      const [txid = '', vout = ''] = point.split(':');
      return {
        txid,
        vout: Number(vout),
        scriptPubKey: toHex(script),
        desc: describe(script),
        amount: coins(coin.value),
        coinbase: coin.coinbase,
        height: coin.height,
        blockhash: chain.at(coin.height)?.hash,
        confirmations: chain.tip().height - coin.height + 1,
      };
    }),
  );
  const total = scripts.flatMap((script) => chain.coins.at(script)).reduce((sum, point) => sum + (chain.coins.get(point)?.value ?? 0n), 0n);
  return { success: true, txouts: chain.coins.size(), height: headOf(node).height, bestblock: headOf(node).hash, unspents, total_amount: coins(total) };
}

function scannedScript(object: unknown): Uint8Array {
  const text = typeof object === 'string' ? object : String((object as { desc?: unknown } | null)?.desc ?? '');
  const script = scriptOfDescriptor(text);
  if (script === null)
    throw new RpcError(RPC.addressOrKey, text.startsWith('addr(') ? 'Address is not valid' : `'${text}' is not a descriptor this node knows`);
  return script;
}

/** The script of an `addr(…)` or `raw(…)` descriptor, the only ones this node knows; null for others. */
export function scriptOfDescriptor(text: string): Uint8Array | null {
  const [, kind, inner = ''] = /^(addr|raw)\(([^)]*)\)(#[a-z0-9]{8})?$/.exec(text) ?? [];
  return kind === undefined ? null : kind === 'addr' ? scriptOfAddress(inner) : fromHex(inner);
}

function spendingPrevout(node: BitcoinNode, ask: Arguments): unknown {
  return ask.list('outputs').map((each) => {
    const { txid, vout } = each as { txid?: unknown; vout?: unknown };
    const point = outpoint(readHash(String(txid), 'txid'), Number(vout));
    const spender = node.mempool.spender(point);
    return { txid, vout, ...(spender !== undefined && { spendingtxid: spender }) };
  });
}

/** Methods about transactions and outputs. */
export const transactionMethods: Methods = {
  getrawtransaction: method(['txid', 'verbosity|verbose', 'blockhash'], rawTransaction),
  decoderawtransaction: method(['hexstring', 'iswitness'], (_node, ask) => {
    const tx = parseTx(ask.text('hexstring'));
    if (tx === null) throw new RpcError(RPC.deserialization, 'TX decode failed');
    return txJson(tx, { hex: false });
  }),
  gettxout: method(['txid', 'n', 'include_mempool'], txOut),
  gettxspendingprevout: method(['outputs', 'options'], spendingPrevout),
  scantxoutset: method(['action', 'scanobjects'], scan),
};
