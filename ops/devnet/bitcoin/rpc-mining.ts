import { blockHex } from './block.ts';
import { method, type Methods } from './method.ts';
import type { BitcoinNode } from './node.ts';
import { Rejected, RPC, RpcError } from './refusal.ts';
import { scriptOfDescriptor } from './rpc-transactions.ts';
import { scriptOfAddress } from './script.ts';
import { parseTx, type Tx } from './transaction.ts';

function miner(address: string): Uint8Array {
  const script = scriptOfAddress(address);
  if (script === null) throw new RpcError(RPC.addressOrKey, 'Error: Invalid address');
  return script;
}

/** An address or a descriptor. @throws RpcError */
function output(text: string): Uint8Array {
  const script = scriptOfAddress(text) ?? scriptOfDescriptor(text);
  if (script === null) throw new RpcError(RPC.addressOrKey, 'Error: Invalid address or descriptor');
  return script;
}

/** A waiting transaction by its id, or any by its bytes. */
function chosen({ mempool }: BitcoinNode, text: unknown): Tx {
  if (typeof text !== 'string') throw new RpcError(RPC.type, 'JSON value is not a string as expected');
  if (/^[0-9a-fA-F]{64}$/.test(text)) {
    const waiting = mempool.entries.get(text.toLowerCase());
    if (waiting === undefined) throw new RpcError(RPC.addressOrKey, `Transaction ${text} not in mempool.`);
    return waiting.tx;
  }
  const tx = parseTx(text);
  if (tx === null) throw new RpcError(RPC.deserialization, `Transaction decode failed for ${text}. Make sure the tx has at least one input.`);
  return tx;
}

function generate(node: BitcoinNode, script: Uint8Array, count: number): string[] {
  return Array.from({ length: count }, () => node.mine(script).hash);
}

/** Methods that make blocks and turn the clock. */
export const miningMethods: Methods = {
  generatetoaddress: method(['nblocks', 'address', 'maxtries'], (node, ask) => generate(node, miner(ask.text('address')), ask.int('nblocks'))),
  generateblock: method(['output', 'transactions', 'submit'], (node, ask) => {
    const script = output(ask.text('output'));
    const transactions = ask.list('transactions').map((each) => chosen(node, each));
    try {
      const found = node.draft(script, transactions);
      if (ask.bool('submit', true)) return { hash: node.take(found).hash };
      return { hash: node.hashOf(found), hex: blockHex(found) };
    } catch (error) {
      if (error instanceof Rejected) throw new RpcError(RPC.verify, `TestBlockValidity failed: ${error.message}`);
      throw error;
    }
  }),
  setmocktime: method(['timestamp'], (node, ask) => {
    const time = ask.int('timestamp');
    if (time < 0) throw new RpcError(RPC.invalidParameter, `Mocktime must be in the range [0, 9223372036], not ${time}.`);
    node.setMockTime(time);
    return null;
  }),
};
