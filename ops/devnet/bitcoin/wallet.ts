import { Transaction } from 'bitcoinjs-lib';
import { hashOf, idOf, sha256, toHex } from './bytes.ts';
import type { Chain } from './chain.ts';
import type { Coin } from './coins.ts';
import type { Mempool } from './mempool.ts';
import { REGTEST } from './parameters.ts';
import { dustLimit, feeAt } from './policy.ts';
import { RPC, RpcError } from './refusal.ts';
import { addressOf } from './script.ts';
import { type AddressKind, scriptOfKey, signInput } from './sign.ts';
import { outpoint, type Spent, type Tx, txOf } from './transaction.ts';

interface Own {
  key: Uint8Array;
  kind: AddressKind;
  script: Uint8Array;
}

interface WalletCoin extends Own {
  point: string;
  value: bigint;
  confirmations: number;
}

/** A wallet of the node: keys that follow from its name, known to whoever knows that, and what they own. */
export interface Wallet {
  name: string;
  /** How many addresses it gave out. */
  issued: number;
  firstAddress: string;
  newAddress(kind: AddressKind): string;
  /** Its coins that may be spent now, the largest first; its own change also while it waits. */
  coins(): WalletCoin[];
  /** Satoshis: confirmed or its own change. */
  balance(): bigint;
  /**
   * Builds a payment at satoshis per 1,000 vbytes; change comes back to its first address, and `changeAt` is -1 without any.
   * @throws RpcError when there is too little
   */
  fund(outputs: readonly Spent[], rate: bigint, feeFromFirst?: boolean): { raw: Transaction; changeAt: number };
  /** Signs what it has the keys for; complete when nothing is left to sign. */
  sign(raw: Transaction): { tx: Tx; complete: boolean };
}

export interface Wallets {
  open: Map<string, Wallet>;
  /** @throws RpcError when one of that name is open */
  create(name: string): Wallet;
  restore(name: string, issued: number): void;
}

/** Sizes for the fee before there are signatures, in vbytes; a few too many are harmless. */
const INPUT_VSIZE: Record<AddressKind, number> = { legacy: 148, 'p2sh-segwit': 91, bech32: 68, bech32m: 58 };
const REPLACEABLE = 0xfffffffd;

export function createWallets(chain: Chain, mempool: Mempool, changed: (wallet: Wallet) => void): Wallets {
  const open = new Map<string, Wallet>();
  const make = (name: string): Wallet => {
    const wallet = createWallet(name, chain, mempool, changed);
    open.set(name, wallet);
    return wallet;
  };
  return {
    open,
    create(name) {
      if (open.has(name)) throw new RpcError(RPC.wallet, `Wallet file verification failed. Failed to create database path '${name}'. Database already exists.`);
      const wallet = make(name);
      changed(wallet);
      return wallet;
    },
    restore(name, issued) {
      const wallet = open.get(name) ?? make(name);
      while (wallet.issued < issued) wallet.newAddress('bech32');
    },
  };
}

function createWallet(name: string, chain: Chain, mempool: Mempool, changed: (wallet: Wallet) => void): Wallet {
  const owned = new Map<string, Own>();
  /** Every key has all four kinds of address. */
  const learn = (index: number): void => {
    const key = sha256(Buffer.from(`local bitcoin wallet ${name} ${index}`));
    for (const kind of ['legacy', 'p2sh-segwit', 'bech32', 'bech32m'] as const) {
      const script = scriptOfKey(key, kind);
      owned.set(toHex(script), { key, kind, script });
    }
  };
  const scriptAt = (index: number, kind: AddressKind): Uint8Array => scriptOfKey(sha256(Buffer.from(`local bitcoin wallet ${name} ${index}`)), kind);
  learn(0);

  const held = (): (WalletCoin & { coin: Coin })[] =>
    [...owned.values()].flatMap((own) =>
      chain.coins.at(own.script).flatMap((point) => {
        const coin = chain.coins.get(point);
        if (coin === undefined || mempool.spender(point) !== undefined) return [];
        return [{ ...own, point, value: coin.value, confirmations: chain.tip().height - coin.height + 1, coin }];
      }),
    );
  const change = (): WalletCoin[] =>
    [...mempool.entries.values()]
      .filter(({ spent }) => spent.every(({ script }) => owned.has(toHex(script))))
      .flatMap(({ tx }) =>
        tx.raw.outs.flatMap(({ script, value }, vout) => {
          const own = owned.get(toHex(script));
          const point = outpoint(tx.txid, vout);
          return own === undefined || mempool.spender(point) !== undefined ? [] : [{ ...own, point, value, confirmations: 0 }];
        }),
      );
  const ripe = ({ coin, confirmations }: WalletCoin & { coin: Coin }): boolean => !coin.coinbase || confirmations > REGTEST.coinbaseMaturity;
  const coins = (): WalletCoin[] => {
    const confirmed = held().filter((each) => ripe(each) && each.value > 0n);
    const byValue = (a: WalletCoin, b: WalletCoin): number => (a.value < b.value ? 1 : -1);
    return [...confirmed.sort(byValue), ...change().sort(byValue)];
  };

  const wallet: Wallet = {
    name,
    issued: 0,
    firstAddress: addressOf(scriptAt(0, 'bech32')) ?? '',
    newAddress(kind) {
      wallet.issued += 1;
      learn(wallet.issued);
      changed(wallet);
      return addressOf(scriptAt(wallet.issued, kind)) ?? '';
    },
    coins,
    balance: () => coins().reduce((sum, { value }) => sum + value, 0n),
    fund(outputs, rate, feeFromFirst = false) {
      const wanted = outputs.reduce((sum, { value }) => sum + value, 0n);
      const chosen: WalletCoin[] = [];
      const changeScript = scriptAt(0, 'bech32');
      const fixed = 11 + 31 + outputs.reduce((sum, { script }) => sum + 9 + script.length, 0);
      const fee = (): bigint =>
        feeAt(
          rate,
          chosen.reduce((sum, { kind }) => sum + INPUT_VSIZE[kind], fixed),
        );
      const has = (): bigint => chosen.reduce((sum, { value }) => sum + value, 0n);
      const needed = (): bigint => wanted + (feeFromFirst ? 0n : fee());
      for (const coin of coins()) {
        if (chosen.length > 0 && has() >= needed()) break;
        chosen.push(coin);
      }
      if (has() < needed()) throw new RpcError(RPC.insufficientFunds, 'Insufficient funds');
      const raw = new Transaction();
      raw.version = 2;
      raw.locktime = chain.tip().height;
      for (const { point } of chosen) {
        const [txid = '', vout = ''] = point.split(':');
        raw.addInput(hashOf(txid), Number(vout), REPLACEABLE);
      }
      for (const [at, { script, value }] of outputs.entries()) raw.addOutput(script, value - (feeFromFirst && at === 0 ? fee() : 0n));
      const rest = has() - needed();
      const changed = rest > dustLimit(changeScript);
      if (changed) raw.addOutput(changeScript, rest);
      return { raw, changeAt: changed ? outputs.length : -1 };
    },
    sign(raw) {
      const spent = raw.ins.map(({ hash, index }) => mempool.view.get(outpoint(idOf(hash), index)));
      let complete = true;
      spent.forEach((coin, index) => {
        const own = coin && owned.get(toHex(coin.script));
        if (own === undefined || spent.includes(undefined)) complete &&= (raw.ins[index]?.witness.length ?? 0) > 0;
        else signInput(raw, index, spent as Coin[], own.key, own.kind);
      });
      return { tx: txOf(raw), complete };
    },
  };
  return wallet;
}
