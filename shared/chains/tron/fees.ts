import { readList, readObject, readUnits, unsure } from './replies.ts';

/** What the chain charges, by its own parameters; sun per unit, or sun. */
export interface Prices {
  energy: bigint;
  /** Per byte, where neither staked nor free bandwidth covers the whole transaction. */
  bandwidth: bigint;
  /** What TRX to an address that is no account yet costs, instead of bandwidth. */
  newAccount: bigint;
  /** The part of `newAccount` that staked bandwidth pays instead. */
  newAccountBandwidth: bigint;
  /** No transaction may name a larger fee limit. */
  maxFeeLimit: bigint;
}

/** Several times what the chain ever charged; a node that says more is mistaken or lying, and nothing is signed on its word. */
const CEILING = { energy: 2_000n, bandwidth: 10_000n, newAccount: 100_000_000n };
/** Two storage writes and a log: no token transfer takes less. */
const LEAST_ENERGY = 10_000n;
/** 500 TRX, several times what the dearest known transfer burns; whatever a node says, no call of ours may burn more. */
const LARGEST_FEE_LIMIT = 500_000_000n;
/** Head-room over the simulation: the price of a busy contract rises from one maintenance period to the next (chains 3.5). */
const ENERGY_NUMERATOR = 12n;
const ENERGY_DENOMINATOR = 10n;

/** Energy of a USDT transfer, penalty included, for want of a simulation (chains 3.5, measured 30 Sep 2026). */
export const DOCUMENTED_ENERGY = { existingHolder: 64_285n, newHolder: 130_285n } as const;

/** Reads the answer of `getchainparameters`. @throws ChainUnavailable when a price is missing or absurd */
export function readPrices(answer: unknown): Prices {
  const listed = new Map<unknown, unknown>();
  for (const entry of readList(readObject(answer, 'the chain parameters').chainParameter, 'the chain parameters')) {
    const { key, value } = readObject(entry, 'a chain parameter');
    listed.set(key, value);
  }
  const price = (key: string, least: bigint, most?: bigint): bigint => {
    if (!listed.has(key)) unsure(`the chain parameter ${key} is missing`);
    const value = readUnits(listed.get(key), `the chain parameter ${key}`);
    return value < least || (most !== undefined && value > most) ? unsure(`the chain parameter ${key} is said to be ${value}`) : value;
  };
  const newAccountBandwidth = price('getCreateAccountFee', 0n, CEILING.newAccount);
  return {
    energy: price('getEnergyFee', 1n, CEILING.energy),
    bandwidth: price('getTransactionFee', 0n, CEILING.bandwidth),
    newAccount: newAccountBandwidth + price('getCreateNewAccountFeeInSystemContract', 0n, CEILING.newAccount),
    newAccountBandwidth,
    maxFeeLimit: price('getMaxFeeLimit', 1n),
  };
}

/**
 * The fee limit for a call that a simulation says takes `energy`: with head-room, as far as the caps allow. Too low a limit
 * burns all of it for nothing, so a call that does not fit below them is not made.
 * @returns null when it does not fit
 * @throws ChainUnavailable when no transfer can take so little
 */
export function feeLimitFor(energy: bigint, prices: Prices): bigint | null {
  if (energy < LEAST_ENERGY) unsure(`a transfer is said to take ${energy} energy`);
  const cap = prices.maxFeeLimit < LARGEST_FEE_LIMIT ? prices.maxFeeLimit : LARGEST_FEE_LIMIT;
  if (energy * prices.energy > cap) return null;
  const wanted = ((energy * ENERGY_NUMERATOR + ENERGY_DENOMINATOR - 1n) / ENERGY_DENOMINATOR) * prices.energy;
  return wanted < cap ? wanted : cap;
}

/** What an account has left to spend before TRX is burned for it. */
export interface Resources {
  energy: bigint;
  freeBandwidth: bigint;
  stakedBandwidth: bigint;
}

/** A transfer as far as its price goes. */
export interface Priced {
  feeLimit: bigint;
  /** Energy by simulation, without head-room; 0 for TRX. */
  energy: bigint;
  /** Bandwidth points. */
  bandwidth: bigint;
  /** Whether TRX goes to an address that is no account yet. */
  newAccount: boolean;
}

/**
 * The most a transfer can cost, sun. Nothing is subtracted for staked or free resources: another transfer of ours may use
 * them up first, and what a merchant is quoted must not depend on what a wallet of ours happens to hold (decisions 10).
 */
export function largestFee({ feeLimit, bandwidth, newAccount }: Priced, prices: Prices): bigint {
  const burned = bandwidth * prices.bandwidth;
  // The account may be created by somebody else before ours arrives, and then bandwidth is charged after all.
  return feeLimit + (newAccount && prices.newAccount > burned ? prices.newAccount : burned);
}

/** What a transfer would burn if the chain took it now, sun: bandwidth is covered whole or not at all, by one of the two kinds. */
export function presentFee({ energy, bandwidth, newAccount }: Priced, prices: Prices, left: Resources): bigint {
  const staked = left.stakedBandwidth >= bandwidth;
  if (newAccount) return staked ? prices.newAccount - prices.newAccountBandwidth : prices.newAccount;
  const missing = energy > left.energy ? energy - left.energy : 0n;
  return missing * prices.energy + (staked || left.freeBandwidth >= bandwidth ? 0n : bandwidth * prices.bandwidth);
}

/** Reads the answer of `getaccountresource`. @throws ChainUnavailable when it is none */
export function readResources(answer: unknown): Resources {
  const fields = readObject(answer, 'the resources');
  const left = (limit: string, used: string): bigint => {
    const rest = readUnits(fields[limit], limit) - readUnits(fields[used], used);
    return rest > 0n ? rest : 0n;
  };
  return { energy: left('EnergyLimit', 'EnergyUsed'), freeBandwidth: left('freeNetLimit', 'freeNetUsed'), stakedBandwidth: left('NetLimit', 'NetUsed') };
}
