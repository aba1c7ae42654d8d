import { Transaction } from 'bitcoinjs-lib';
import { satoshisOf } from '#shared/chains/bitcoin/json.ts';
import type { BitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import { hashOf } from '#ops/devnet/bitcoin/bytes.ts';
import { addressOf, scriptOfAddress } from '#ops/devnet/bitcoin/script.ts';
import { type AddressKind, scriptOfKey, signInput } from '#ops/devnet/bitcoin/sign.ts';

/** Who gets how much, satoshis. */
export interface Payout {
  to: string;
  rawAmount: bigint;
}

/** An output nobody has spent. */
export interface PurseCoin {
  txid: string;
  vout: number;
  value: bigint;
  script: Uint8Array;
}

/** A signed transaction, sent or not. */
export interface SignedByPurse {
  txid: string;
  hex: string;
  raw: Transaction;
  spends: PurseCoin[];
}

export interface PayOptions {
  /** Satoshis; 2 per vbyte when absent. */
  fee?: bigint;
  /** What to spend instead of choosing. */
  coins?: PurseCoin[];
  sequence?: number;
}

/** The coins of one private key under one kind of address, without any wallet of the node. */
export interface Purse {
  key: Uint8Array;
  address: string;
  script: Uint8Array;
  /** Reads its confirmed coins from the node: after it was paid, and after the chain went back. */
  look(): Promise<void>;
  /** Coins that can be spent now, the largest first. */
  coins(): Promise<PurseCoin[]>;
  /** Signs a payment whose outputs are these in their order, then its change. */
  sign(payouts: readonly Payout[], options?: PayOptions): Promise<SignedByPurse>;
  /** Signs and sends. */
  pay(payouts: readonly Payout[], options?: PayOptions): Promise<SignedByPurse>;
  /** Another transaction over the same coins with a higher fee, sent; without payouts everything comes back here. */
  replace(signed: SignedByPurse, payouts?: readonly Payout[], fee?: bigint): Promise<SignedByPurse>;
  /** Signs what the caller built over coins of this key. */
  signRaw(raw: Transaction, spends: readonly PurseCoin[]): SignedByPurse;
  /** Confirmed satoshis at any address. */
  balanceOf(address: string): Promise<bigint>;
}

const REPLACEABLE = 0xfffffffd;
const DUST = 546n;
const MATURITY = 100;

interface Scan {
  height: number;
  total_amount: unknown;
  unspents: { txid: string; vout: number; amount: unknown; coinbase?: boolean; height: number; scriptPubKey: string }[];
}

/** The purse of a private key on the chain behind `node`. */
export function aPurse(node: BitcoinNode, key: Uint8Array, kind: AddressKind = 'bech32'): Purse {
  const script = scriptOfKey(key, kind);
  const address = addressOf(script) ?? '';
  let known: PurseCoin[] = [];
  const scan = (at: string): Promise<Scan> => node.call('scantxoutset', ['start', [`addr(${at})`]]);
  let last: Promise<unknown> = Promise.resolve();
  /** One at a time: two payments at once must not choose the same coin, and a node scans for one caller. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
  const read = async (): Promise<void> => {
    const { unspents, height } = await scan(address);
    known = unspents
      .filter((coin) => !coin.coinbase || height - coin.height >= MATURITY)
      .map(({ txid, vout, amount }) => ({ txid, vout, value: satoshisOf(amount) ?? 0n, script }))
      .sort((a, b) => (a.value < b.value ? 1 : -1));
  };
  const isFree = async ({ txid, vout }: PurseCoin): Promise<boolean> => (await node.call('gettxout', [txid, vout, true])) !== null;
  const choose = async (wanted: bigint, again = true): Promise<PurseCoin[]> => {
    const chosen: PurseCoin[] = [];
    for (const coin of [...known]) {
      if (sum(chosen) >= wanted) break;
      known = known.filter((each) => each !== coin);
      if (await isFree(coin)) chosen.push(coin);
    }
    if (sum(chosen) >= wanted) return chosen;
    if (!again) throw new Error(`${address} has not enough coins`);
    await read();
    return choose(wanted, false);
  };
  const signRaw = (raw: Transaction, spends: readonly PurseCoin[]): SignedByPurse => {
    for (const index of raw.ins.keys()) signInput(raw, index, spends, key, kind);
    return { txid: raw.getId(), hex: raw.toHex(), raw, spends: [...spends] };
  };
  const build = async (payouts: readonly Payout[], { fee, coins, sequence = REPLACEABLE }: PayOptions): Promise<SignedByPurse> => {
    const wanted = payouts.reduce((total, { rawAmount }) => total + rawAmount, 0n);
    const paid = fee ?? BigInt(2 * (200 + 43 * payouts.length));
    const spends = coins ?? (await choose(wanted + paid));
    const raw = new Transaction();
    raw.version = 2;
    for (const { txid, vout } of spends) raw.addInput(hashOf(txid), vout, sequence);
    for (const { to, rawAmount } of payouts) raw.addOutput(scriptAt(to), rawAmount);
    const change = sum(spends) - wanted - paid;
    if (change < 0n) throw new Error(`${address} has not enough coins`);
    if (change >= DUST) raw.addOutput(script, change);
    const signed = signRaw(raw, spends);
    // Change waits at the end: it may be spent at once, but what is confirmed comes first.
    if (change >= DUST) known.push({ txid: signed.txid, vout: payouts.length, value: change, script });
    return signed;
  };
  const send = async (signed: SignedByPurse): Promise<SignedByPurse> => {
    await node.call('sendrawtransaction', [signed.hex, 0]);
    return signed;
  };
  return {
    key,
    address,
    script,
    look: () => inTurn(read),
    coins: () =>
      inTurn(async () => {
        const free = await Promise.all(known.map(isFree));
        return known.filter((_coin, at) => free[at]);
      }),
    sign: (payouts, options = {}) => inTurn(() => build(payouts, options)),
    pay: (payouts, options = {}) => inTurn(async () => send(await build(payouts, options))),
    replace: (signed, payouts = [], fee) =>
      inTurn(async () => {
        const paid = sum(signed.spends) - signed.raw.outs.reduce((total, { value }) => total + value, 0n);
        return send(await build(payouts, { coins: signed.spends, fee: fee ?? paid * 3n + 1_000n }));
      }),
    signRaw,
    balanceOf: (at) => inTurn(async () => satoshisOf((await scan(at)).total_amount) ?? 0n),
  };
}

function sum(coins: readonly PurseCoin[]): bigint {
  return coins.reduce((total, { value }) => total + value, 0n);
}

function scriptAt(address: string): Uint8Array {
  const script = scriptOfAddress(address);
  if (script === null) throw new Error(`${address} is no address of the local network`);
  return script;
}
