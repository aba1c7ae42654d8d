import { formatAmount, ONE, parseTrusted, usdToCoins } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type Gate, needs, refuse } from '../settlement.ts';

const DEFAULT_MINIMUM = parseTrusted<'usd'>(POLICY.minimumSettlementUsd);

/** Refuses an amount below the asset's minimum, or below the equivalent of one dollar if it has none (decisions 10). */
export const minimum: Gate = (request, course) => {
  // A parked settlement was accepted before; a fallen price does not turn it away.
  if (request.parkedAs !== null) return { pass: course };
  if (request.minimumSettlement !== null) return request.amount < request.minimumSettlement ? tooSmall(request.minimumSettlement) : { pass: course };
  if (request.priceUsd === undefined) return needs('price');
  if (request.amount * request.priceUsd >= DEFAULT_MINIMUM * ONE) return { pass: course };
  return tooSmall(usdToCoins(DEFAULT_MINIMUM, request.priceUsd, request.decimals, 'up'));
};

function tooSmall(least: bigint) {
  return refuse('below_minimum_settlement', `amount: the smallest settlement of this asset is ${formatAmount(least)}`);
}
