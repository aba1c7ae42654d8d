import type { Chain, Deps } from '#api/deps.ts';
import { nativeAsset, type StoredAsset } from '#api/store/assets.ts';
import { countUnmined, listCommitted, type StoredPayout } from '#api/store/payouts.ts';
import { countCashingOut, lockGatewayCashouts } from '#api/store/gateways.ts';
import { sumBroughtForOthers } from '#api/store/own-moves.ts';
import type { SettlementQuote } from '#api/store/settlement-fees.ts';
import { lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import { type Bound, ChainUnavailable, type FeeQuote, type TransferIntent } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Coins } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { boundTo } from './bound-to.ts';
import { closedReason } from '#api/treasury/closed.ts';
import { coverShortage } from './cover.ts';
import { checkFeeExpense, checkGatewayLimits } from './gateway-limits.ts';
import { checkFee, checkLimits } from '#api/treasury/limits.ts';
import type { LimitedTransfer, LimitProblem } from '#api/payouts/rules/limits.ts';
import { spendsOutputs, usesNonces } from '#api/payouts/rules/families.ts';
import { freeOf, type Observed, observeWallet, planSpend, planTransfer } from '#api/treasury/plan-transfer.ts';
import { mostInputs } from '#api/payouts/rules/spending.ts';
import { quoteSpend } from './quote-spend.ts';
import { coverGas } from '#api/treasury/top-up.ts';
import { poolWallet } from '#api/treasury/wallets.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/** A planner whose outputs another one took chooses again, at most this often; then it comes back later. */
const CHOICES = 10;
/** An order gets this many payouts without an operator: the first, and one more after a failure (decisions 10). */
const AUTOMATIC_PAYOUTS = 2;

/** A transfer that one of our wallets must make: a cashout, a refund, withheld coins, or coins that follow their payment to another pool. */
export interface Order {
  purpose: 'settlement' | 'refund' | 'withheld' | 'held_release';
  settlementId: string | null;
  refundId?: string;
  withheldId?: string;
  paymentId?: string;
  /** The gateway whose cashout it is; that gateway's own limits apply too. */
  gatewayId?: string;
  /** The network's quote at the time of the claim; absent where nothing was locked. */
  quoted?: SettlementQuote;
  /** The pool that pays; coins of another pool are never spent for it (decisions 10). */
  pool: Pool;
  asset: StoredAsset;
  /** Canonical. */
  recipient: string;
  /** Chain units. */
  rawAmount: bigint;
  /** The amount locked for its fee; null when nothing was. */
  locked: { coins: Coins; symbol: string } | null;
  /** Locks the row that it comes from until commit, if that row must be locked before the wallet. */
  lock?(tx: Tx): Promise<unknown>;
  /** Number of the payout it needs, or null when it needs none now; called under that lock and the wallet's. */
  nextPayoutNumber(tx: Tx): Promise<number | null>;
}

/**
 * Result for an order: planned for the signer; no longer to be sent; waiting for something that passes by itself; stuck until its destination or a
 * person acts; or `closed`, like everything its wallet pays.
 */
export type Sent = { planned: string } | { gone: true } | { waiting: string } | { stuck: string } | { closed: string };

/**
 * Plans the transaction of one order from its pool's wallet. Safe to run any number of times at once.
 * Asks the chain with no lock held, has missing coins and gas brought, and assigns a nonce, or takes outputs, under the locks of order and wallet.
 */
export async function sendOrder(deps: Deps, chain: Chain, order: Order): Promise<Sent> {
  try {
    return await send(deps, chain, order);
  } catch (error) {
    // An order can make a node refuse or delay, but it cannot make a node unreachable.
    if (error instanceof ChainUnavailable)
      return error.trouble === 'down' || error.trouble === 'busy' || error.trouble === 'wrong-chain'
        ? { closed: waitReason('chain_unreachable', { detail: error.message }) }
        : { waiting: waitReason('chain_unclear', { detail: error.message }) };
    // A row that contradicts itself must not hold up the orders behind it.
    if (error instanceof Invariant) return { stuck: error.message };
    throw error;
  }
}

/** Why an order was not sent, for the operator; null when it was, or need not be. */
export function reasonOf(sent: Sent): string | null {
  if ('waiting' in sent) return sent.waiting;
  if ('stuck' in sent) return sent.stuck;
  return 'closed' in sent ? sent.closed : null;
}

/** Number of the payout that an order needs after these; null when one of them is live or paid, or a person has to decide. */
export function payoutNumberAfter(payouts: readonly StoredPayout[]): number | null {
  if (payouts.some((payout) => payout.status !== 'FAILED' && payout.status !== 'CANCELLED')) return null;
  const last = payouts.filter((payout) => payout.status === 'FAILED').at(-1);
  if (last === undefined) return 1;
  return last.plan.repay === true && last.family < AUTOMATIC_PAYOUTS ? last.family + 1 : null;
}

async function send(deps: Deps, chain: Chain, order: Order): Promise<Sent> {
  for (let choice = 0; choice < CHOICES; choice++) {
    const sent = await sendOnce(deps, chain, order);
    if (!('taken' in sent)) return sent;
  }
  return { waiting: waitReason('outputs_taken') };
}

async function sendOnce(deps: Deps, chain: Chain, order: Order): Promise<Sent | { taken: unknown }> {
  const { asset, pool, recipient, rawAmount } = order;
  const { sql } = deps.db;
  const closed = await closedReason(sql, { networkName: asset.networkName, assetId: asset.id });
  if (closed !== null) return { waiting: closed };
  const wallet = await poolWallet(deps, chain, pool);
  if (wallet.haltedReason !== null) return { closed: waitReason('wallet_halted', { detail: wallet.haltedReason }) };
  if (rawAmount <= 0n) throw new Invariant('it has an amount that cannot be sent');
  const native = await nativeAsset(sql, asset.networkId);
  const limit = await limitOf(deps, sql, chain, order, leaving(order, native, 0n));
  if (limit !== null) return limit.lasting ? { stuck: limit.problem } : { waiting: limit.problem };

  const intent = { sender: wallet.address, recipient, contract: asset.contract, rawAmount };
  const funds: Funds = { settlementId: order.settlementId, wallet, pool: order.pool, asset, native, intent, bound: boundOf(order) };
  const found = spendsOutputs(chain.config.family) ? await quoteSpend(deps, chain, funds) : await quoteFromBalance(deps, chain, funds);
  if (!('quote' in found)) return found;
  const { quote } = found;
  const fee = await checkFee(deps, { rawFee: quote.rawFee, native, inputs: mostInputs(chain, [quote.fields]) }, order.locked);
  if (fee !== null) return found.observed === null ? { stuck: fee.problem } : { waiting: fee.problem };
  const dear = await feeExpense(deps, sql, chain, order, native, quote);
  if (dear !== null) return { waiting: dear.problem };

  const outcome = await deps.db.transaction(async (tx): Promise<Sent | { taken: unknown }> => {
    // Reads everything again, under lock, that may have changed while the chain was asked.
    await order.lock?.(tx);
    if (order.gatewayId !== undefined) await lockGatewayCashouts(tx, order.gatewayId);
    await lockWallet(tx, wallet.id);
    const number = await order.nextPayoutNumber(tx);
    if (number === null) return { gone: true };
    if (await isOutOfTurns(tx, chain, wallet, order)) return { waiting: OUT_OF_TURNS };
    const now = await closedReason(tx, { networkName: asset.networkName, assetId: asset.id });
    if (now !== null) return { waiting: now };
    crashPoint('dispatch.locked');
    const still = await limitOf(deps, tx, chain, order, leaving(order, native, quote.rawFee));
    if (still !== null) return still.lasting ? { stuck: still.problem } : { waiting: still.problem };
    const dearer = await feeExpense(deps, tx, chain, order, native, quote);
    if (dearer !== null) return { waiting: dearer.problem };
    const plan = { ...order, family: number, parentId: null, quote };
    const planned = found.observed === null ? await planSpend(tx, deps, chain, wallet.id, plan) : await planTransfer(tx, deps, wallet.id, found.observed, plan);
    if ('taken' in planned) return planned;
    return 'refused' in planned ? { waiting: planned.refused } : { planned: planned.payoutId };
  });
  crashPoint('dispatch.committed');
  deps.wake();
  return outcome;
}

interface Funds {
  settlementId: string | null;
  wallet: StoredWallet;
  pool: Pool;
  asset: StoredAsset;
  native: StoredAsset;
  intent: TransferIntent;
  bound: Bound | undefined;
}

/** Why a cashout waits when its gateway has used its turns; the next one goes once one of them is in a block. */
export const OUT_OF_TURNS = waitReason('out_of_turns');

/** Whether its gateway holds as many nonces as it may while others cash out too, because payouts behind wait for all of them. */
async function isOutOfTurns(tx: Tx, chain: Chain, wallet: StoredWallet, { gatewayId }: Order): Promise<boolean> {
  if (gatewayId === undefined || !usesNonces(chain.config.family)) return false;
  return (await countUnmined(tx, { walletId: wallet.id, gatewayId })) >= POLICY.noncesPerGateway && (await countCashingOut(tx)) > 1;
}

/** Why the network's limits, or those of the gateway, do not allow a transfer; null when they do. */
async function limitOf(deps: Deps, sql: Reads, chain: Chain, order: Order, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  const limit = await checkLimits(deps, sql, chain, transfer);
  return limit !== null || order.gatewayId === undefined ? limit : checkGatewayLimits(deps, sql, chain, order.gatewayId, transfer);
}

/**
 * Why the deployment does not pay the rise of the fee since it was locked, or null. Always null where coins are outputs: there the number of
 * outputs decides the fee, which the cashout does not cause.
 */
async function feeExpense(deps: Deps, sql: Reads, chain: Chain, order: Order, native: StoredAsset, quote: FeeQuote): Promise<LimitProblem | null> {
  const bound = boundOf(order);
  if (bound === undefined || order.gatewayId === undefined || spendsOutputs(chain.config.family)) return null;
  return checkFeeExpense(deps, sql, chain, { rawFee: quote.rawFee, units: quote.units, native, gatewayId: order.gatewayId, bound });
}

/** Prices a transfer from its wallet's balance, or has coins and gas brought and returns what it waits for. */
async function quoteFromBalance(
  deps: Deps,
  chain: Chain,
  { intent, bound, ...short }: Funds,
): Promise<{ quote: FeeQuote; observed: Observed } | { waiting: string } | { stuck: string }> {
  const { wallet, asset } = short;
  const observed = await observeWallet(deps, chain, wallet, asset.contract);
  const free = freeOf(observed, await listCommitted(deps.db.sql, wallet.id, observed.committedIds), asset.contract);
  const brought = { networkId: chain.id, assetId: asset.id, address: wallet.address, settlementId: short.settlementId, seconds: POLICY.broughtKeptSeconds };
  free.coins -= await sumBroughtForOthers(deps.db.sql, brought);
  const estimate = await chain.payer.estimate(intent, undefined, bound);
  if (!estimate.ok) return { stuck: waitReason('refused_by_network', { detail: estimate.rejected }) };
  const { rawFee } = estimate.quote;
  const needed = intent.rawAmount + (asset.type === 'NATIVE' ? rawFee : 0n);
  if (free.coins < needed) return { waiting: await coverShortage(deps, chain, { ...short, missing: needed - free.coins }) };
  if (free.native < rawFee) return { waiting: await coverGas(deps, chain, { ...short, missing: rawFee - free.native, fee: rawFee }) };
  const answer = await chain.payer.quote(intent, undefined, bound);
  return answer.ok ? { quote: answer.quote, observed } : { stuck: waitReason('refused_by_network', { detail: answer.rejected }) };
}

function boundOf({ quoted, asset }: Order): Bound | undefined {
  return boundTo(quoted, asset.contract);
}

/** The amount that the order takes away from us: only its fee between our own wallets. */
function leaving({ purpose, asset, rawAmount }: Order, native: StoredAsset, rawFee: bigint): LimitedTransfer {
  const coin = { symbol: native.symbol, decimals: native.decimals };
  if (purpose === 'held_release') return { ...coin, native: true, rawAmount: rawFee, planned: true };
  return { symbol: asset.symbol, decimals: asset.decimals, native: asset.contract === null, rawAmount, fee: { ...coin, rawFee }, planned: true };
}
