import type { Chain, Deps } from '#api/deps.ts';
import { findAsset, listAssets, type StoredAsset } from '#api/store/assets.ts';
import { isOwnAddress } from '#api/store/wallets.ts';
import { isColdAddress } from '#api/payouts/rules/cold.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { type Coins, parseAmount, toUnits } from '#shared/core/money.ts';

/** A destination that passed every rule about destinations (decisions 10). */
export interface Destination {
  /** The form that is compared and stored in the address book. */
  canonical: string;
  /** The form that the contract shows. */
  display: string;
}

const ZERO_EVM = '0x0000000000000000000000000000000000000000';

/**
 * Finds the asset of a cashout, and its chain.
 * @throws validation_error naming assetId when there is none; service_unavailable while its network is not served
 */
export async function readAsset(deps: Deps, assetId: unknown): Promise<{ asset: StoredAsset; chain: Chain }> {
  const asset = typeof assetId === 'string' && isUuid(assetId) ? await findAsset(deps.db.sql, assetId) : undefined;
  if (asset === undefined) throw invalid('assetId', 'is not an asset of this service');
  const chain = deps.chains.get(asset.networkName);
  if (chain === undefined) throw new ServiceError('service_unavailable', { message: `The network ${asset.networkName} is not served right now.` });
  return { asset, chain };
}

/**
 * Reads a cashout amount: greater than zero and payable exactly in the asset's decimals (decisions 1).
 * @throws validation_error naming amount
 */
export function readAmount(text: unknown, decimals: number): { coins: Coins; raw: bigint } {
  const coins = parseAmount<'asset'>(text as string, 'amount');
  if (coins <= 0n) throw invalid('amount', 'must be greater than 0');
  const raw = toUnits(coins, decimals);
  if (raw === undefined) throw invalid('amount', `has more than ${decimals} decimal places, which is all this asset has`);
  return { coins, raw };
}

/**
 * Checks the destination of a cashout: an address of the asset's chain that is not the zero address, a token contract, or one of ours (decisions
 * 10).
 * @throws validation_error naming address
 */
export async function readDestination(deps: Deps, asset: Pick<StoredAsset, 'networkId' | 'family'>, chain: Chain, text: unknown): Promise<Destination> {
  const parsed = typeof text === 'string' ? chain.codec.parse(text) : ({ ok: false, problem: 'must be a string' } as const);
  if (!parsed.ok) throw invalid('address', parsed.problem);
  const { canonical } = parsed;
  if (canonical === ZERO_EVM) throw invalid('address', 'is the zero address');
  const contracts = (await listAssets(deps.db.sql)).filter((one) => one.networkId === asset.networkId && one.contract !== null);
  if (contracts.some((one) => one.contract === canonical)) throw invalid('address', 'is a token contract; coins sent there are lost');
  if (isColdAddress(deps, asset.family, canonical) || (await isOwnAddress(deps.db.sql, asset.family, canonical)))
    throw invalid('address', 'belongs to this service');
  return { canonical, display: chain.codec.display(canonical) };
}
