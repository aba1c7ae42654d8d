import type { Deps, Gateway } from '#api/deps.ts';
import { amount, formatAmount } from '#shared/core/money.ts';
import { readAmount, readAsset, readDestination } from '#api/treasury/destination.ts';
import { quoteFee } from '#api/treasury/quote-fee.ts';

export interface EstimateFee {
  gateway: Gateway;
  body: { assetId: string; amount: string; address: string };
}

/** The cost of a cashout if it were created now (contract 2.10). */
export interface FeeEstimate {
  address: string;
  assetName: string;
  network: string;
  amount: string;
  feeLocked: string;
  netAmount: string;
  sufficient: boolean;
}

/**
 * Quotes a cashout without creating anything; the net amount may be negative, with `sufficient: false` (decisions 10).
 * @throws validation_error naming the field; fee_estimation_unavailable when the chain or a price cannot be reached
 */
export async function estimateFee(deps: Deps, { gateway, body }: EstimateFee): Promise<FeeEstimate> {
  const { asset, chain } = await readAsset(deps, body.assetId);
  const destination = await readDestination(deps, asset, chain, body.address);
  const { coins, raw } = readAmount(body.amount, asset.decimals);
  const { locked: fee } = await quoteFee(deps, { gateway, asset, chain, pool: 'green', recipient: destination.canonical, rawAmount: raw });
  return {
    address: body.address,
    assetName: asset.symbol,
    network: asset.networkName,
    amount: body.amount,
    feeLocked: formatAmount(fee),
    netAmount: formatAmount(amount(coins - fee)),
    sufficient: fee < coins,
  };
}
