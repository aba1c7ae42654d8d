import type { NetworkConfig } from '#shared/core/assets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Rpc } from '../rpc.ts';
import { satoshisOf } from './json.ts';
import { unsure } from './replies.ts';

/** What a deployment says about fees; rates here and below are satoshis per thousand virtual bytes, as nodes count them. */
export interface FeeBounds {
  floor: bigint;
  cap: bigint;
  /** Used while no node can tell what blocks take, as on a young or a quiet chain. */
  fallback: bigint;
  /** Blocks within which a payout should be in. */
  targetBlocks: number;
}

/** What nodes ask for now. */
export interface FeeMarket {
  /** What gets a payout in as soon as it should, within the bounds. */
  rate: bigint;
  /** How much more than what it replaces a replacement has to pay for each of its own bytes. */
  increment: bigint;
}

const PER_VBYTE = /^(\d{1,6})(?:\.(\d{1,3}))?$/;
/** Some nodes take less; those that do not never see a replacement that offers less (chains 2.3). */
const LEAST_INCREMENT = 1_000n;
/** Another node that has not answered by then is left out, and left alone for a while. */
const PATIENCE_MS = 1_000;
const QUIET_MS = 60_000;

/** @throws Invariant when a rate is no decimal text of at most three places, or the bounds contradict each other */
export function feeBoundsOf({ feeRate = {} }: Pick<NetworkConfig, 'feeRate'>): FeeBounds {
  const given = { ...POLICY.bitcoinFeeRate, ...feeRate };
  const bounds = { floor: perThousand(given.floor), cap: perThousand(given.cap), fallback: perThousand(given.fallback), targetBlocks: given.targetBlocks };
  if (bounds.floor > bounds.cap) throw new Invariant('the lowest fee rate is above the highest one');
  return bounds;
}

function perThousand(perVbyte: string): bigint {
  const [, whole, fraction = ''] = PER_VBYTE.exec(perVbyte) ?? [];
  if (whole === undefined) throw new Invariant(`not a fee rate in satoshis per virtual byte: ${perVbyte.slice(0, 40)}`);
  return BigInt(whole) * 1_000n + BigInt(fraction.padEnd(3, '0'));
}

/**
 * Asks one node, and what other nodes estimate. Where they differ the one in the middle counts, of two the higher: a rate
 * that is too low waits for its replacement, one that is too high ends at the cap. A node that asks for more than the cap
 * before it passes anything on is one that cannot be paid through.
 */
export function feeMarketOf(rpc: Rpc, others: readonly Rpc[], bounds: FeeBounds, now: () => number = () => performance.now()): () => Promise<FeeMarket> {
  const quietUntilMs = others.map(() => 0);
  const estimate = async (ask: Rpc): Promise<bigint | null> => readEstimate(await ask('estimatesmartfee', [bounds.targetBlocks]));
  const estimateOfOther = async (other: Rpc, at: number): Promise<bigint | null> => {
    if ((quietUntilMs[at] ?? 0) > now()) return null;
    try {
      return await inTime(estimate(other));
    } catch {
      quietUntilMs[at] = now() + QUIET_MS;
      return null;
    }
  };
  return async () => {
    const [own, minimum, ...further] = await Promise.all([estimate(rpc), rpc('getmempoolinfo', []).then(readMinimum), ...others.map(estimateOfOther)]);
    const rate = rateWithin(
      bounds,
      minimum.rate,
      [own, ...further].filter((told) => told !== null),
    );
    return { rate, increment: minimum.increment > LEAST_INCREMENT ? minimum.increment : LEAST_INCREMENT };
  };
}

/** The rate to pay: what is estimated, or else the fallback; no less than floor and minimum, no more than the cap. @throws ChainUnavailable when the minimum is above the cap */
export function rateWithin({ floor, cap, fallback }: FeeBounds, minimum: bigint, estimates: readonly bigint[]): bigint {
  if (minimum > cap) unsure(`it takes nothing below ${minimum} sat/kvB, which is above the highest rate of the configuration`);
  const sorted = estimates.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const wanted = [sorted[Math.floor(sorted.length / 2)] ?? fallback, floor, minimum].reduce((a, b) => (a > b ? a : b));
  return wanted < cap ? wanted : cap;
}

/** Reads `estimatesmartfee`: null as long as the node has seen too little (chains 2.2). @throws ChainUnavailable when it is none */
function readEstimate(answer: unknown): bigint | null {
  const { feerate, errors } = (answer ?? {}) as { feerate?: unknown; errors?: unknown };
  if (feerate === undefined && Array.isArray(errors)) return null;
  const rate = satoshisOf(feerate);
  return rate !== undefined && rate > 0n ? rate : unsure('its fee estimate is no rate');
}

/** Reads `getmempoolinfo`. @throws ChainUnavailable when it is none */
function readMinimum(answer: unknown): { rate: bigint; increment: bigint } {
  const info = (answer ?? {}) as { mempoolminfee?: unknown; minrelaytxfee?: unknown; incrementalrelayfee?: unknown };
  const [mempool, relay] = [satoshisOf(info.mempoolminfee), satoshisOf(info.minrelaytxfee)];
  // Older nodes do not say it here; ours is above their default.
  const increment = info.incrementalrelayfee === undefined ? 0n : satoshisOf(info.incrementalrelayfee);
  if (mempool === undefined || relay === undefined || increment === undefined) return unsure('its lowest fee is no rate');
  if (mempool < 0n || relay < 0n || increment < 0n) return unsure('its lowest fee is below nothing');
  return { rate: mempool > relay ? mempool : relay, increment };
}

/** @throws Error when it takes longer than anybody waits for a second opinion */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), PATIENCE_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
