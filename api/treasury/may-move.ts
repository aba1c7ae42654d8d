import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { noteRefusal } from '#api/store/freezes.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';

/** Whether a token lets one of our addresses move it. `unknown`: the address holds nothing to try it with. */
export type Mobility = 'moves' | 'refused' | 'unknown';

/** The last address of the account. It is never given to a payer, so no issuer can know it. */
const NEVER_GIVEN = 2 ** 31 - 1;

/**
 * Simulates whether a token lets one of our addresses move one unit to others of ours (decision 0033). Locks nothing.
 * `refused` means that none of them may receive it, not even an address that was never published. Recipients, payers and other holders cannot cause
 * that; only the issuer can.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function mayMove(chain: Chain, contract: string, sender: string): Promise<Mobility> {
  const held = await chain.payer.balance(sender, contract);
  const cold = coldAddress(chain);
  const targets = [chain.deriver.depositAddress(NEVER_GIVEN), ...WALLET_ROLES.map((role) => walletAddress(chain, role)), ...(cold === null ? [] : [cold])];
  for (const recipient of targets.filter((one) => one !== sender)) {
    const answer = await chain.payer.estimate({ sender, recipient, contract, rawAmount: 1n });
    if (answer.ok) return 'moves';
  }
  // If the address held nothing before or after, that may be why it was refused, because a payout can take all of it in between.
  return held > 0n && (await chain.payer.balance(sender, contract)) > 0n ? 'refused' : 'unknown';
}

/**
 * Records a deposit address whose sweep the network refuses, if the issuer causes that. Its coins stay there, and do not keep other addresses from
 * being swept. @throws ChainUnavailable as `mayMove`
 */
export async function noteIfRefused(deps: Deps, chain: Chain, asset: StoredAsset, address: string): Promise<void> {
  if (asset.contract === null || (await mayMove(chain, asset.contract, address)) !== 'refused') return;
  const height = (await readTip(deps.db.sql, chain.id))?.height ?? 0;
  await noteRefusal(deps.db.sql, { assetId: asset.id, address, role: 'deposit', height });
  deps.log.error({ network: chain.config.name, asset: asset.symbol, address }, 'the issuer does not let a deposit address move its coins');
}
