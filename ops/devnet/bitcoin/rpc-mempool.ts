import { hashArgument, method, type Methods } from './method.ts';
import type { BitcoinNode } from './node.ts';
import { POLICY } from './parameters.ts';
import { feeAt } from './policy.ts';
import { entryJson } from './print.ts';
import { Rejected, RPC, RpcError } from './refusal.ts';
import { type Arguments, coins } from './request.ts';
import { txArgument } from './rpc-transactions.ts';
import { outpoint, type Tx } from './transaction.ts';

const RATE_UNIT = 1000n;

function entryOf(node: BitcoinNode, ask: Arguments) {
  const entry = node.mempool.entries.get(hashArgument(ask, 'txid'));
  if (entry === undefined) throw new RpcError(RPC.addressOrKey, 'Transaction not in mempool');
  return entry;
}

function rawMempool(node: BitcoinNode, ask: Arguments): unknown {
  const { entries } = node.mempool;
  const withSequence = ask.bool('mempool_sequence', false);
  if (ask.bool('verbose', false)) {
    if (withSequence) throw new RpcError(RPC.invalidParameter, 'Verbose results cannot contain mempool sequence values.');
    return Object.fromEntries([...entries].map(([txid, entry]) => [txid, entryJson(node, entry)]));
  }
  const txids = [...entries.keys()];
  return withSequence ? { txids, mempool_sequence: node.mempool.sequence() } : txids;
}

function mempoolInfo({ mempool }: BitcoinNode): unknown {
  const entries = [...mempool.entries.values()];
  const bytes = entries.reduce((sum, { tx }) => sum + tx.vsize, 0);
  return {
    loaded: true,
    size: entries.length,
    bytes,
    usage: 96 + bytes * 3,
    total_fee: coins(entries.reduce((sum, { fee }) => sum + fee, 0n)),
    maxmempool: POLICY.maxMempoolBytes,
    mempoolminfee: coins(POLICY.minRelayRate),
    minrelaytxfee: coins(POLICY.minRelayRate),
    incrementalrelayfee: coins(POLICY.incrementalRelayRate),
    unbroadcastcount: entries.length,
    permitbaremultisig: true,
    maxdatacarriersize: POLICY.maxDataCarrier,
    limitclustercount: POLICY.clusterCount,
    limitclustersize: POLICY.clusterVsize,
    optimal: true,
  };
}

/** Already in a block of the chain, as far as unspent outputs tell. */
function isMined({ chain }: BitcoinNode, tx: Tx): boolean {
  return tx.raw.outs.some((_output, vout) => chain.coins.has(outpoint(tx.txid, vout)));
}

/** Sends a transaction as every method that sends one does; again is fine. @throws RpcError */
export function broadcast(node: BitcoinNode, tx: Tx, maxRate: bigint): string {
  if (isMined(node, tx)) throw new RpcError(RPC.alreadyInChain, 'Transaction outputs already in utxo set');
  if (node.mempool.entries.has(tx.txid)) return tx.txid;
  try {
    if (maxRate > 0n && node.mempool.examine(tx).entry.fee > feeAt(maxRate, tx.vsize))
      throw new RpcError(RPC.verify, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)');
    return node.send(tx).tx.txid;
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    throw new RpcError(error.reason === 'bad-txns-inputs-missingorspent' ? RPC.verify : RPC.verifyRejected, error.message);
  }
}

function accepted(node: BitcoinNode, tx: Tx, maxRate: bigint): unknown {
  const names = { txid: tx.txid, wtxid: tx.wtxid };
  try {
    const { entry } = node.mempool.examine(tx);
    if (maxRate > 0n && entry.fee > feeAt(maxRate, tx.vsize)) return { ...names, allowed: false, 'reject-reason': 'max-fee-exceeded' };
    const rate = (entry.fee * RATE_UNIT) / BigInt(tx.vsize);
    return {
      ...names,
      allowed: true,
      vsize_adjusted: tx.vsize,
      vsize: tx.vsize,
      vsize_bip141: tx.vsize,
      fees: { base: coins(entry.fee), 'effective-feerate': coins(rate), 'effective-includes': [tx.wtxid] },
    };
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    if (error.reason === 'bad-txns-inputs-missingorspent') return { ...names, allowed: false, 'reject-reason': 'missing-inputs' };
    return { ...names, allowed: false, 'reject-reason': error.reason, 'reject-details': error.message };
  }
}

/** Methods about what waits. */
export const mempoolMethods: Methods = {
  getrawmempool: method(['verbose', 'mempool_sequence'], rawMempool),
  getmempoolentry: method(['txid'], (node, ask) => entryJson(node, entryOf(node, ask))),
  getmempoolancestors: method(['txid', 'verbose'], (node, ask) => ancestors(node, ask)),
  getmempoolinfo: method([], mempoolInfo),
  sendrawtransaction: method(['hexstring', 'maxfeerate', 'maxburnamount'], (node, ask) => {
    const tx = txArgument(ask.text('hexstring'));
    const burn = ask.amount('maxburnamount', 0n);
    if (tx.raw.outs.some(({ script, value }) => script[0] === 0x6a && value > burn))
      throw new RpcError(RPC.verify, 'Unspendable output exceeds maximum configured by user (maxburnamount)');
    return broadcast(node, tx, ask.amount('maxfeerate', POLICY.maxFeeRate));
  }),
  testmempoolaccept: method(['rawtxs', 'maxfeerate'], (node, ask) => {
    const maxRate = ask.amount('maxfeerate', POLICY.maxFeeRate);
    const [first, ...more] = ask.list('rawtxs');
    if (first === undefined || more.length > 0) throw new RpcError(RPC.invalidParameter, 'This node examines one transaction at a time.');
    return [accepted(node, txArgument(String(first)), maxRate)];
  }),
  // A chain of a few blocks has no history of fees to estimate from, and neither has a real regtest node.
  estimatesmartfee: method(['conf_target', 'estimate_mode'], (_node, ask) => {
    const target = ask.int('conf_target');
    if (target < 1 || target > 1008) throw new RpcError(RPC.invalidParameter, 'Invalid conf_target, must be between 1 and 1008');
    return { errors: ['Insufficient data or no feerate found'], blocks: 0 };
  }),
};

function ancestors(node: BitcoinNode, ask: Arguments): unknown {
  const others = node.mempool.ancestors(entryOf(node, ask)).slice(1);
  if (!ask.bool('verbose', false)) return others.map(({ tx }) => tx.txid);
  return Object.fromEntries(others.map((entry) => [entry.tx.txid, entryJson(node, entry)]));
}
