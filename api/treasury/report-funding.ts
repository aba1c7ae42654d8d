import type { Chain, Deps } from '#api/deps.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { purseOf } from '#api/payouts/rules/spending.ts';
import { onEachNetwork } from './on-each-network.ts';
import { sweepFee } from './sweep.ts';
import { topUpFee } from './sweep-floor.ts';
import { withReserve } from './top-up.ts';
import { configuredWallet } from './wallets.ts';
import { poolAddress, walletAddress } from '#api/payouts/rules/wallets.ts';

/** An amount that every network accepts; the fee depends on the recipient and not on the amount. */
const COINS_TO_ASK_ABOUT = 100_000n;

/**
 * Reports how many sweeps each network's funding wallet can still bring gas for at present fees, and warns when they are few, because cashouts wait
 * once it is empty (reliability F18). Returns how many networks run low.
 */
export async function reportFunding(deps: Deps): Promise<number> {
  const assets = await listAssets(deps.db.sql);
  return onEachNetwork(deps, 'the funding wallet of a network cannot be looked at', async (chain) => {
    try {
      const left = await sweepsLeft(deps, chain, assets);
      if (left === undefined) return 0;
      deps.metrics?.gasRunway.set({ chain: chain.config.name, wallet: 'funding' }, left);
      if (left >= POLICY.fundingLowSweeps) return 0;
      deps.log.error({ network: chain.config.name, wallet: walletAddress(chain, 'funding'), sweepsLeft: left }, 'the funding wallet runs low: send it coins');
      return 1;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.debug({ err: error, network: chain.config.name }, 'the funding wallet cannot be looked at');
      return 0;
    }
  });
}

/**
 * How often the funding wallet can pay for one token sweep and the top-up that brings its gas; undefined while the network would refuse one, or
 * charges nothing for it.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function sweepsLeft(deps: Deps, chain: Chain, all: readonly StoredAsset[]): Promise<number | undefined> {
  if (spendsOutputs(chain.config.family)) return topUpsLeft(deps, chain);
  const assets = all.filter((one) => one.networkId === chain.id);
  const asset = assets.find((one) => one.contract !== null) ?? assets[0];
  if (asset === undefined) throw new Invariant(`network ${chain.id} has no assets`);
  const address = poolAddress(chain, 'held');
  const fee = await sweepFee(chain, { recipient: poolAddress(chain, 'green'), asset }, address);
  const gas = fee === 0n ? undefined : await topUpFee(chain, address, withReserve(fee));
  if (gas === undefined) return undefined;
  return gauged((await chain.payer.balance(walletAddress(chain, 'funding'), null)) / (withReserve(fee) + gas));
}

/** Where nothing is swept: how often it can pay the fees of a payment and of the top-up that brings them. */
async function topUpsLeft(deps: Deps, chain: Chain): Promise<number | undefined> {
  const funding = await configuredWallet(deps, chain, 'funding');
  const coins = await listSpendable(deps.db.sql, purseOf(chain, funding));
  const fee = await topUpFee(chain, poolAddress(chain, 'green'), COINS_TO_ASK_ABOUT);
  return fee === undefined || fee === 0n ? undefined : gauged(coins.reduce((sum, coin) => sum + coin.rawAmount, 0n) / (2n * fee));
}

/** Caps the count at a million, because a larger one needs no exact figure. */
function gauged(left: bigint): number {
  return Number(left < 1_000_000n ? left : 1_000_000n);
}
