import type { Chain, Deps } from '#api/deps.ts';
import { findAssetByContract, nativeAsset } from '#api/store/assets.ts';
import { findDepositIndex } from '#api/store/wallets.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { checkLimits, checkTopUp } from '#api/treasury/limits.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';
import type { TransferIntent } from '#shared/chains/chain.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** What bytes do, or are about to do. */
export interface Moves extends Pick<TransferIntent, 'sender' | 'recipient' | 'contract' | 'rawAmount'> {
  /** The most they may cost, native units. */
  rawFee: bigint;
}

/**
 * Holds what bytes take away from us against the caps per transaction, hour and day, of all assets and of their class (reliability D15). The signer
 * reads what leaves us from the bytes and from its own keys, never from the purpose in a row: to an address that is not ours the whole amount leaves,
 * between our own, and to cold storage, only the fee. `counted` is true where the same amount was let out with earlier bytes of its nonce, of which
 * only one can be paid. Answers why they must wait, or null.
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
    // It waits and is not refused: the price may have risen since the plan was made.
    return (await checkTopUp(deps, { symbol: native.symbol, decimals: native.decimals, rawAmount: moves.rawAmount }))?.problem ?? null;
  }
  const asset = await findAssetByContract(sql, chain.id, moves.contract);
  if (asset === undefined) return 'nobody knows what its asset is worth';
  const { symbol, decimals } = asset;
  const leaving = { symbol, decimals, native: moves.contract === null, rawAmount: moves.rawAmount, fee };
  return (await checkLimits(deps, sql, chain, { ...leaving, ...rest }))?.problem ?? null;
}

/** Whether the signer holds the key of an address: a configured wallet, or a deposit address it derives itself. */
export async function isOurs(sql: Reads, chain: Pick<Chain, 'config' | 'codec' | 'deriver'>, address: string): Promise<boolean> {
  if (WALLET_ROLES.some((role) => walletAddress(chain, role) === address)) return true;
  const index = await findDepositIndex(sql, chain.config.family, address);
  return index !== undefined && chain.deriver.depositAddress(index) === address;
}
