import type { Chain, Deps } from '#api/deps.ts';
import { findAssetByContract, nativeAsset } from '#api/store/assets.ts';
import { findDepositIndex } from '#api/store/wallets.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { checkLimits, checkTopUp } from '#api/treasury/limits.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';
import type { TransferIntent } from '#shared/chains/chain.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** A transfer in signed bytes, or one that is about to be signed. */
export interface Moves extends Pick<TransferIntent, 'sender' | 'recipient' | 'contract' | 'rawAmount'> {
  /** The most that the fee can be, in native units. */
  rawFee: bigint;
}

/**
 * Why the caps per transaction, hour and day, of all assets and of the asset's class, do not allow a transfer yet, or null (reliability D15).
 * The bytes and the signer's own keys decide how much leaves us, never the purpose in a row: the whole amount, or only the fee when the recipient
 * is ours or cold storage. `counted`: earlier bytes of the same nonce or anchor passed the caps with this amount, and only one of them can be paid,
 * so only the fee counts.
 */
export async function checkCaps(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  moves: Moves,
  { payoutId, counted }: { payoutId: string; counted: boolean },
): Promise<string | null> {
  const native = await nativeAsset(sql, chain.id);
  const fee = { symbol: native.symbol, decimals: native.decimals, rawFee: moves.rawFee };
  const rest = { planned: false, except: payoutId };
  const own = moves.recipient === coldAddress(chain) || (await isOurs(sql, chain, moves.recipient));
  if (own || counted) {
    const limit = await checkLimits(deps, sql, chain, { ...fee, rawAmount: moves.rawFee, native: true, ...rest });
    if (limit !== null) return limit.problem;
    if (moves.sender !== walletAddress(chain, 'funding')) return null;
    // The payout waits and is not refused, because the price may have risen since it was planned.
    return (await checkTopUp(deps, { symbol: native.symbol, decimals: native.decimals, rawAmount: moves.rawAmount }))?.problem ?? null;
  }
  const asset = await findAssetByContract(sql, chain.id, moves.contract);
  if (asset === undefined) return 'nobody knows what its asset is worth';
  const { symbol, decimals } = asset;
  const leaving = { symbol, decimals, native: moves.contract === null, rawAmount: moves.rawAmount, fee };
  return (await checkLimits(deps, sql, chain, { ...leaving, ...rest }))?.problem ?? null;
}

/** Whether the signer holds the key of an address: a configured wallet, or a deposit address that it derives itself. */
export async function isOurs(sql: Reads, chain: Pick<Chain, 'config' | 'codec' | 'deriver'>, address: string): Promise<boolean> {
  if (WALLET_ROLES.some((role) => walletAddress(chain, role) === address)) return true;
  const index = await findDepositIndex(sql, chain.config.family, address);
  return index !== undefined && chain.deriver.depositAddress(index) === address;
}
