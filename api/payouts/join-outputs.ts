import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { sumConsolidationCosts } from '#api/store/own-moves.ts';
import { listSpendable, type Purse, sumSpendable } from '#api/store/outputs.ts';
import { listUnderWay, type StoredPayout } from '#api/store/payouts.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import type { OwnOutput } from '#shared/chains/chain.ts';
import { amount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { planConsolidation } from '#api/treasury/consolidate.ts';
import { overBudget, rulesOf } from '#api/treasury/consolidate-pools.ts';
import { purseOf } from '#api/payouts/rules/spending.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/** An output that covers at least this fraction of an order is spent without joining, because a few such outputs cover the order. */
const LARGE_PART = 4;
/** How often outputs are chosen again when another payout took some; after that the next run continues. */
const CHOICES = 50;

const OUTRUN = 'somebody else joins outputs of the pool';

/** An order that its pool cannot pay at once, because its outputs are too small and too many. */
export interface Prepared {
  settlementId: string | null;
  wallet: StoredWallet;
  native: StoredAsset;
  /** Chain units: the amount it moves, the fee of a payment that spends one output, and the cost of each further output. */
  rawAmount: bigint;
  fee: bigint;
  input: bigint;
  /** The most outputs that its payment may spend. */
  most: number;
  /** Outputs above this many chain units are spent without joining. */
  large: bigint;
  /** Chain units that the pool will get: coins on their way, and fees that the funding wallet makes up for. */
  there: bigint;
  /** The part of those in outputs that will be large enough for the order. Of joins it counts only those in a block. */
  comingLarge: bigint;
}

/**
 * Joins as many small outputs of a pool as an order needs (decision 0031). Returns what the order waits for, or null where joining does not help:
 * the pool does not cover the order, or has few outputs.
 * The order is owed, so outputs are joined even while fees are high. Then a multiple of the day's budget is the limit, because a merchant who was
 * paid in crumbs must not make the deployment pay any price. One round plans transactions side by side; rounds repeat while there are still too
 * many outputs.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function joinOutputs(deps: Deps, chain: Chain, order: Prepared): Promise<string | null> {
  const { sql } = deps.db;
  const { wallet, native, settlementId, input, large } = order;
  const purse = purseOf(chain, wallet);
  const listJoining = async (reads: Reads): Promise<StoredPayout[]> =>
    (await listUnderWay(reads, { networkId: chain.id, purpose: 'consolidation' })).filter((one) => one.walletId === wallet.id);
  // The pool is read before the joins, so that an output that a join has taken from the pool is always found on its way.
  const pool = await sumSpendable(sql, purse, input);
  const underWay = await listJoining(sql);
  const own = underWay.filter((one) => one.settlementId !== null && one.settlementId === settlementId);
  if (pool.count <= order.most || pool.rawAmount + order.there < order.rawAmount) return own.length > 0 ? waitFor(own.length) : null;

  // Leaves room for higher fees, and for the inputs of the payment itself.
  const need = order.rawAmount + 2n * (order.fee + BigInt(order.most) * input);
  // Outputs joined for another cashout belong to that cashout. A join in a block with a large output already counts as coming coins.
  const isOthers = (one: StoredPayout): boolean => one.settlementId !== null && one.settlementId !== settlementId;
  const isComing = (one: StoredPayout): boolean => one.status === 'INCLUDED' && one.rawAmount > large;
  const ours = underWay.filter((one) => !isOthers(one) && !isComing(one));
  const theirs = underWay.filter((one) => isOthers(one) && isComing(one));
  let missing = need - order.comingLarge - sumOf(ours) + sumOf(theirs);
  const rules = rulesOf(chain);
  const { rate } = (await chain.payer.outputCost?.()) ?? { rate: 0n };
  const budget = amount<'usd'>(rules.dailyUsd * BigInt(POLICY.preparationBudgetTimes));
  let made = 0;
  let problem: string | null = null;
  for (let choice = 0; choice < CHOICES && underWay.length + made < POLICY.preparationsAtOnce; choice++) {
    const coins = await smallOnes(deps, { purse, large, missing, input });
    if (coins.length < 2) break;
    // Without this, a second worker on the same order would join as much again.
    const outrun = async (tx: Tx): Promise<string | null> => ((await listJoining(tx)).length > underWay.length + made ? OUTRUN : null);
    const allow = async (tx: Tx, rawFee: bigint): Promise<string | null> =>
      (await outrun(tx)) ?? (rate > rules.belowFeeRate ? overBudget(deps, tx, chain, native, budget, rawFee) : null);
    const joined = await planConsolidation(deps, chain, { wallet, native, coins, settlementId, allow });
    if ('taken' in joined) continue;
    if ('refused' in joined) {
      if (joined.refused === OUTRUN) return waitFor((await listJoining(sql)).length);
      problem = joined.refused;
      break;
    }
    deps.log.info(
      { network: chain.config.name, settlement: settlementId, payout: joined.payoutId, outputs: joined.coins.length, rawFee: joined.rawFee },
      'small outputs are joined for a cashout',
    );
    missing -= joined.rawAmount;
    made += 1;
  }
  if (underWay.length + made > 0) return waitFor(underWay.length + made);
  return problem === null ? null : waitReason('join_stuck', { count: pool.count, reason: problem });
}

/** The largest outputs among those that are too small to be spent as they are, as many as bring the missing amount. */
async function smallOnes(
  { db }: Deps,
  { purse, large, missing, input }: { purse: Purse; large: bigint; missing: bigint; input: bigint },
): Promise<OwnOutput[]> {
  const worth = (await listSpendable(db.sql, purse)).filter((coin) => coin.rawAmount > input);
  const small = worth.filter((coin) => coin.rawAmount <= large);
  let left = missing - sumOf(worth) + sumOf(small);
  const chosen: OwnOutput[] = [];
  for (const coin of small.slice(0, POLICY.consolidationInputs)) {
    if (left <= 0n) break;
    chosen.push(coin);
    left -= coin.rawAmount - input;
  }
  return chosen;
}

/** Chain units above which an output is spent for an order without joining, where a payment may spend `most` outputs. */
export function largeFor(rawAmount: bigint, most: number): bigint {
  return rawAmount / BigInt(Math.min(LARGE_PART, most));
}

/** The cost that joining outputs has taken from a wallet's pool, and may still take. The funding wallet makes up for it, as for other fees. */
export async function joiningCosts(deps: Deps, chain: Chain, wallet: StoredWallet, input: bigint): Promise<bigint> {
  const { count } = await sumSpendable(deps.db.sql, purseOf(chain, wallet), input);
  return (await sumConsolidationCosts(deps.db.sql, wallet.id)) + BigInt(count) * input;
}

function waitFor(transactions: number): string {
  return transactions === 1 ? waitReason('joining_one') : waitReason('joining', { count: transactions });
}

function sumOf(all: readonly Pick<OwnOutput | StoredPayout, 'rawAmount'>[]): bigint {
  return all.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
}
