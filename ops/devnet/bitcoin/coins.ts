import { toHex } from './bytes.ts';
import { REGTEST } from './parameters.ts';
import { Rejected } from './refusal.ts';
import { outpoint, spentBy, type Tx } from './transaction.ts';

/** An unspent output. */
export interface Coin {
  script: Uint8Array;
  value: bigint;
  /** Height of the block that made it; one above the head while it waits in the mempool. */
  height: number;
  coinbase: boolean;
}

/** Unspent outputs by outpoint, and by who may spend them. */
export interface Coins {
  get(outpoint: string): Coin | undefined;
  has(outpoint: string): boolean;
  set(outpoint: string, coin: Coin): void;
  delete(outpoint: string): void;
  size(): number;
  /** Outpoints of the coins with this output script. */
  at(script: Uint8Array): string[];
}

export function createCoins(): Coins {
  const coins = new Map<string, Coin>();
  const scripts = new Map<string, Set<string>>();
  return {
    get: (point) => coins.get(point),
    has: (point) => coins.has(point),
    set(point, coin) {
      coins.set(point, coin);
      const key = toHex(coin.script);
      const points = scripts.get(key);
      if (points === undefined) scripts.set(key, new Set([point]));
      else points.add(point);
    },
    delete(point) {
      const coin = coins.get(point);
      if (coin === undefined) return;
      coins.delete(point);
      const key = toHex(coin.script);
      const points = scripts.get(key);
      points?.delete(point);
      if (points?.size === 0) scripts.delete(key);
    },
    size: () => coins.size,
    at: (script) => [...(scripts.get(toHex(script)) ?? [])],
  };
}

/** Whatever can tell of coins. */
export interface CoinView {
  get(outpoint: string): Coin | undefined;
}

/** Outputs that can never be spent are not kept. */
function spendable(script: Uint8Array): boolean {
  return script[0] !== 0x6a && script.length <= 10_000;
}

/** Takes what a transaction spends and adds what it makes; returns the coins it spent, input by input. */
export function applyTo(coins: Coins, tx: Tx, height: number): Coin[] {
  const spent: Coin[] = [];
  for (const point of tx.coinbase ? [] : spentBy(tx)) {
    const coin = coins.get(point);
    if (coin === undefined) throw new Rejected('bad-txns-inputs-missingorspent', `CheckTxInputs: inputs missing/spent in transaction ${tx.txid}`);
    coins.delete(point);
    spent.push(coin);
  }
  for (const [vout, { script, value }] of tx.raw.outs.entries()) {
    if (spendable(script)) coins.set(outpoint(tx.txid, vout), { script, value, height, coinbase: tx.coinbase });
  }
  return spent;
}

/** Undoes `applyTo`. */
export function undoIn(coins: Coins, tx: Tx, spent: Coin[]): void {
  for (const vout of tx.raw.outs.keys()) coins.delete(outpoint(tx.txid, vout));
  for (const [index, point] of (tx.coinbase ? [] : spentBy(tx)).entries()) {
    const coin = spent[index];
    if (coin !== undefined) coins.set(point, coin);
  }
}

/** What is wrong with a transaction whatever it spends (consensus/tx_check.cpp). @throws Rejected */
export function checkTransaction(tx: Tx): void {
  const { ins, outs } = tx.raw;
  if (outs.length === 0) throw new Rejected('bad-txns-vout-empty');
  let total = 0n;
  for (const { value } of outs) {
    if (value < 0n) throw new Rejected('bad-txns-vout-negative');
    if (value > REGTEST.maxMoney) throw new Rejected('bad-txns-vout-toolarge');
    total += value;
  }
  if (total > REGTEST.maxMoney) throw new Rejected('bad-txns-txouttotal-toolarge');
  if (tx.coinbase) {
    const length = ins[0]?.script.length ?? 0;
    if (length < 2 || length > 100) throw new Rejected('bad-cb-length');
    return;
  }
  const points = spentBy(tx);
  if (new Set(points).size !== points.length) throw new Rejected('bad-txns-inputs-duplicate');
  if (ins.some((input) => input.index === 0xffffffff && input.hash.every((byte) => byte === 0))) throw new Rejected('bad-txns-prevout-null');
}

/** What a transaction pays for being mined at `height`. @throws Rejected when its coins are not ripe or too few */
export function feeOf(tx: Tx, spent: readonly Coin[], height: number): bigint {
  let paid = 0n;
  for (const coin of spent) {
    const depth = height - coin.height;
    if (coin.coinbase && depth < REGTEST.coinbaseMaturity)
      throw new Rejected('bad-txns-premature-spend-of-coinbase', `tried to spend coinbase at depth ${depth}`);
    paid += coin.value;
  }
  const given = tx.raw.outs.reduce((sum, { value }) => sum + value, 0n);
  if (paid < given) throw new Rejected('bad-txns-in-belowout', `value in (${inCoins(paid)}) < value out (${inCoins(given)})`);
  return paid - given;
}

/** Satoshis as Bitcoin Core writes them in messages: whole coins with at least two decimals. */
export function inCoins(satoshis: bigint): string {
  const whole = satoshis / 100_000_000n;
  const rest = (satoshis % 100_000_000n).toString().padStart(8, '0');
  return `${whole}.${rest.replace(/0{1,6}$/, '')}`;
}
