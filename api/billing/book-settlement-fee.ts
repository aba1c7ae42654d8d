import { STATIC_SOURCE } from '#api/clients/prices.ts';
import type { Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { insertCashoutAccrual, isAnyCashoutUnpriced, listUnpricedCashouts } from '#api/store/charges.ts';
import { findAssetByContract } from '#api/store/assets.ts';
import { insertSettlementFee, type KnownPrice, readPayoutCost } from '#api/store/settlement-fees.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { Invariant } from '#shared/core/errors.ts';
import { type Coins, coinsToUsd, fromUnits } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { bear } from '#state-machines/ledger/postings.ts';
import { knownPrice } from './known-price.ts';

/**
 * Writes what a cashout that settles in this transaction locked for the network and what it really cost; where the platform
 * pays for it, that cost becomes the platform's expense and is accrued at the price of this moment (decisions 11). A price
 * that is not fresh counts too, with its age: a settled cashout waits for nothing. Locks ledger accounts of the native asset.
 */
export async function bookSettlementFee(tx: Tx, deps: Deps, settlement: StoredSettlement): Promise<void> {
  const native = await findAssetByContract(tx, settlement.networkId, null);
  const cost = await readPayoutCost(tx, settlement.id);
  if (native === undefined || cost === undefined || settlement.feeLocked === null)
    throw new Invariant(`settlement ${settlement.id} settles without a fee or a native asset`);
  const actual = fromUnits(cost.raw, native.decimals);
  const nativePrice = await knownPrice(tx, deps, native.symbol);
  await insertSettlementFee(tx, {
    settlementId: settlement.id,
    nativeAssetId: native.id,
    locked: settlement.feeLocked,
    actual,
    assetPrice: settlement.contract === null ? nativePrice : await knownPrice(tx, deps, settlement.assetSymbol),
    nativePrice,
  });
  if (cost.payer !== 'PLATFORM' || actual === 0n) return;
  const borne = { settlementId: settlement.id, gatewayId: settlement.gatewayId, nativeAssetId: native.id, actual };
  if (nativePrice === null) deps.log.error({ settlement: settlement.id, symbol: native.symbol }, 'what a cashout cost waits for a first price to be accrued');
  else await accrue(tx, borne, nativePrice);
}

/**
 * Accrues settled cashouts for which no price was known when they settled and there is one now; answers how many. What cannot be accrued is told, and keeps
 * neither the others nor the invoices of anybody waiting.
 */
export async function accrueUnpriced(deps: Deps): Promise<number> {
  let moved = 0;
  for (const waiting of await listUnpricedCashouts(deps.db.sql, pricedBy(deps))) {
    try {
      const price = await knownPrice(deps.db.sql, deps, waiting.nativeSymbol);
      if (price !== null && (await deps.db.transaction((tx) => accrue(tx, waiting, price)))) moved += 1;
    } catch (error) {
      deps.log.error({ err: error, settlement: waiting.settlementId }, 'what a cashout cost cannot be accrued; it will be tried again');
    }
  }
  return moved;
}

/** Whether there are any; a condition. */
export function isAnyUnpriced(sql: Reads, deps: Deps): ReturnType<Reads> {
  return isAnyCashoutUnpriced(sql, pricedBy(deps));
}

/** Of which source a price is none in this deployment. */
function pricedBy({ config }: Deps): { except: string | null } {
  return { except: config.SLUICE_PRICE_SOURCE === 'static' ? null : STATIC_SOURCE };
}

async function accrue(tx: Tx, cost: { settlementId: string; gatewayId: string; nativeAssetId: string; actual: Coins }, price: KnownPrice): Promise<boolean> {
  const { settlementId, gatewayId, nativeAssetId: assetId, actual: coins } = cost;
  const usd = coinsToUsd(coins, price.usd, 'half-up');
  if (!(await insertCashoutAccrual(tx, { settlementId, gatewayId, assetId, coins, priceUsd: price.usd, priceAt: price.at, usd }))) return false;
  await post(tx, { sourceKey: `settlement:${settlementId}:bear`, kind: 'bear', postings: bear(assetId, coins) });
  return true;
}
