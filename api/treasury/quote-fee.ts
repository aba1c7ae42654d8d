import { nativeAsset, type StoredAsset } from '#api/store/assets.ts';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { ChainUnavailable, type FeeQuote } from '#shared/chains/chain.ts';
import { printable } from '#shared/chains/printable.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { type Coins, type Usd, zero } from '#shared/core/money.ts';
import { isFreeCashout, nativeFee, tokenFee } from '#state-machines/settlement/network-fee.ts';

const LONGEST_REFUSAL = 200;

export interface FeeRequest {
  gateway: Pick<Gateway, 'billing'>;
  asset: StoredAsset;
  chain: Chain;
  pool: 'green' | 'held';
  /** Destination, canonical. */
  recipient: string;
  rawAmount: bigint;
}

/** A network fee to lock, and the network's quote for it; null where nothing is quoted because the platform pays. */
export interface QuotedFee {
  /** Units of the asset. */
  locked: Coins;
  quote: Pick<FeeQuote, 'rawFee' | 'units'> | null;
}

/**
 * The network fee that a cashout would lock now, in units of its asset, rounded up at the asset's decimals.
 * It does not depend on what any wallet holds (decisions 10). A monthly-billed gateway pays none on tokens (contract 4.3).
 * @throws fee_estimation_unavailable when the chain or a price cannot be reached, or the token is stopped by its issuer; validation_error naming
 * address, or amount where that is at fault, when the chain refuses the transfer
 */
export async function quoteFee(deps: Deps, { gateway, asset, chain, pool, recipient, rawAmount }: FeeRequest): Promise<QuotedFee> {
  if (isFreeCashout(gateway.billing, asset.type)) return { locked: zero, quote: null };
  const wallet = pool === 'green' ? chain.config.wallets.hot : chain.config.wallets.held;
  const answer = await chain.payer
    .estimate({ sender: canonicalOf(chain, wallet.address), recipient, contract: asset.contract, rawAmount })
    .catch((error: unknown) => {
      if (error instanceof ChainUnavailable) throw new ServiceError('fee_estimation_unavailable', { cause: error });
      throw error;
    });
  // The issuer's refusal stops every destination, so this one is not at fault.
  if (!answer.ok && asset.issuerStopped)
    throw new ServiceError('fee_estimation_unavailable', {
      message: `${asset.symbol} on ${asset.networkName} cannot be paid out at the moment: its issuer does not let this service move it.`,
    });
  if (!answer.ok) throw invalid(answer.about ?? 'address', `the network refuses this transfer: ${printable(answer.rejected, LONGEST_REFUSAL)}`);
  const native = await nativeAsset(deps.db.sql, asset.networkId);
  const { quote } = answer;
  if (asset.type === 'NATIVE') return { locked: nativeFee(quote.rawFee, native.decimals), quote };
  const locked = tokenFee({
    rawGasFee: quote.rawFee,
    nativeDecimals: native.decimals,
    nativePriceUsd: await freshPrice(deps, native.symbol),
    assetPriceUsd: await freshPrice(deps, asset.symbol),
    assetDecimals: asset.decimals,
  });
  return { locked, quote };
}

/** A price taken within its freshness limit. @throws fee_estimation_unavailable when there is none (decisions 3) */
export async function freshPrice(deps: Deps, symbol: string): Promise<Usd> {
  const price = await deps.prices.fresh(symbol);
  if (price === undefined) throw new ServiceError('fee_estimation_unavailable', { message: `There is no fresh price for ${symbol}; retry shortly.` });
  return price.usd;
}

/** Canonical form of an address this deployment configured. @throws Invariant when it is not an address of that network */
export function canonicalOf(chain: Chain, address: string): string {
  const parsed = chain.codec.parse(address);
  if (!parsed.ok) throw new Invariant(`${address} is not an address of ${chain.config.name}: ${parsed.problem}`);
  return parsed.canonical;
}
