import type { Chain } from '#api/deps.ts';
import { type ChainTip, readTip } from '#api/store/chain-tips.ts';
import type { OpenDeposit } from '#api/store/deposits.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import type { Finality } from '#shared/core/assets.ts';
import { isFinal, resolveRule } from '#shared/core/finality.ts';
import { amount, type Coins, coinsToUsd, type Usd } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';

/** Transfers that are decided about together: same asset, same address, same block (decisions 3). */
export interface Batch {
  deposits: OpenDeposit[];
  first: OpenDeposit;
  total: Coins;
}

/** Market prices at confirmation, US dollars by ticker; a missing one is not fresh. */
export type Prices = ReadonlyMap<string, Usd>;

/** Highest block that is final for at least one value: nothing above it needs to be looked at. */
export function highestFinal(finality: Finality, tip: ChainTip): number {
  return Math.max(
    ...finality.resolve.map(({ rule }) => ('blocks' in rule ? tip.height - rule.blocks + 1 : rule.tag === 'safe' ? tip.safeHeight : tip.finalHeight)),
  );
}

/** Groups deposits in chain order; dust and what arrived on a foreign network stay alone, because nothing is judged by them. */
export function batchByBlock(deposits: readonly OpenDeposit[]): Batch[] {
  const batches = new Map<string, Batch>();
  for (const deposit of deposits) {
    const alone = !deposit.onOwnNetwork || isDust(deposit.amount, deposit.dustFloor);
    const key = alone ? deposit.id : `${deposit.networkId} ${deposit.blockHash} ${deposit.assetId} ${deposit.addressId}`;
    const batch = batches.get(key);
    if (batch === undefined) batches.set(key, { deposits: [deposit], first: deposit, total: deposit.amount });
    else {
      batch.deposits.push(deposit);
      batch.total = amount(batch.total + deposit.amount);
    }
  }
  return [...batches.values()];
}

/** Whether the batch is as final as its dollar value asks, on the tip as it is now; without any price, as the strictest tier asks. */
export async function isBatchFinal(tx: Tx, chain: Chain, batch: Batch, offers: readonly Offer[], prices: Prices): Promise<boolean> {
  const tip = await readTip(tx, batch.first.networkId);
  if (tip === undefined) return false;
  const price = prices.get(batch.first.symbol) ?? offers.find((offer) => offer.assetId === batch.first.assetId)?.priceUsd;
  const { finality } = chain.config;
  if (price === undefined) return finality.resolve.every(({ rule }) => isFinal(rule, tip, batch.first.height));
  return isFinal(resolveRule(finality, coinsToUsd(batch.total, price, 'half-up')), tip, batch.first.height);
}
