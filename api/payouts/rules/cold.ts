import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import type { Family } from '#shared/core/assets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';

/** The amounts between which a hot wallet is kept, in chain units. */
export interface ColdLimits {
  /** The excess above it goes to cold storage. */
  ceiling: bigint;
  /** Below it an operator is asked to refill it. */
  floor: bigint;
  /** A move leaves this much: half way between, so that neither the next deposit nor the next cashout crosses a limit. */
  target: bigint;
}

/**
 * Canonical address of a network's cold storage, or null when it has none.
 * It comes from the configuration of this process and never from a row, so that write access to the database cannot redirect excess coins
 * (decisions 12). @throws Invariant when it is not an address of that network
 */
export function coldAddress({ codec, config }: Pick<Chain, 'codec' | 'config'>): string | null {
  if (config.cold === undefined) return null;
  const parsed = codec.parse(config.cold.address);
  if (!parsed.ok) throw new Invariant(`the cold address of ${config.name} is not an address: ${parsed.problem}`);
  return parsed.canonical;
}

/** Whether an address is the cold storage of any network of its family that is served here; it then belongs to this deployment (decisions 10). */
export function isColdAddress({ chains }: Pick<Deps, 'chains'>, family: Family, address: string): boolean {
  return [...chains.values()].some((chain) => chain.config.family === family && coldAddress(chain) === address);
}

/** The limits of an asset's hot wallet; null where the asset does not go to cold storage, as for one that an operator added later. */
export function coldLimits({ config }: Chain, asset: Pick<StoredAsset, 'symbol' | 'contract' | 'decimals'>): ColdLimits | null {
  const configured = config.assets.find((one) => one.symbol === asset.symbol && (one.contract === null) === (asset.contract === null));
  if (config.cold === undefined || configured?.coldStorage === undefined) return null;
  const [ceiling, floor] = [configured.coldStorage.ceiling, configured.coldStorage.floor].map((figure) => toUnits(parseTrusted(figure), asset.decimals));
  if (ceiling === undefined || floor === undefined) throw new Invariant(`the limits of ${asset.symbol} on ${config.name} are no amounts of it`);
  return { ceiling, floor, target: (ceiling + floor) / 2n };
}
