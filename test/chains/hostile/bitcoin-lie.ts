import { hash } from 'node:crypto';
import type { NumberText } from '../conformance/bitcoin-rpc.ts';
import { scriptAt } from '../conformance/bitcoin-purse.ts';
import type { Meddling } from '../conformance/meddler.ts';

/** A block as `getblock` 3 tells it, as far as anybody lies about it. */
export interface ToldBlock {
  hash: string;
  height: number;
  version: number;
  merkleroot: string;
  time: number;
  nonce: number;
  bits: string;
  confirmations: number;
  previousblockhash: string;
  nTx: number;
  tx: ToldTransaction[];
}

interface ToldTransaction {
  txid: string;
  hash: string;
  hex: string;
  vin: { txid?: string; vout?: number; coinbase?: string; prevout?: { value: number | NumberText; scriptPubKey: { hex: string; address?: string } } }[];
  vout: ToldOutput[];
}

interface ToldOutput {
  value: number | NumberText;
  n: number;
  scriptPubKey: { hex: string; address?: string };
}

/** What is true: the block, and whose address the last of its three transactions pays. */
export interface Truth {
  block: ToldBlock;
  address: string;
  /** Another address of ours, which nobody pays. */
  other: string;
  /** The block before. */
  before: ToldBlock;
}

/** One lie about a block that holds a payment: nothing of the block is believed, or what is told has no say in what is booked. */
export interface Lie {
  name: string;
  reason: string;
  /** Whether the block is booked all the same, as it is. */
  harmless?: true;
  meddling(truth: Truth): Meddling;
}

export const block = (name: string, reason: string, change: (told: ToldBlock, truth: Truth) => unknown): Lie => ({
  name,
  reason,
  meddling(truth) {
    const told = change(structuredClone(truth.block), truth);
    return ({ call, params, answer }) => (call === 'getblock' && (params as unknown[])[0] === truth.block.hash ? told : answer);
  },
});
export const lastOf = (told: ToldBlock): ToldTransaction => told.tx.at(-1) as ToldTransaction;
export const last = (name: string, reason: string, change: (transaction: ToldTransaction, truth: Truth) => void): Lie =>
  block(name, reason, (told, truth) => {
    change(lastOf(told), truth);
    return told;
  });
/** Something else about the outputs than their bytes say. */
export const beside = (name: string, reason: string, change: (output: ToldOutput, truth: Truth) => ToldOutput): Lie => ({
  ...last(`${name} beside the bytes`, reason, (transaction, truth) => {
    transaction.vout = transaction.vout.map((output) => change(output, truth));
  }),
  harmless: true,
});
export const prevout = (name: string, reason: string, change: (spent: NonNullable<ToldTransaction['vin'][number]['prevout']>, truth: Truth) => void): Lie =>
  last(name, reason, ({ vin }, truth) => {
    const spent = vin[0]?.prevout;
    if (spent !== undefined) change(spent, truth);
  });
export const spentFor = (text: string): Lie =>
  prevout(`a payer whose coin is worth ${text}`, 'amounts of what is spent are the node’s word, and this is none', (spent) => {
    spent.value = { numberText: text };
  });
/** A header that is told alone and with its block. */
export const header = (name: string, reason: string, change: (told: ToldBlock) => Partial<ToldBlock>): Lie => ({
  name,
  reason,
  meddling:
    ({ block: { hash: id } }) =>
    ({ call, params, answer }) => {
      const asked = ['getblock', 'getblockheader'].includes(call) && (params as unknown[])[0] === id;
      return asked ? { ...(answer as ToldBlock), ...change(answer as ToldBlock) } : answer;
    },
});

const flip = (hex: string): string => [...hex].reverse().join('');
export const reversed = (hex: string): string => flip(hex).replace(/(.)(.)/g, '$2$1');
export const sha256d = (hex: string): string => reversed(hash('sha256', hash('sha256', Buffer.from(hex, 'hex'), 'buffer'), 'hex'));
export const script = (address: string): string => Buffer.from(scriptAt(address)).toString('hex');
/** The same with one script for another, in its bytes and beside them. */
export const swapped = (transaction: ToldTransaction, from: string, into: string): void => {
  transaction.hex = transaction.hex.replace(from, into);
  for (const output of transaction.vout) output.scriptPubKey.hex = output.scriptPubKey.hex.replace(from, into);
};
const amountHex = (satoshis: bigint): string => reversed(BigInt.asUintN(64, satoshis).toString(16).padStart(16, '0'));
export const rewritten =
  (satoshis: bigint) =>
  (transaction: ToldTransaction, { address }: Truth): void => {
    const at = transaction.hex.indexOf(`16${script(address)}`);
    transaction.hex = transaction.hex.slice(0, at - 16) + amountHex(satoshis) + transaction.hex.slice(at);
  };
