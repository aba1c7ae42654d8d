import { coldAddress } from '#api/payouts/rules/cold.ts';
import type { Chain } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount, fromUnits, toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

const ZERO_EVM = '0x0000000000000000000000000000000000000000';

/**
 * Refuses an unsuitable cold address: one of another network, or one where coins are lost or no safer than before. Call it once every wallet is
 * stored. Locks nothing.
 * @throws Invariant saying what the address is instead
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
 * The part of missing coins that lies in cold storage by the books, in chain units; zero for a wallet that sent none there.
 * Only the owner of cold storage can bring it back, and no other wallet pays for it meanwhile. Locks nothing.
 */
export async function storedOf(sql: Reads, asset: Pick<StoredAsset, 'id' | 'decimals'>, wallet: Pick<StoredWallet, 'role'>, missing: bigint): Promise<bigint> {
  if (wallet.role !== 'hot' || missing <= 0n) return 0n;
  const stored = toUnits(await bookedCold(sql, asset.id), asset.decimals) ?? 0n;
  return stored < missing ? stored : missing;
}

/** The reason why a cashout waits that needs coins from cold storage. */
export function refillReason(chain: Chain, asset: Pick<StoredAsset, 'symbol' | 'decimals'>, wallet: Pick<StoredWallet, 'address'>, stored: bigint): string {
  return waitReason('in_cold_storage', {
    amount: formatAmount(fromUnits(stored, asset.decimals)),
    asset: asset.symbol,
    address: chain.codec.display(wallet.address),
  });
}
