import type { DecodedTransfer, OwnOutput } from '../chain.ts';
import { scriptOfAddress } from './address.ts';
import { type Selection, selectCoins } from './coin-selection.ts';
import type { FeeMarket } from './fees.ts';
import { outpointOf, readFields } from './fields.ts';
import { feeAt, mostFee, type Need } from './need.ts';
import type { BitcoinParams } from './params.ts';
import { leastVsizeOf, vsizeOf } from './vsize.ts';

/** A replacement raises the rate by an eighth at least, so that a few of them reach the market from anywhere. */
const RAISE_NUMERATOR = 9n;
const RAISE_DENOMINATOR = 8n;

/** What a replacement has to pay. */
export interface ReplacementFee {
  /** Satoshis per thousand virtual bytes. */
  rate: bigint;
  /** Satoshis for so many virtual bytes: at that rate, and more than everything before it by the increment. */
  of(vsize: bigint): bigint;
}

/**
 * What nodes ask of bytes that take the place of `replaced` (BIP-125): a higher rate, and more in all by the increment for
 * each of their own bytes. Any of the earlier ones may be what waits at a node, so each is outbid.
 * @param cap satoshis per thousand virtual bytes; null where whatever is asked is paid, because the coins stay ours
 * @returns null when that takes a rate above the cap
 */
export function replacementFee(replaced: readonly DecodedTransfer[], params: BitcoinParams, market: FeeMarket, cap: bigint | null): ReplacementFee | null {
  const fee = most(replaced.map(({ rawFeeLimit }) => rawFeeLimit));
  const rate = most(replaced.map((one) => rateOf(one, params)));
  const needed = rate + market.increment;
  const wanted = most([market.rate, needed, (rate * RAISE_NUMERATOR + RAISE_DENOMINATOR - 1n) / RAISE_DENOMINATOR]);
  if (cap !== null && needed > cap) return null;
  const chosen = cap !== null && wanted > cap ? cap : wanted;
  return { rate: chosen, of: (vsize) => most([feeAt(chosen, vsize), fee + feeAt(market.increment, vsize)]) };
}

/**
 * Chooses what pays a replacement: everything the newest bytes spend, the anchor first; what it costs more is taken from the
 * change, and from further outputs where that is not enough.
 * @returns null when there is not enough, or it would cost more than the cap
 */
export function replacementOf(wanted: {
  rawAmount: bigint;
  scripts: { payment: string; change: string; dust: bigint };
  coins: readonly OwnOutput[];
  replaced: readonly DecodedTransfer[];
  fee: ReplacementFee;
  cap: bigint;
}): Selection | null {
  const { rawAmount, scripts, coins, replaced, fee, cap } = wanted;
  const [newest] = replaced as [DecodedTransfer];
  const fixed = readFields(newest.fields).inputs;
  const spent = new Set(fixed.map(outpointOf));
  const need: Need = {
    rawAmount,
    feeOf: (inputs, withChange) => fee.of(vsizeOf(inputs, withChange ? [scripts.payment, scripts.change] : [scripts.payment])),
    feeRate: fee.rate,
    dust: scripts.dust,
  };
  const chosen = selectCoins(
    coins.filter((coin) => !spent.has(outpointOf(coin))),
    need,
    fixed,
  );
  if ('lacking' in chosen) return null;
  return chosen.fee <= mostFee(cap, chosen.inputs.length, scripts) ? chosen : null;
}

/** The highest rate at which signed bytes may be waiting, their signatures being as short as they get. */
function rateOf({ recipient, rawFeeLimit, fields }: DecodedTransfer, params: BitcoinParams): bigint {
  const { inputs, change } = readFields(fields);
  const scripts = [recipient, ...(change === null ? [] : [change.address])].map((address) => scriptOfAddress(address, params));
  const vsize = leastVsizeOf(inputs.length, scripts);
  return (rawFeeLimit * 1_000n + vsize - 1n) / vsize;
}

function most(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a > b ? a : b));
}
