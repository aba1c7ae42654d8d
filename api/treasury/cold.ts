import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import type { Family } from '#shared/core/assets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount, fromUnits, parseTrusted, toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** Between which amounts a hot wallet is kept, chain units. */
export interface ColdLimits {
  /** What is above it goes to cold storage. */
  ceiling: bigint;
  /** Below it somebody is asked for a refill. */
  floor: bigint;
  /** What a move leaves: half way between, so that neither the next deposit nor the next cashout is past one of them. */
  target: bigint;
}

const ZERO_EVM = '0x0000000000000000000000000000000000000000';

/**
 * Canonical address of a network's cold storage, or null when it has none: by the configuration of this very process and never by a row,
 * so that whoever can write the database moves nothing anywhere else (decisions 12). @throws Invariant when it is no address of that network
 */
export function coldAddress({ codec, config }: Chain): string | null {
  if (config.cold === undefined) return null;
  const parsed = codec.parse(config.cold.address);
  if (!parsed.ok) throw new Invariant(`the cold address of ${config.name} is not an address: ${parsed.problem}`);
  return parsed.canonical;
}

/** Whether an address is the cold storage of any network of its family that is served here: it is one of this deployment (decisions 10). */
export function isColdAddress({ chains }: Pick<Deps, 'chains'>, family: Family, address: string): boolean {
  return [...chains.values()].some((chain) => chain.config.family === family && coldAddress(chain) === address);
}

/** The limits of an asset's hot wallet; null where nothing of it goes to cold storage. An asset that an operator added later has none. */
export function coldLimits({ config }: Chain, asset: Pick<StoredAsset, 'symbol' | 'contract' | 'decimals'>): ColdLimits | null {
  const configured = config.assets.find((one) => one.symbol === asset.symbol && (one.contract === null) === (asset.contract === null));
  if (config.cold === undefined || configured?.coldStorage === undefined) return null;
  const [ceiling, floor] = [configured.coldStorage.ceiling, configured.coldStorage.floor].map((figure) => toUnits(parseTrusted(figure), asset.decimals));
  if (ceiling === undefined || floor === undefined) throw new Invariant(`the limits of ${asset.symbol} on ${config.name} are no amounts of it`);
  return { ceiling, floor, target: (ceiling + floor) / 2n };
}

/**
 * Refuses a cold address that is none: on another network, or one where coins are no safer than before or lost. Call it once every
 * wallet is stored. Locks nothing.
 * @throws Invariant saying what it is instead
 */
export async function assertCold(sql: Reads, chain: Chain): Promise<void> {
  const address = coldAddress(chain);
  if (address === null) return;
  const { name, family, assets } = chain.config;
  const contracts = assets.flatMap(({ contract }) => {
    const parsed = contract === null ? null : chain.codec.parse(contract);
    return parsed?.ok ? [parsed.canonical] : [];
  });
  if (address === ZERO_EVM || contracts.includes(address)) throw new Invariant(`the cold address of ${name} is one from which nothing comes back`);
  if (await isOwnAddress(sql, family, address)) throw new Invariant(`the cold address of ${name} is one of our own, whose key is in the signer`);
}

/**
 * What of missing coins lies in cold storage by the books, chain units; zero for a wallet that none of it comes from. Only its owner can
 * bring it back, and nobody else pays for it meanwhile. Locks nothing.
 */
export async function storedOf(sql: Reads, asset: Pick<StoredAsset, 'id' | 'decimals'>, wallet: Pick<StoredWallet, 'role'>, missing: bigint): Promise<bigint> {
  if (wallet.role !== 'hot' || missing <= 0n) return 0n;
  const stored = toUnits(await bookedCold(sql, asset.id), asset.decimals) ?? 0n;
  return stored < missing ? stored : missing;
}

/** What a cashout waits for that needs coins of cold storage. */
export function refillReason(chain: Chain, asset: Pick<StoredAsset, 'symbol' | 'decimals'>, wallet: Pick<StoredWallet, 'address'>, stored: bigint): string {
  return `${formatAmount(fromUnits(stored, asset.decimals))} ${asset.symbol} lie in cold storage: refill the hot wallet ${chain.codec.display(wallet.address)}`;
}
