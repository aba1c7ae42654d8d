import type { Chain, Deps } from '#api/deps.ts';
import { nativeAsset } from '#api/settlements/quote-fee.ts';
import { listAssets } from '#api/store/assets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';
import { sweepFee } from './sweep.ts';
import { topUpFee } from './sweep-floor.ts';
import { withReserve } from './top-up.ts';
import { poolAddress, walletAddress } from './wallets.ts';

/**
 * Says how many sweeps each network's funding wallet still brings gas for, at present fees, and warns when they are few:
 * cashouts wait once it is empty (reliability F18). Answers how many networks run low.
 */
export async function reportFunding(deps: Deps): Promise<number> {
  let low = 0;
  for (const chain of deps.chains.values()) {
    try {
      const left = await sweepsLeft(deps, chain);
      if (left === undefined) continue;
      deps.metrics?.fundingSweepsLeft.set({ chain: chain.config.name }, left);
      if (left >= POLICY.fundingLowSweeps) continue;
      low += 1;
      deps.log.error({ network: chain.config.name, wallet: walletAddress(chain, 'funding'), sweepsLeft: left }, 'the funding wallet runs low: send it coins');
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.debug({ err: error, network: chain.config.name }, 'the funding wallet cannot be looked at');
    }
  }
  return low;
}

/** Gas for one token sweep and the top-up that brings it, of which the wallet holds this many. */
async function sweepsLeft(deps: Deps, chain: Chain): Promise<number | undefined> {
  const [native, assets] = await Promise.all([nativeAsset(deps.db.sql, chain.id), listAssets(deps.db.sql)]);
  const asset = assets.find((one) => one.networkId === chain.id && one.contract !== null) ?? native;
  const address = poolAddress(chain, 'held');
  const fee = await sweepFee(chain, { recipient: poolAddress(chain, 'green'), asset }, address);
  const gas = fee === 0n ? undefined : await topUpFee(chain, address, withReserve(fee));
  if (gas === undefined) return undefined;
  const left = (await chain.payer.balance(walletAddress(chain, 'funding'), null)) / (withReserve(fee) + gas);
  // A gauge holds no more than this exactly; nobody needs to know how many more there are.
  return Number(left < 1_000_000n ? left : 1_000_000n);
}
