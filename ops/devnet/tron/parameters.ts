import type { Cells } from './cells.ts';

/** Chain parameters as mainnet had them in 2026 (chains 3.5); those that matter to fees can be set by control. */
const DEFAULTS = {
  getMaintenanceTimeInterval: 21_600_000n,
  getCreateAccountFee: 100_000n,
  getTransactionFee: 1_000n,
  getCreateNewAccountFeeInSystemContract: 1_000_000n,
  getCreateNewAccountBandwidthRate: 1n,
  getEnergyFee: 100n,
  getMaxCpuTimeOfOneTx: 80n,
  getTotalEnergyLimit: 180_000_000_000n,
  getTotalEnergyCurrentLimit: 180_000_000_000n,
  getMultiSignFee: 1_000_000n,
  getFreeNetLimit: 600n,
  getTotalNetLimit: 43_200_000_000n,
  getMaxFeeLimit: 15_000_000_000n,
  getMemoFee: 1_000_000n,
  getUnfreezeDelayDays: 14n,
  getMaxCreateAccountTxSize: 1_000n,
} as const;

export type ParameterName = keyof typeof DEFAULTS;

export function parameter(cells: Cells, name: ParameterName): bigint {
  const set = cells.get(`param:${name}`);
  return typeof set === 'bigint' ? set : DEFAULTS[name];
}

/** Every parameter with its value, in the order a node lists them. */
export function parameters(cells: Cells): { key: ParameterName; value: bigint }[] {
  return (Object.keys(DEFAULTS) as ParameterName[]).map((key) => ({ key, value: parameter(cells, key) }));
}

export function isParameter(name: string): name is ParameterName {
  return Object.hasOwn(DEFAULTS, name);
}
