import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { noteRefusal } from '#api/store/freezes.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';

/** Whether a token lets an address of ours move it. `unknown`: there is nothing to try it with. */
export type Mobility = 'moves' | 'refused' | 'unknown';

/** The last address of the account: no payer is ever given it, so no issuer can know it. */
const NEVER_GIVEN = 2 ** 31 - 1;

/**
 * Tries, by simulation, whether a token lets an address of ours move one unit to others of ours. The answer is no only when the token lets none of
 * them receive it, one of them an address that was never published: recipients, payers and other holders of the token cannot cause that, so only the
 * issuer can (decision 0033). Locks nothing.
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
  // What held nothing before or after may have been refused for just that: a payout of ours can take all there is in between.
  return held > 0n && (await chain.payer.balance(sender, contract)) > 0n ? 'refused' : 'unknown';
}

/**
 * Notes a deposit address whose sweep the network refuses, if that is the issuer's doing: what lies there stays, and keeps no other
 * address from being swept. @throws ChainUnavailable as `mayMove`
 */
export async function noteIfRefused(deps: Deps, chain: Chain, asset: StoredAsset, address: string): Promise<void> {
  if (asset.contract === null || (await mayMove(chain, asset.contract, address)) !== 'refused') return;
  const height = (await readTip(deps.db.sql, chain.id))?.height ?? 0;
  await noteRefusal(deps.db.sql, { assetId: asset.id, address, role: 'deposit', height });
  deps.log.error({ network: chain.config.name, asset: asset.symbol, address }, 'the issuer does not let a deposit address move its coins');
}
