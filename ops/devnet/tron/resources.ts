import type { Hex } from './bytes.ts';
import type { Cells, Value } from './cells.ts';
import { add, cell, trxOf } from './ledger.ts';
import { parameter } from './parameters.ts';

/** Usage regenerates over a day, counted in slots as java-tron does. */
const WINDOW_SLOTS = 28_800n;
const SLOT_MS = 3_000n;
/** What every transaction is charged beyond its own bytes, for the result a block adds to it (chains 3.5). */
const RESULT_BYTES = 64;

/** A limited, regenerating resource; `usedAt` in Unix milliseconds. */
interface Usage {
  used: bigint;
  usedAt: bigint;
}

/** What an account has besides coins: staked limits (settable) and what was used of them. */
export interface Resources {
  free: Usage;
  net: Usage;
  energy: Usage;
  netLimit: bigint;
  energyLimit: bigint;
}

const UNUSED: Usage = { used: 0n, usedAt: 0n };

export function resourcesOf(cells: Cells, address: Hex): Resources {
  const stored = cells.get(cell.resources(address)) as unknown as Resources | undefined;
  return stored ?? { free: UNUSED, net: UNUSED, energy: UNUSED, netLimit: 0n, energyLimit: 0n };
}

/** What is still used at `nowMs` of a resource used earlier, rounded to the nearest point. */
export function usedNow(usage: Usage, nowMs: bigint): bigint {
  const elapsed = nowMs / SLOT_MS - usage.usedAt / SLOT_MS;
  if (elapsed >= WINDOW_SLOTS) return 0n;
  return elapsed <= 0n ? usage.used : (usage.used * (WINDOW_SLOTS - elapsed) + WINDOW_SLOTS / 2n) / WINDOW_SLOTS;
}

export function energyLeft(cells: Cells, address: Hex, nowMs: bigint): bigint {
  const { energy, energyLimit } = resourcesOf(cells, address);
  const left = energyLimit - usedNow(energy, nowMs);
  return left > 0n ? left : 0n;
}

export interface BandwidthBill {
  /** Points used, free or staked; 0 when paid in sun. */
  usage: bigint;
  /** Sun burned because points did not suffice, or because an account is created. */
  fee: bigint;
}

/** Bandwidth points a transaction of so many bytes costs. */
export function bandwidthPoints(bytes: number): bigint {
  return BigInt(bytes + RESULT_BYTES);
}

/**
 * Charges bandwidth: staked points, else free points, else sun per byte; all or nothing. Creating an account by a system
 * contract costs staked points or a fixed fee instead. Null when the owner cannot pay.
 */
export function chargeBandwidth(cells: Cells, owner: Hex, points: bigint, createsAccount: boolean, nowMs: bigint): BandwidthBill | null {
  const resources = resourcesOf(cells, owner);
  const take = (name: 'free' | 'net', limit: bigint): boolean => {
    const used = usedNow(resources[name], nowMs) + points;
    if (used > limit) return false;
    cells.set(cell.resources(owner), { ...resources, [name]: { used, usedAt: nowMs } } as unknown as Value);
    return true;
  };
  if (take('net', resources.netLimit)) return { usage: points, fee: 0n };
  if (!createsAccount && take('free', parameter(cells, 'getFreeNetLimit'))) return { usage: points, fee: 0n };
  const fee = createsAccount ? parameter(cells, 'getCreateAccountFee') : points * parameter(cells, 'getTransactionFee');
  if (trxOf(cells, owner) < fee) return null;
  add(cells, cell.trx(owner), -fee);
  return { usage: 0n, fee };
}

export interface EnergyBill {
  /** Staked energy used. */
  usage: bigint;
  /** Sun burned for the rest. */
  fee: bigint;
}

/** The most energy a call may take: staked and bought together, never more than the fee limit buys (java-tron's fix-ratio rule). */
export function energyAllowance(cells: Cells, owner: Hex, feeLimit: bigint, callValue: bigint, nowMs: bigint): bigint {
  const price = parameter(cells, 'getEnergyFee');
  const spendable = trxOf(cells, owner) - callValue;
  const available = energyLeft(cells, owner, nowMs) + (spendable > 0n ? spendable / price : 0n);
  const limited = feeLimit / price;
  return available < limited ? available : limited;
}

/** Charges energy: staked first, the rest in sun. The allowance made sure that it can be paid. */
export function chargeEnergy(cells: Cells, owner: Hex, total: bigint, nowMs: bigint): EnergyBill {
  const left = energyLeft(cells, owner, nowMs);
  const usage = total < left ? total : left;
  const fee = (total - usage) * parameter(cells, 'getEnergyFee');
  const resources = resourcesOf(cells, owner);
  if (usage > 0n)
    cells.set(cell.resources(owner), { ...resources, energy: { used: usedNow(resources.energy, nowMs) + usage, usedAt: nowMs } } as unknown as Value);
  add(cells, cell.trx(owner), -fee);
  return { usage, fee };
}
