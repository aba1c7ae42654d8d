import type { Chain, Deps } from '#api/deps.ts';
import { nativeAsset } from '#api/store/assets.ts';
import type { AttemptKind, StoredAttempt } from '#api/store/payout-attempts.ts';
import { listCommitted, type StoredPayout } from '#api/store/payouts.ts';
import { findSettlementQuote } from '#api/store/settlement-fees.ts';
import { findSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { findWalletByAddress, type StoredWallet } from '#api/store/wallets.ts';
import { type Bound, ChainUnavailable, type FeeQuote, type TransferIntent } from '#shared/chains/chain.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { MarketFacts } from '#state-machines/payout/tend.ts';
import { boundTo } from './bound-to.ts';
import { checkFeeExpense } from './gateway-limits.ts';
import { checkFee, checkLimits, checkTopUp } from '#api/treasury/limits.ts';
import type { LimitProblem } from '#api/payouts/rules/limits.ts';
import { poolProblem } from '#api/treasury/pool-problem.ts';
import { quoteNextSpend } from './next-spend.ts';
import { freeOf, type Observed, observeWallet } from '#api/treasury/plan-transfer.ts';
import { mostInputs, spendingOf } from '#api/payouts/rules/spending.ts';
import { coverGas, coverSweepGas, withReserve } from '#api/treasury/top-up.ts';
import { REMEMBERED } from './rules/remembered.ts';

/** The next bytes of a payout as they could be signed now, and the reasons for and against signing them. */
export interface NextBytes {
  market: MarketFacts;
  /** Null when a simulation rejects them. */
  quote: FeeQuote | null;
  rawAmount: bigint;
  /** What the wallet held; null where coins are outputs, because the quote names those. */
  observed: Observed | null;
  /** Native units that the wallet lacks for the fee; zero or less when it lacks none. */
  lacking: bigint;
  /** Why they cannot be sent, for the operator; null when they can. */
  problem: string | null;
  /** Whether the network refuses them, and not a limit of ours or an earlier transaction. */
  refused: boolean;
}

/**
 * Asks the chain what the next bytes of a payout cost. The first bytes get a quote of the transfer, further bytes of a nonce or an anchor a higher
 * fee than those before, and a close a quote that pays nobody. Locks nothing.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function quoteNext(deps: Deps, chain: Chain, payout: StoredPayout, attempts: readonly StoredAttempt[], kind: AttemptKind): Promise<NextBytes> {
  const { sql } = deps.db;
  const wallet = await findWalletByAddress(sql, chain.id, payout.walletAddress);
  if (wallet === undefined) throw new Invariant(`payout ${payout.id} has no wallet`);
  if (payout.anchor !== null) return nextSpend(deps, chain, { payout: { ...payout, anchor: payout.anchor }, wallet }, attempts, kind);
  const seen = await observe(deps, chain, wallet, kind === 'close' ? null : payout.contract);
  const { observed } = seen;
  const nonceUsed = payout.nonce !== null && observed.nonce !== null && observed.nonce > payout.nonce;
  const refused = (problem: string, byNetwork = false): NextBytes => ({
    market: { nonceUsed, accepted: false, covered: true, allowed: true },
    quote: null,
    rawAmount: payout.rawAmount,
    observed,
    lacking: 0n,
    problem,
    refused: byNetwork,
  });
  if (nonceUsed) return refused('the chain knows a transaction with its nonce already');
  if (seen.silent !== null) return refused(`the token says nothing: ${seen.silent}`);
  const native = await nativeAsset(sql, chain.id);
  const barred = kind === 'close' ? null : await lastingLimit(deps, sql, chain, payout, attempts, native);
  if (barred !== null) return refused(barred);
  const intent: TransferIntent =
    kind === 'close'
      ? { sender: wallet.address, recipient: wallet.address, contract: null, rawAmount: 0n }
      : { sender: wallet.address, recipient: payout.recipient, contract: payout.contract, rawAmount: payout.rawAmount };
  // A transfer between our own addresses is estimated as when it was planned: with everything that the network takes, because a sweep must keep
  // that back.
  const quoted = kind === 'transfer' && payout.purpose === 'settlement' ? await findSettlementQuote(sql, payout.settlementId ?? '') : undefined;
  const bound = boundTo(quoted, payout.contract);
  const answer = await (kind === 'transfer' && leavesUs(payout) ? chain.payer.quote(intent, undefined, bound) : chain.payer.estimate(intent));
  // Some nodes refuse a transfer whose wallet lacks only the fee, which a top-up can bring.
  const usable = answer.ok ? answer : await chain.payer.estimate(intent, undefined, bound);
  if (!usable.ok) return refused(`the network refuses it: ${usable.rejected}`, true);
  const quote = await raisedAbove(chain, payout, attempts, kind, usable.quote);
  if (quote === null) return refused('what was signed before cannot be replaced');
  // Before signing, a sweep of native coins takes its fee from what it brings.
  const fromItself = payout.purpose === 'sweep' && payout.contract === null && attempts.length === 0 && kind === 'transfer';
  const rawAmount = fromItself ? payout.rawAmount + BigInt(payout.plan.rawFee ?? 0) - quote.rawFee : payout.rawAmount;
  if (rawAmount <= 0n) return refused('its fee is more than it brings');

  const bytes = { kind, rawAmount, rawFee: quote.rawFee };
  const lacking = await lackOf(sql, payout, observed, bytes);
  // Signed bytes that no block takes block the wallet, and giving them up would cost the current price as well. So they are raised at that price,
  // whatever the budget.
  const budgeted = attempts.length === 0 || payout.nonce === null ? bound : undefined;
  const limit = await feeLimit(deps, sql, chain, payout, native, { rawFee: quote.rawFee, units: quote.units, bound: budgeted });
  const covered = lacking.coins <= 0n && lacking.native <= 0n;
  if (covered && !answer.ok) return refused(`the network refuses it: ${answer.rejected}`, true);
  return {
    market: { nonceUsed, accepted: true, covered, allowed: limit === null },
    quote,
    rawAmount,
    observed,
    lacking: lacking.native,
    problem: covered ? (limit?.problem ?? null) : 'the wallet does not cover it',
    refused: false,
  };
}

/** The next bytes where coins are outputs. Choosing outputs shows what is covered, and no coins are brought to a payout that has taken outputs. */
async function nextSpend(
  deps: Deps,
  chain: Chain,
  spender: { payout: StoredPayout & { anchor: string }; wallet: StoredWallet },
  attempts: readonly StoredAttempt[],
  kind: AttemptKind,
): Promise<NextBytes> {
  const { sql } = deps.db;
  const { payout } = spender;
  const native = await nativeAsset(sql, chain.id);
  const base = { rawAmount: payout.rawAmount, observed: null, lacking: 0n, refused: false };
  const barred = kind === 'close' ? null : await lastingLimit(deps, sql, chain, payout, attempts, native);
  const found = barred === null ? await quoteNextSpend(deps, chain, spender, attempts, kind) : { refused: barred };
  if (!('quote' in found)) {
    const market = { nonceUsed: 'used' in found, accepted: 'short' in found, covered: !('short' in found), allowed: true };
    return { ...base, market, quote: null, problem: 'used' in found ? found.used : 'short' in found ? found.short : found.refused };
  }
  const { quote } = found;
  // A close spends one output, but must pay more than earlier bytes that may spend many.
  const signed = await Promise.all(attempts.map(({ signedBytes }) => decoderOf(chain.config)(signedBytes)));
  const inputs = mostInputs(chain, [quote.fields, ...signed.map(({ fields }) => fields)]);
  const limit = await feeLimit(deps, sql, chain, payout, native, { rawFee: quote.rawFee, inputs });
  // A join brings the sum of its outputs less the fee.
  if (payout.purpose === 'consolidation' && kind === 'transfer')
    base.rawAmount = spendingOf(chain, quote.fields).inputs.reduce((sum, input) => sum + input.rawAmount, -quote.rawFee);
  return { ...base, market: { nonceUsed: false, accepted: true, covered: true, allowed: limit === null }, quote, problem: limit?.problem ?? null };
}

/** Why a payout may not cost this much now, or null. */
async function feeLimit(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  payout: StoredPayout,
  native: { symbol: string; decimals: number },
  asked: { rawFee: bigint; inputs?: number; units?: bigint | undefined; bound?: Bound | undefined },
): Promise<LimitProblem | null> {
  const settlement = payout.purpose === 'settlement' && payout.settlementId !== null ? await findSettlement(sql, payout.settlementId) : undefined;
  const fee = { symbol: native.symbol, decimals: native.decimals, native: true, rawAmount: asked.rawFee, planned: false, except: payout.id };
  const limit = (await checkFee(deps, { ...asked, native }, lockedFee(payout, settlement))) ?? (await checkLimits(deps, sql, chain, fee));
  const { bound, rawFee, units } = asked;
  if (limit !== null || settlement === undefined || bound === undefined) return limit;
  return checkFeeExpense(deps, sql, chain, { rawFee, units, native, gatewayId: settlement.gatewayId, bound, except: payout.id });
}

/**
 * Reads a wallet's balances and nonce. If the chain answers but the token does not, the wallet is read without the token, so that its payout can
 * still be dealt with.
 */
async function observe(deps: Deps, chain: Chain, wallet: StoredWallet, contract: string | null): Promise<{ observed: Observed; silent: string | null }> {
  try {
    return { observed: await observeWallet(deps, chain, wallet, contract), silent: null };
  } catch (error) {
    if (contract === null || !(error instanceof ChainUnavailable) || (error.trouble !== 'refused' && error.trouble !== 'untrusted')) throw error;
    return { observed: await observeWallet(deps, chain, wallet, null), silent: error.message };
  }
}

/** Why the signer will never sign bytes that are not signed yet, at any price, so that they must not hold up later payouts; null if it may. */
async function lastingLimit(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  payout: StoredPayout,
  attempts: readonly StoredAttempt[],
  native: { symbol: string; decimals: number },
): Promise<string | null> {
  if (attempts.length > 0 && (payout.nonce !== null || payout.anchor !== null)) return null;
  if (payout.failure?.startsWith(REMEMBERED)) return payout.failure;
  const moved = { symbol: payout.assetSymbol, decimals: payout.decimals, native: payout.contract === null, rawAmount: payout.rawAmount };
  const fee = { symbol: native.symbol, decimals: native.decimals, rawFee: BigInt(payout.plan.rawFee ?? 0) };
  let limit = null;
  if (leavesUs(payout)) limit = await checkLimits(deps, sql, chain, { ...moved, fee, planned: false, except: payout.id });
  if (payout.purpose === 'top_up') limit = await checkTopUp(deps, { ...moved, symbol: native.symbol, decimals: native.decimals });
  return limit?.lasting === true ? limit.problem : poolProblem(sql, chain, payout);
}

/** Whether its coins leave us, rather than move between our own addresses. */
function leavesUs({ purpose }: StoredPayout): boolean {
  return purpose === 'settlement' || purpose === 'refund' || purpose === 'withheld';
}

/**
 * What a wallet lacks for these bytes, in chain units, after everything that must be paid before them: with nonces the payouts below theirs,
 * otherwise everything on its way. Zero or less means that nothing is missing. Locks nothing; holds until commit only while the wallet is locked.
 */
export async function lackOf(
  sql: Reads,
  payout: StoredPayout,
  observed: Observed,
  bytes: { kind: AttemptKind; rawAmount: bigint; rawFee: bigint },
): Promise<{ coins: bigint; native: bigint }> {
  const others = (await listCommitted(sql, payout.walletId, observed.committedIds)).filter(
    (other) => other.id !== payout.id && (payout.nonce === null || other.nonce === null || other.nonce < payout.nonce),
  );
  // A close moves no tokens, so it needs none.
  const [contract, amount] = bytes.kind === 'close' ? [null, 0n] : [payout.contract, bytes.rawAmount];
  const free = freeOf(observed, others, contract);
  const coins = contract === null ? amount + bytes.rawFee : amount;
  return { coins: coins - free.coins, native: bytes.rawFee + (contract === null ? amount : 0n) - free.native };
}

/** The quote of an attempt that replaces the earlier ones, or `quote` itself when there is nothing to replace. Null when they cannot be replaced. */
async function raisedAbove(
  chain: Chain,
  payout: StoredPayout,
  attempts: readonly StoredAttempt[],
  kind: AttemptKind,
  quote: FeeQuote,
): Promise<FeeQuote | null> {
  const [newest] = attempts;
  if (newest === undefined || payout.nonce === null) return quote;
  if (chain.payer.bump === null) return null;
  const { fields } = await decoderOf(chain.config)(newest.signedBytes);
  const gas = newest.kind === kind ? most(fields.gas, quote.fields.gas) : quote.fields.gas;
  return chain.payer.bump({ ...fields, ...(gas === undefined ? {} : { gas }) });
}

/**
 * A node may simulate on a state in which the first bytes have already taken effect, and quote too little. So the gas limit of the signed bytes is
 * kept as a minimum.
 */
function most(signed: string | undefined, quoted: string | undefined): string | undefined {
  return signed !== undefined && quoted !== undefined && BigInt(signed) > BigInt(quoted) ? signed : quoted;
}

function lockedFee(payout: StoredPayout, settlement: StoredSettlement | undefined): Parameters<typeof checkFee>[2] {
  return settlement === undefined || settlement.feeLocked === null ? null : { coins: settlement.feeLocked, symbol: payout.assetSymbol };
}

/** Sends a wallet more native coins when fees rose above what it kept back. The operator fills the funding wallet. */
export async function bringGas(deps: Deps, chain: Chain, payout: StoredPayout, { lacking, quote, market }: NextBytes): Promise<void> {
  const { sql } = deps.db;
  const { settlementId } = payout;
  if (lacking <= 0n || quote === null || !market.allowed || payout.purpose === 'top_up') return;
  const [wallet, native] = await Promise.all([findWalletByAddress(sql, chain.id, payout.walletAddress), nativeAsset(sql, chain.id)]);
  if (wallet === undefined) return;
  if (payout.purpose === 'sweep') await coverSweepGas(deps, chain, { settlementId, native, sweep: payout, rawAmount: withReserve(lacking) });
  else await coverGas(deps, chain, { settlementId, wallet, native, missing: lacking, fee: quote.rawFee });
}
