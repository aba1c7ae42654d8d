import { type Block, heightScript, meetsTarget, merkleRoot, witnessCommitment } from './block.ts';
import { equalBytes, hashOf, toHex } from './bytes.ts';
import { REGTEST } from './parameters.ts';
import { Rejected } from './refusal.ts';
import type { Tx } from './transaction.ts';

/** What can be said of a block before its place is the chain's next. @throws Rejected */
export function checkBlock(block: Block): void {
  const [coinbase, ...others] = block.transactions;
  if (Buffer.from(block.header).readUInt32LE(72) !== REGTEST.bits) throw new Rejected('bad-diffbits', 'incorrect proof of work');
  if (!meetsTarget(block.header)) throw new Rejected('high-hash', 'proof of work failed');
  if (coinbase === undefined || !coinbase.coinbase) throw new Rejected('bad-cb-missing', 'first tx is not coinbase');
  if (others.some((tx) => tx.coinbase)) throw new Rejected('bad-cb-multiple', 'more than one coinbase');
  const root = merkleRoot(block.transactions.map(({ txid }) => hashOf(txid)));
  if (!equalBytes(root, block.header.subarray(36, 68))) throw new Rejected('bad-txnmrklroot', 'hashMerkleRoot mismatch');
  const start = heightScript(block.height);
  if (!equalBytes((coinbase.raw.ins[0]?.script ?? new Uint8Array(0)).subarray(0, start.length), start))
    throw new Rejected('bad-cb-height', 'block height mismatch in coinbase');
  checkCommitment(coinbase, others);
  if (block.transactions.reduce((sum, { weight }) => sum + weight, 324) > REGTEST.maxBlockWeight) throw new Rejected('bad-blk-weight', 'weight limit failed');
}

function checkCommitment(coinbase: Tx, others: Tx[]): void {
  const commitment = coinbase.raw.outs.filter(({ script }) => script.length >= 38 && toHex(script.subarray(0, 6)) === '6a24aa21a9ed').pop();
  if (commitment === undefined) {
    if (others.some((tx) => tx.raw.hasWitnesses())) throw new Rejected('unexpected-witness', 'unexpected witness data found');
    return;
  }
  const [reserved] = coinbase.raw.ins[0]?.witness ?? [];
  if (reserved?.length !== 32) throw new Rejected('bad-witness-nonce-size', 'invalid witness reserved value size');
  if (!equalBytes(witnessCommitment(others, reserved), commitment.script.subarray(0, 38)))
    throw new Rejected('bad-witness-merkle-match', 'witness merkle commitment mismatch');
}
