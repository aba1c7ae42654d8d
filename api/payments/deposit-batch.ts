import type { Chain } from '#api/deps.ts';
import type { OpenDeposit } from '#api/store/deposits.ts';
import { MERCHANT_PRICE, type Offer } from '#api/store/payment-offers.ts';
import type { Finality, FinalityRule } from '#shared/core/assets.ts';
import { type ChainHeights, confirmations, forCoinbase, isFinal, matureHeight, resolveTier } from '#shared/core/finality.ts';
import { amount, type Coins, coinsToUsd, type Usd } from '#shared/core/money.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import type { Prices } from './outcome.ts';

/** Transfers that are judged together: same asset, same address, same block (decisions 3). */
export interface Batch {
  deposits: OpenDeposit[];
  first: OpenDeposit;
  total: Coins;
}

/** Whether an inquiry or the operator allocated one of the deposits to the payment. */
export function isAllocated(batch: Batch): boolean {
  return batch.deposits.some((deposit) => deposit.claimedBy !== null);
}

/** The rule by which a batch became final, and how deep it was then. */
export interface Finalised {
  rule: FinalityRule;
  confirmations: number;
  /** The funds mature once this block is final by the network's own rule. */
  matureHeight: number;
}

/** The highest block that is final for deposits of any value. No deposit above it needs to be looked at. */
export function highestFinal(finality: Finality, tip: ChainHeights): number {
  return Math.max(
    ...finality.resolve.map(({ rule }) => ('blocks' in rule ? tip.height - rule.blocks + 1 : rule.tag === 'safe' ? tip.safeHeight : tip.finalHeight)),
  );
}

/**
 * Groups deposits into batches, in chain order. Dust, and deposits that arrived unallocated on a foreign network, each form their own batch,
 * because they judge nothing. Coins made in a block are kept apart from its other transfers, which then do not wait for them.
 */
export function batchByBlock(deposits: readonly OpenDeposit[]): Batch[] {
  const batches = new Map<string, Batch>();
  for (const deposit of deposits) {
    const alone = (!deposit.onOwnNetwork && deposit.claimedBy === null) || isDust(deposit.amount, deposit.dustFloor);
    const key = alone ? deposit.id : `${deposit.networkId} ${deposit.blockHash} ${deposit.assetId} ${deposit.addressId} ${deposit.coinbase}`;
    const batch = batches.get(key);
    if (batch === undefined) batches.set(key, { deposits: [deposit], first: deposit, total: deposit.amount });
    else {
      batch.deposits.push(deposit);
      batch.total = amount(batch.total + deposit.amount);
    }
  }
  return [...batches.values()];
}

/** The market price that a payment was offered an asset at; undefined where the merchant named one, who would otherwise say how deep a deposit has to be. Pure. */
export function offeredPrice(offers: readonly Offer[], assetId: string): Usd | undefined {
  return offers.find((offer) => offer.assetId === assetId && offer.priceSource !== MERCHANT_PRICE)?.priceUsd;
}

/** The value of a batch in US dollars: at the market price, else at the one that the payment was offered it at; undefined without either. */
export function dollarsOf(batch: Batch, offers: readonly Offer[], prices: Prices): Usd | undefined {
  const price = prices.get(batch.first.symbol)?.usd ?? offeredPrice(offers, batch.first.assetId);
  return price === undefined ? undefined : coinsToUsd(batch.total, price, 'half-up');
}

/**
 * By which rule a batch is final on this tip of its network, for its dollar value; undefined while it is not. Pure.
 * Without a price it must satisfy the rules of every value, so a missing price never makes it final earlier.
 */
export function finalityOf(tip: ChainHeights | undefined, chain: Chain, batch: Batch, offers: readonly Offer[], prices: Prices): Finalised | undefined {
  if (tip === undefined) return undefined;
  const value = dollarsOf(batch, offers, prices);
  const { finality } = chain.config;
  const tiers = value === undefined ? finality.resolve : [resolveTier(finality, value)];
  const strictest = tiers.at(-1);
  const { height, coinbase } = batch.first;
  const ruleOf = (tier: (typeof tiers)[number]): FinalityRule => (coinbase ? forCoinbase(tier.rule) : tier.rule);
  if (strictest === undefined || !tiers.every((tier) => isFinal(ruleOf(tier), tip, height))) return undefined;
  return { rule: ruleOf(strictest), confirmations: confirmations(tip, height), matureHeight: matureHeight(finality, strictest, height) };
}
