import type { Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { listExpectedArrivals } from '#api/store/deposit-addresses.ts';
import type { PaymentDeposit } from '#api/store/payment-deposits.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { forCoinbase, isFinal, resolveRule } from '#shared/core/finality.ts';
import { amount, type Coins, coinsToUsd } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import { offeredPrice } from './deposit-batch.ts';
import type { PaymentParts } from './view.ts';

/** What a deposit that is not booked yet waits for. */
export interface Pending {
  /** The rule that its value requires on its network. */
  rule: FinalityRule;
  /** Whether it meets that rule; it then waits only for a price, or for the worker that books it. */
  final: boolean;
}

/** Coins on their way to a payment that are not booked yet, as its page shows them. */
export interface PendingDeposit {
  assetId: string;
  assetSymbol: string;
  network: string;
  amount: Coins;
  txHash: string;
  /** 0 until a block holds it. */
  confirmations: number;
  /** How many confirmations it needs; null where the chain's own word on finality decides. */
  required: number | null;
  firstSeenAt: Date;
}

/** What each open deposit waits for, by its id, judged as crediting does (decisions 3, 5). */
export async function readPending(sql: Reads, deps: Deps, { offers, deposits }: PaymentParts): Promise<Map<string, Pending>> {
  const pending = new Map<string, Pending>();
  const sums = sumsOf(deposits);
  // Coins that are in one block together wait for the same.
  const asked = new Map<string, Pending | undefined>();
  for (const deposit of deposits) {
    if (deposit.state !== 'seen') continue;
    const place = placeOf(deposit);
    if (!asked.has(place)) asked.set(place, await readOnePending(sql, deps, { ...deposit, amount: sums.get(place) ?? deposit.amount }, offers));
    const found = asked.get(place);
    if (found !== undefined) pending.set(deposit.id, found);
  }
  return pending;
}

/**
 * The coins that a payment waits for: the first in a block, else the first that wait to be mined. Null when only dust is on its way, which decides
 * nothing. Locks nothing.
 * Covers every family, and the sandbox, which requires no countable confirmations.
 */
export async function pendingDeposit(sql: Reads, deps: Deps, parts: PaymentParts): Promise<PendingDeposit | null> {
  const { payment, deposits, offers } = parts;
  const sums = sumsOf(deposits);
  const sumBeside = (one: PaymentDeposit): Coins => sums.get(placeOf(one)) ?? one.amount;
  const open = deposits.find((one) => one.state === 'seen' && !isDust(sumBeside(one), one.dustFloor));
  if (open !== undefined) {
    const total = sumBeside(open);
    const found = await readOnePending(sql, deps, { ...open, amount: total }, offers);
    return {
      assetId: open.assetId,
      assetSymbol: open.symbol,
      network: open.networkName,
      amount: total,
      txHash: open.txid,
      confirmations: open.confirmations,
      required: found === undefined ? null : countOf(found.rule),
      firstSeenAt: open.firstSeenAt,
    };
  }
  const first = payment.sandbox
    ? undefined
    : (await listExpectedArrivals(sql, payment.id)).find((one) => one.state === 'waiting' && !isDust(one.amount, one.dustFloor));
  if (first === undefined) return null;
  const rule = await ruleOf(deps, { ...first, coinbase: false }, offers);
  return {
    assetId: first.assetId,
    assetSymbol: first.symbol,
    network: first.networkName,
    amount: first.amount,
    txHash: first.txid,
    confirmations: 0,
    required: rule === undefined ? null : countOf(rule),
    firstSeenAt: first.firstSeenAt,
  };
}

/** Sums the open transfers of an asset in one block, because they count as one (decisions 3). Keys are those of `placeOf`. */
function sumsOf(deposits: readonly PaymentDeposit[]): Map<string, Coins> {
  const sums = new Map<string, Coins>();
  for (const one of deposits) if (one.state === 'seen') sums.set(placeOf(one), amount<'asset'>((sums.get(placeOf(one)) ?? 0n) + one.amount));
  return sums;
}

function placeOf({ networkName, height, assetId, coinbase }: PaymentDeposit): string {
  return `${networkName} ${height} ${assetId} ${coinbase}`;
}

async function readOnePending(sql: Reads, deps: Deps, deposit: PaymentDeposit, offers: PaymentParts['offers']): Promise<Pending | undefined> {
  const chain = deps.chains.get(deposit.networkName);
  const tip = chain && (await readTip(sql, chain.id));
  const rule = await ruleOf(deps, deposit, offers);
  if (rule === undefined || tip === undefined || deposit.height === null) return undefined;
  return { rule, final: isFinal(rule, tip, deposit.height) };
}

/** Without a price the strictest rule applies, which is the last one. */
async function ruleOf(
  deps: Deps,
  deposit: Pick<PaymentDeposit, 'networkName' | 'symbol' | 'assetId' | 'amount' | 'coinbase'>,
  offers: PaymentParts['offers'],
): Promise<FinalityRule | undefined> {
  const finality = deps.chains.get(deposit.networkName)?.config.finality;
  if (finality === undefined) return undefined;
  const price = (await deps.prices.fresh(deposit.symbol))?.usd ?? offeredPrice(offers, deposit.assetId);
  const byValue =
    price === undefined ? (finality.resolve.at(-1)?.rule ?? finality.mature) : resolveRule(finality, coinsToUsd(deposit.amount, price, 'half-up'));
  return deposit.coinbase ? forCoinbase(byValue) : byValue;
}

function countOf(rule: FinalityRule): number | null {
  return 'blocks' in rule ? rule.blocks : null;
}
