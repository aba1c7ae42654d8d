import type { Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-tips.ts';
import { listExpectedArrivals } from '#api/store/expected-deposits.ts';
import type { PaymentDeposit } from '#api/store/payment-deposits.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { forCoinbase, isFinal, resolveRule } from '#shared/core/finality.ts';
import { amount, type Coins, coinsToUsd } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import type { PaymentParts } from './view.ts';

/** What a deposit that is not booked yet waits for. */
export interface Pending {
  /** What its value asks for on its network. */
  rule: FinalityRule;
  /** Whether it has that; it then waits for a price, or for the worker that books it. */
  final: boolean;
}

/** Coins that were seen on their way to a payment and are not booked yet, as its page shows them. */
export interface PendingDeposit {
  assetId: string;
  assetSymbol: string;
  network: string;
  amount: Coins;
  txHash: string;
  /** 0 until a block holds it. */
  confirmations: number;
  /** How many it takes; null where the chain's own word on its finality decides. */
  required: number | null;
  firstSeenAt: Date;
}

/** What each open deposit waits for, by its id; the same question the crediting asks (decisions 3, 5). */
export async function readPending(sql: Reads, deps: Deps, { offers, deposits }: PaymentParts): Promise<Map<string, Pending>> {
  const pending = new Map<string, Pending>();
  for (const deposit of deposits) {
    const found = deposit.state === 'seen' ? await readOnePending(sql, deps, { ...deposit, amount: sumBeside(deposits, deposit) }, offers) : undefined;
    if (found !== undefined) pending.set(deposit.id, found);
  }
  return pending;
}

/**
 * The coins a payment waits for: the first in a block, else the first that wait to be mined; null when nothing but dust is on
 * its way, which decides nothing. Of every family, and of the sandbox, where nothing is required that could be counted. Locks
 * nothing.
 */
export async function pendingDeposit(sql: Reads, deps: Deps, parts: PaymentParts): Promise<PendingDeposit | null> {
  const { payment, deposits, offers } = parts;
  const open = deposits.find((one) => one.state === 'seen' && !isDust(sumBeside(deposits, one), one.dustFloor));
  if (open !== undefined) {
    const total = sumBeside(deposits, open);
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

/** The transfers of its asset beside one in its block count as one with it (decisions 3). */
function sumBeside(deposits: readonly PaymentDeposit[], of: PaymentDeposit): Coins {
  const beside = deposits.filter(
    (one) =>
      one.state === 'seen' && one.assetId === of.assetId && one.height === of.height && one.coinbase === of.coinbase && one.networkName === of.networkName,
  );
  return amount<'asset'>(beside.reduce((sum, one) => sum + one.amount, 0n));
}

async function readOnePending(sql: Reads, deps: Deps, deposit: PaymentDeposit, offers: PaymentParts['offers']): Promise<Pending | undefined> {
  const chain = deps.chains.get(deposit.networkName);
  const tip = chain && (await readTip(sql, chain.id));
  const rule = await ruleOf(deps, deposit, offers);
  if (rule === undefined || tip === undefined || deposit.height === null) return undefined;
  return { rule, final: isFinal(rule, tip, deposit.height) };
}

/** Without any price the strictest rule applies, which is the last one. */
async function ruleOf(
  deps: Deps,
  deposit: Pick<PaymentDeposit, 'networkName' | 'symbol' | 'assetId' | 'amount' | 'coinbase'>,
  offers: PaymentParts['offers'],
): Promise<FinalityRule | undefined> {
  const finality = deps.chains.get(deposit.networkName)?.config.finality;
  if (finality === undefined) return undefined;
  const price = (await deps.prices.fresh(deposit.symbol))?.usd ?? offers.find((offer) => offer.assetId === deposit.assetId)?.priceUsd;
  const byValue =
    price === undefined ? (finality.resolve.at(-1)?.rule ?? finality.mature) : resolveRule(finality, coinsToUsd(deposit.amount, price, 'half-up'));
  return deposit.coinbase ? forCoinbase(byValue) : byValue;
}

function countOf(rule: FinalityRule): number | null {
  return 'blocks' in rule ? rule.blocks : null;
}
