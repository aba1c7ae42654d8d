import * as secp256k1 from 'tiny-secp256k1';
import { initEccLib, Transaction } from 'bitcoinjs-lib';
import { addressOf, scriptOfAddress } from '#ops/devnet/bitcoin/script.ts';
import { type AddressKind, scriptOfKey, signInput } from '#ops/devnet/bitcoin/sign.ts';
import { fromHex } from './hex.ts';

initEccLib(secp256k1);

/** A question to a node over JSON-RPC. @throws with the node's own message when it refuses */
export type CoreCall = <T = unknown>(method: string, params?: unknown[]) => Promise<T>;

/** An output nobody has spent, as far as is known. */
export interface Coin {
  txid: string;
  vout: number;
  value: bigint;
  script: Uint8Array;
}

export interface Output {
  script: Uint8Array;
  value: bigint;
}

/** A transaction somebody signed, whatever became of it. */
export interface Signed {
  txid: string;
  hex: string;
  spends: readonly Coin[];
}

/**
 * Coins of one key under one kind of script, which nobody of ours has to do with. Unlike the harness's purses it spends one
 * coin at a time, and none before a block holds it, so that payments can be taken back one by one.
 */
export interface Purse {
  address: string;
  script: Uint8Array;
  /** Notes a coin that lies at the address. */
  add(coin: Coin): void;
  /** A coin in a block that nothing spends, not even in the mempool; it is not given twice while that is so. @throws when there is none */
  take(): Promise<Coin>;
  /** Puts the proof into one input that this key may spend the coin it names. */
  unlock(transaction: Transaction, index: number, coins: readonly Coin[]): void;
  /** Signs a transaction of one coin, or of these; what is left is its last output. */
  sign(outputs: readonly Output[], options?: { spends?: readonly Coin[]; change?: boolean }): Promise<Signed>;
}

/** Enough for any transaction of these tests at the least fee a node relays. */
export const FEE = 3_000n;
const REPLACEABLE = 0xffff_fffd;

/** Script of an address of the local network. */
export function scriptAt(address: string): Uint8Array {
  const script = scriptOfAddress(address);
  if (script === null) throw new Error(`${address} is no address of the local network`);
  return script;
}

/** Opens the purse of a private key. */
export function aPurse(call: CoreCall, kind: AddressKind, privateKey: string): Purse {
  const key = fromHex(privateKey);
  const script = scriptOfKey(key, kind);
  const address = addressOf(script) as string;
  let coins: Coin[] = [];
  let spent: Coin[] = [];
  const isFree = async ({ txid, vout }: Coin): Promise<boolean> => {
    const found = await call<{ confirmations: number } | null>('gettxout', [txid, vout, true]);
    return found !== null && found.confirmations > 0;
  };
  const take = async (): Promise<Coin> => {
    for (const again of [false, true]) {
      // What a reorganisation gave back is found among what was spent.
      if (again) [coins, spent] = [spent, []];
      for (let left = coins.length; left > 0; left--) {
        const next = coins.shift() as Coin;
        spent.push(next);
        if (await isFree(next)) return next;
      }
    }
    throw new Error(`${address} has no coin that is free`);
  };
  const unlock: Purse['unlock'] = (transaction, index, all) => signInput(transaction, index, all, key, kind);
  return {
    address,
    script,
    unlock,
    take,
    add: (coin) => void coins.push(coin),
    async sign(outputs, { spends, change = true } = {}) {
      const inputs = spends ?? [await take()];
      const transaction = unsigned(inputs);
      for (const output of outputs) transaction.addOutput(output.script, output.value);
      const rest = sumOf(inputs) - sumOf(outputs) - FEE;
      if (rest < 0n) throw new Error(`${address} holds too little`);
      if (change) transaction.addOutput(script, rest);
      for (const index of inputs.keys()) unlock(transaction, index, inputs);
      const signed = { txid: transaction.getId(), hex: transaction.toHex(), spends: [...inputs] };
      if (change) coins.push({ txid: signed.txid, vout: transaction.outs.length - 1, value: rest, script });
      return signed;
    },
  };
}

/** A transaction that spends these coins to nobody yet; whatever waits with it may be replaced. */
export function unsigned(coins: readonly Coin[]): Transaction {
  const transaction = new Transaction();
  transaction.version = 2;
  for (const { txid, vout } of coins) transaction.addInput(fromHex(txid).reverse(), vout, REPLACEABLE);
  return transaction;
}

export function sumOf(values: readonly { value: bigint }[]): bigint {
  return values.reduce((sum, { value }) => sum + value, 0n);
}
