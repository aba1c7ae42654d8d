import type { Chain, Deps } from '#api/deps.ts';
import { nativeAsset } from '#api/store/assets.ts';
import { sumConsolidationFees } from '#api/store/own-moves.ts';
import { listSmallest, sumSpendable } from '#api/store/outputs.ts';
import { listUnderWay } from '#api/store/payouts.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { coinsToUsd, formatCents, fromUnits, parseTrusted, toUnits, type Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type Pool, POOLS } from '#state-machines/ledger/accounts.ts';
import { closedReason } from './closed.ts';
import { planConsolidation } from './consolidate.ts';
import { onEachNetwork } from './on-each-network.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { purseOf } from '#api/payouts/rules/spending.ts';
import { poolWallet } from './wallets.ts';

const DAY_SECONDS = 86_400;
/** Configured rates are satoshis per virtual byte with three decimals; nodes use satoshis per thousand virtual bytes. */
const RATE_DECIMALS = 3;

export interface PlannedJoin {
  payoutId: string;
  pool: Pool;
  outputs: number;
  rawAmount: bigint;
  rawFee: bigint;
}

/** The joins planned for one pool, and why there are no more; null when there is nothing more to join. */
export interface PoolJoins {
  planned: PlannedJoin[];
  problem: string | null;
}

/**
 * Joins small outputs of every pool that has more than a set number, down to half of it (decision 0031), so that no cashout has to wait for that
 * later. Returns how many transactions it planned.
 * It joins only while fees are low, and within a daily budget. Any number may run at once.
 */
export async function consolidatePools(deps: Deps): Promise<number> {
  return onEachNetwork(deps, 'small outputs of a network cannot be joined', async (chain) => {
    let planned = 0;
    if (!spendsOutputs(chain.config.family)) return 0;
    for (const pool of POOLS) {
      try {
        const joins = await consolidatePool(deps, chain, pool, { now: false });
        planned += joins.planned.length;
        if (joins.problem !== null) deps.log.warn({ network: chain.config.name, pool, reason: joins.problem }, 'small outputs are not joined now');
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        deps.log.warn({ err: error, network: chain.config.name }, 'small outputs cannot be joined; they will be later');
      }
    }
    return planned;
  });
}

/**
 * Joins small outputs of one pool. `now`: an operator asked, so fee level and number of outputs do not matter.
 * The smallest are joined first, so that the large ones stay free for cashouts. An output is left alone unless it is worth several times what
 * spending it costs.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function consolidatePool(deps: Deps, chain: Chain, pool: Pool, { now }: { now: boolean }): Promise<PoolJoins> {
  const { sql } = deps.db;
  const { outputCost } = chain.payer;
  if (outputCost === undefined) return { planned: [], problem: 'coins of this network are no outputs' };
  const rules = rulesOf(chain);
  const [wallet, native, { rate, input }] = await Promise.all([poolWallet(deps, chain, pool), nativeAsset(sql, chain.id), outputCost()]);
  const purse = purseOf(chain, wallet);
  const least = input * BigInt(POLICY.bitcoinConsolidation.worthTimesCost);
  let { count } = await sumSpendable(sql, purse, least);
  const [above, target] = now ? [1, 1] : [rules.aboveOutputs, Math.max(1, Math.floor(rules.aboveOutputs / 2))];
  if (count <= above || (!now && rate > rules.belowFeeRate)) return { planned: [], problem: null };
  const closed = (await closedReason(sql, { networkName: chain.config.name, assetId: native.id })) ?? wallet.haltedReason;
  if (closed !== null) return { planned: [], problem: closed };

  const planned: PlannedJoin[] = [];
  const underWay = (await listUnderWay(sql, { networkId: chain.id, purpose: 'consolidation' })).filter((one) => one.walletId === wallet.id).length;
  while (count > target && underWay + planned.length < POLICY.consolidationsAtOnce) {
    const limit = Math.min(POLICY.consolidationInputs, count - target + 1, await affordable(deps, chain, native, rules.dailyUsd, input));
    const coins = limit < 2 ? [] : await listSmallest(sql, purse, { least, limit });
    if (coins.length < 2) return { planned, problem: limit < 2 ? budgetProblem(rules.dailyUsd) : null };
    const allow = (tx: Tx, rawFee: bigint) => overBudget(deps, tx, chain, native, rules.dailyUsd, rawFee);
    const joined = await planConsolidation(deps, chain, { wallet, native, coins, settlementId: null, allow });
    if ('refused' in joined) return { planned, problem: joined.refused };
    if ('taken' in joined) return { planned, problem: 'other payouts take the outputs it was to join' };
    planned.push({ payoutId: joined.payoutId, pool, outputs: joined.coins.length, rawAmount: joined.rawAmount, rawFee: joined.rawFee });
    deps.log.info(
      { network: chain.config.name, pool, payout: joined.payoutId, outputs: joined.coins.length, rawFee: joined.rawFee },
      'small outputs are joined',
    );
    count -= joined.coins.length;
  }
  return { planned, problem: null };
}

/** The conditions for joining outputs on a network. */
export interface Rules {
  aboveOutputs: number;
  /** Chain units per thousand units of size. */
  belowFeeRate: bigint;
  dailyUsd: Usd;
}

/** From the networks file, or the defaults of policy.ts. */
export function rulesOf({ config }: Chain): Rules {
  const { aboveOutputs, belowFeeRate, dailyUsd } = { ...POLICY.bitcoinConsolidation, ...config.consolidation };
  return { aboveOutputs, belowFeeRate: toUnits(parseTrusted<'asset'>(belowFeeRate), RATE_DECIMALS) ?? 0n, dailyUsd: parseTrusted(dailyUsd) };
}

interface Coin {
  symbol: string;
  decimals: number;
}

/** How many outputs the rest of the day's budget can join, at `input` chain units each; none while the coin has no price. */
async function affordable(deps: Deps, chain: Chain, native: Coin, dailyUsd: Usd, input: bigint): Promise<number> {
  const price = await deps.prices.fresh(native.symbol);
  if (price === undefined) return 0;
  const spent = await sumConsolidationFees(deps.db.sql, { networkId: chain.id, seconds: DAY_SECONDS });
  const left = dailyUsd - coinsToUsd(fromUnits(spent, native.decimals), price.usd, 'up');
  const each = coinsToUsd(fromUnits(input, native.decimals), price.usd, 'up');
  // Less one, for the cost of the output that they become.
  return each === 0n ? POLICY.consolidationInputs : Math.max(0, Number(left / each) - 1);
}

/** Why joining for this fee exceeds the day's budget, or null. Locks nothing; call it under the wallet's lock. */
export async function overBudget(deps: Deps, tx: Tx, chain: Chain, native: Coin, dailyUsd: Usd, rawFee: bigint): Promise<string | null> {
  const price = await deps.prices.fresh(native.symbol);
  if (price === undefined) return `there is no fresh price for ${native.symbol}`;
  const spent = await sumConsolidationFees(tx, { networkId: chain.id, seconds: DAY_SECONDS });
  return coinsToUsd(fromUnits(spent + rawFee, native.decimals), price.usd, 'up') > dailyUsd ? budgetProblem(dailyUsd) : null;
}

function budgetProblem(dailyUsd: Usd): string {
  return `the budget of ${formatCents(dailyUsd)} USD a day for joining outputs is used up`;
}
