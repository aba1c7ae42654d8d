import { type Coin, inCoins } from './coins.ts';
import type { Entry } from './entry.ts';
import { POLICY } from './parameters.ts';
import { Rejected } from './refusal.ts';
import { isPushOnly, multisigOf, typeOf, witnessProgram } from './script.ts';
import type { Tx } from './transaction.ts';

/** What a transaction of `vsize` vbytes costs at a rate of satoshis per 1,000 vbytes, rounded up. */
export function feeAt(rate: bigint, vsize: number): bigint {
  return (rate * BigInt(vsize) + 999n) / 1000n;
}

/** Below this an output costs more to spend than it is worth (policy/policy.cpp, GetDustThreshold). */
export function dustLimit(script: Uint8Array): bigint {
  if (script[0] === 0x6a) return 0n;
  const output = 8 + 1 + script.length;
  const input = witnessProgram(script) === null ? 148 : 67;
  return (BigInt(output + input) * POLICY.dustRelayRate) / 1000n;
}

/** What nodes do not pass on whatever it pays (policy/policy.cpp, IsStandardTx). @throws Rejected */
export function checkStandard(tx: Tx): void {
  const { version, ins, outs } = tx.raw;
  if (version < 1 || version > 3) throw new Rejected('version');
  if (tx.weight > POLICY.maxTransactionWeight) throw new Rejected('tx-size');
  for (const { script } of ins) {
    if (script.length > POLICY.maxScriptSigSize) throw new Rejected('scriptsig-size');
    if (!isPushOnly(script)) throw new Rejected('scriptsig-not-pushonly');
  }
  let carried = 0;
  for (const { script } of outs) {
    const type = typeOf(script);
    if (type === 'nulldata') carried += script.length;
    if (type === 'nonstandard' || (multisigOf(script)?.keys.length ?? 0) > 3) throw new Rejected('scriptpubkey');
  }
  if (carried > POLICY.maxDataCarrier) throw new Rejected('datacarrier');
  if (outs.some(({ script, value }) => value < dustLimit(script))) throw new Rejected('dust');
  if (tx.size - (tx.raw.hasWitnesses() ? 2 : 0) < POLICY.minTransactionSize) throw new Rejected('tx-size-small');
}

/** Kinds of output whose spending this node can check. */
const SPENDABLE: ReadonlySet<string> = new Set(['pubkeyhash', 'scripthash', 'witness_v0_keyhash', 'witness_v0_scripthash', 'witness_v1_taproot', 'anchor']);

/** Scripts this node can run; others are refused as other nodes refuse what they do not know. @throws Rejected */
export function checkInputs(tx: Tx, spent: readonly Coin[]): void {
  spent.forEach(({ script }, index) => {
    if (!SPENDABLE.has(typeOf(script)))
      throw new Rejected('bad-txns-nonstandard-inputs', `input ${index} of ${tx.txid} spends a script this node does not run`);
  });
}

/** The least a node passes on. @throws Rejected */
export function checkFee({ tx, fee }: Entry): void {
  const least = feeAt(POLICY.minRelayRate, tx.vsize);
  if (fee < least) throw new Rejected('min relay fee not met', `${fee} < ${least}`);
}

/** How many may wait that spend from each other, near and far. @throws Rejected */
export function checkCluster(members: readonly Entry[]): void {
  const vsize = members.reduce((sum, { tx }) => sum + tx.vsize, 0);
  if (members.length > POLICY.clusterCount || vsize > POLICY.clusterVsize) throw new Rejected('too-large-cluster', 'cluster size limit exceeded');
}

/** Rules for taking the place of others (policy/rbf.cpp): every waiting transaction may be replaced. @throws Rejected */
export function checkReplacement(entry: Entry, ancestors: Entry[], conflicts: Entry[], evicted: Entry[]): void {
  const { txid, vsize } = entry.tx;
  if (ancestors.some((each) => conflicts.includes(each))) throw new Rejected('bad-txns-spends-conflicting-tx', `${txid} spends conflicting transaction`);
  if (evicted.length > POLICY.maxReplacementEvictions)
    throw new Rejected(
      'too many potential replacements',
      `rejecting replacement ${txid}; too many potential replacements (${evicted.length} > ${POLICY.maxReplacementEvictions})`,
    );
  const replaced = evicted.reduce((sum, { fee }) => sum + fee, 0n);
  if (entry.fee < replaced)
    throw new Rejected('insufficient fee', `rejecting replacement ${txid}, less fees than conflicting txs; ${inCoins(entry.fee)} < ${inCoins(replaced)}`);
  const relay = feeAt(POLICY.incrementalRelayRate, vsize);
  if (entry.fee - replaced < relay)
    throw new Rejected(
      'insufficient fee',
      `rejecting replacement ${txid}, not enough additional fees to relay; ${inCoins(entry.fee - replaced)} < ${inCoins(relay)}`,
    );
  if (conflicts.some(({ tx, fee }) => entry.fee * BigInt(tx.vsize) <= fee * BigInt(vsize)))
    throw new Rejected('replacement-failed', 'insufficient feerate: does not improve feerate diagram');
}
