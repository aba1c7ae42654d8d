import type { Coin } from './coins.ts';
import type { Tx } from './transaction.ts';

const TIME_THRESHOLD = 500_000_000;
const FINAL = 0xffffffff;
const DISABLED = 0x80000000;
const IN_TIME = 0x00400000;
const MASK = 0x0000ffff;

/** Whether a block at `height` after a median time of `medianTime` may hold the transaction (nLockTime, BIP-113). */
export function isFinal(tx: Tx, height: number, medianTime: number): boolean {
  const { locktime, ins } = tx.raw;
  if (locktime < (locktime < TIME_THRESHOLD ? height : medianTime)) return true;
  return ins.every((input) => input.sequence === FINAL);
}

/** Whether every input is old enough for what its sequence asks (BIP-68); `medianTimeAt` tells of blocks of the chain. */
export function isRipe(tx: Tx, spent: readonly Coin[], height: number, medianTime: number, medianTimeAt: (height: number) => number): boolean {
  if (tx.raw.version < 2 || tx.coinbase) return true;
  return tx.raw.ins.every(({ sequence }, index) => {
    const coin = spent[index];
    // In JavaScript the highest bit makes a number negative: divide instead of shifting.
    if (sequence >= DISABLED || coin === undefined) return true;
    const asked = sequence & MASK;
    if ((sequence & IN_TIME) === 0) return height >= coin.height + asked;
    return medianTime >= medianTimeAt(Math.max(coin.height - 1, 0)) + asked * 512;
  });
}
