import type { Chain, Deps } from '#api/deps.ts';
import { coinsToUsd, fromUnits, toUnits, usdToCoins } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type Sweeping, sweepFee } from './sweep.ts';
import { withReserve } from './top-up.ts';
import { walletAddress } from '#api/payouts/rules/wallets.ts';

/**
 * The amount of an asset, in chain units, from which a sweep is worth its cost: a multiple of what the sweep and its top-up cost at present fees
 * and prices, estimated for one address (decisions 10: the floor). Undefined while there is no fresh price, or the network refuses such a sweep.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function sweepFloor(deps: Deps, chain: Chain, sweeping: Sweeping, address: string): Promise<bigint | undefined> {
  const { asset, native } = sweeping;
  const fee = await sweepFee(chain, sweeping, address);
  const gas = asset.type === 'NATIVE' ? 0n : await topUpFee(chain, address, withReserve(fee));
  if (fee === 0n || gas === undefined) return undefined;
  const times = chain.config.sweeping?.floorTimesCost ?? POLICY.sweepFloorTimesCost;
  const raw = ((fee + gas) * BigInt(Math.ceil(times * 100))) / 100n;
  if (asset.type === 'NATIVE') return raw;
  const [coin, token] = await Promise.all([deps.prices.fresh(native.symbol), deps.prices.fresh(asset.symbol)]);
  if (coin === undefined || token === undefined) return undefined;
  const usd = coinsToUsd(fromUnits(raw, native.decimals), coin.usd, 'up');
  return toUnits(usdToCoins(usd, token.usd, asset.decimals, 'up'), asset.decimals);
}

/**
 * The most that sending gas to an address costs, in native units; undefined when the network would refuse it. @throws ChainUnavailable when the
 * node cannot be reached
 */
export async function topUpFee(chain: Chain, recipient: string, rawAmount: bigint): Promise<bigint | undefined> {
  const answer = await chain.payer.estimate({ sender: walletAddress(chain, 'funding'), recipient, contract: null, rawAmount });
  return answer.ok ? answer.quote.rawFee : undefined;
}
