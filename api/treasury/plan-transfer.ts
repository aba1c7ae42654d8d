import type { Chain, Deps } from '#api/deps.ts';
import { appendEvent } from '#api/store/advance.ts';
import { readClock } from '#api/store/clock.ts';
import { completePlan, hasAllocatedNonce, insertPayout, listCommitted, type PayoutPlan, type PayoutPurpose, type StoredPayout } from '#api/store/payouts.ts';
import { lockOutputs, lockPaymentsOf } from '#api/store/outputs.ts';
import { haltWallet, lockWallet, setNextNonce, type StoredWallet } from '#api/store/wallets.ts';
import type { FeeQuote } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import { rowId } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type InputsProblem, inputsProblem } from './purse.ts';
import { anchorOf, purseOf, spendingOf } from '#api/payouts/rules/spending.ts';

/** What the chain showed of a wallet before any lock was taken, and which payouts were on their way then. */
export interface Observed {
  /** Null on families without nonces. */
  nonce: number | null;
  /** Chain units held of the asset that moves. */
  coins: bigint;
  /** Native units held. */
  native: bigint;
  /** Ids of payouts that may or may not be part of those figures. */
  committedIds: string[];
}

export interface TransferPlan {
  purpose: PayoutPurpose;
  settlementId: string | null;
  refundId?: string;
  /** The transfer of withheld coins it carries out. */
  withheldId?: string;
  /** The payment whose coins follow it to another pool. */
  paymentId?: string;
  family: number;
  parentId: string | null;
  asset: { id: string; contract: string | null };
  recipient: string;
  rawAmount: bigint;
  quote: FeeQuote;
  /** Id of a payout that waited for its gas and is planned now. */
  waitingId?: string;
}

export type Planned = { payoutId: string } | { refused: string };

/** Reads a wallet from its chain. Payouts on their way are read first, so that one that is mined in between is counted as spent twice and not missed. */
export async function observeWallet(deps: Deps, chain: Chain, wallet: StoredWallet, contract: string | null): Promise<Observed> {
  const committed = await listCommitted(deps.db.sql, wallet.id, []);
  const [nonce, native, coins] = await Promise.all([
    chain.payer.nonce(wallet.address),
    chain.payer.balance(wallet.address, null),
    contract === null ? null : chain.payer.balance(wallet.address, contract),
  ]);
  return { nonce, native, coins: coins ?? native, committedIds: committed.map((payout) => payout.id) };
}

/** What a wallet can still spend after everything on its way, in chain units. */
export function freeOf(
  observed: Pick<Observed, 'coins' | 'native'>,
  committed: readonly StoredPayout[],
  contract: string | null,
): { coins: bigint; native: bigint } {
  let { coins, native } = observed;
  for (const payout of committed) {
    if (payout.contract === contract) coins -= payout.rawAmount;
    if (payout.contract === null) native -= payout.rawAmount;
    native -= payout.rawFeeAtMost;
    if (contract === null) coins -= payout.rawFeeAtMost;
  }
  return { coins, native };
}

/** The part of a quote that is stored in a payout's plan; `now` is the service time of the quote. */
export function planOf(quote: FeeQuote, now: Date): PayoutPlan {
  const { rawFee, fields, expiresAtMs, units } = quote;
  return { rawFee: rawFee.toString(), fields, expiresAtMs, quotedAt: now.toISOString(), ...(units !== undefined && { units: units.toString() }) };
}

/**
 * Stores a transfer for the signer, in the caller's transaction, with the wallet's next nonce on chains that have nonces.
 * Refuses, without any change, when the wallet is halted, cannot cover it, or was used outside of this service (which halts it). Locks the wallet;
 * the caller already holds the settlement, if there is one (architecture 4).
 */
export async function planTransfer(tx: Tx, deps: Deps, walletId: string, observed: Observed, plan: TransferPlan): Promise<Planned> {
  const wallet = await lockWallet(tx, walletId);
  if (wallet === undefined) return { refused: `wallet ${walletId} does not exist` };
  if (wallet.haltedReason !== null) return { refused: `the wallet is halted: ${wallet.haltedReason}` };
  let nonce = observed.nonce === null ? null : wallet.nextNonce;
  if (observed.nonce !== null && observed.nonce > wallet.nextNonce) {
    if (await hasAllocatedNonce(tx, wallet.id)) {
      await haltWallet(tx, wallet.id, `the chain has used nonce ${observed.nonce - 1}, which was never allocated`);
      deps.log.error({ wallet: wallet.address, chainNonce: observed.nonce, nextNonce: wallet.nextNonce }, 'wallet halted: its key was used by somebody else');
      return { refused: 'the wallet was used by somebody else' };
    }
    nonce = observed.nonce;
  }
  const committed = (await listCommitted(tx, wallet.id, observed.committedIds)).filter((payout) => payout.id !== plan.waitingId);
  const free = freeOf(observed, committed, plan.asset.contract);
  if (free.coins < plan.rawAmount || free.native < plan.quote.rawFee + (plan.asset.contract === null ? plan.rawAmount : 0n))
    return { refused: 'the wallet does not cover it' };
  const fees = planOf(plan.quote, (await readClock(tx)).now);
  if (plan.waitingId !== undefined && !(await completePlan(tx, plan.waitingId, { rawAmount: plan.rawAmount, nonce, plan: fees }))) {
    return { refused: 'it is no longer waiting' };
  }
  if (nonce !== null) await setNextNonce(tx, wallet.id, nonce + 1);
  crashPoint('dispatch.nonce-allocated');
  if (plan.waitingId !== undefined) return { payoutId: plan.waitingId };
  return { payoutId: await storePayout(tx, deps, wallet, { ...plan, nonce, anchor: null, plan: fees }) };
}

/**
 * Stores a transfer where coins are outputs, in the caller's transaction, and takes the outputs that its quote chose, so that simultaneous planners
 * never spend the same one.
 * Returns `taken`, without any change, when one of them can no longer be taken; a new quote will choose others. Locks the wallet, then the payments
 * of deposits among the outputs.
 */
export async function planSpend(
  tx: Tx,
  deps: Deps,
  chain: Chain,
  walletId: string,
  plan: Omit<TransferPlan, 'waitingId'>,
): Promise<Planned | { taken: InputsProblem }> {
  const wallet = await lockWallet(tx, walletId);
  if (wallet === undefined) return { refused: `wallet ${walletId} does not exist` };
  if (wallet.haltedReason !== null) return { refused: `the wallet is halted: ${wallet.haltedReason}` };
  const { inputs } = spendingOf(chain, plan.quote.fields);
  const purse = purseOf(chain, wallet);
  await lockPaymentsOf(tx, chain.id, inputs);
  const taken = await inputsProblem(tx, purse, undefined, inputs);
  if (taken !== null) return { taken };
  const anchor = anchorOf(chain, plan.quote.fields);
  const payoutId = await storePayout(tx, deps, wallet, { ...plan, nonce: null, anchor, plan: planOf(plan.quote, (await readClock(tx)).now) });
  if (!(await lockOutputs(tx, chain.id, payoutId, inputs))) throw new Invariant(`an output of payout ${payoutId} is taken twice`);
  crashPoint('dispatch.nonce-allocated');
  return { payoutId };
}

/** Stores a payout without a fee or a nonce. It keeps its place, but cannot be signed before the gas it waits for has arrived. Locks nothing. */
export async function planWaiting(tx: Tx, deps: Deps, wallet: StoredWallet, plan: Omit<TransferPlan, 'quote' | 'waitingId'>): Promise<string> {
  return storePayout(tx, deps, wallet, { ...plan, nonce: null, anchor: null, plan: {} });
}

async function storePayout(
  tx: Tx,
  deps: Deps,
  wallet: StoredWallet,
  p: Omit<TransferPlan, 'quote'> & { nonce: number | null; anchor: string | null; plan: PayoutPlan },
): Promise<string> {
  const id = rowId(deps);
  await insertPayout(tx, {
    id,
    networkId: wallet.networkId,
    walletId: wallet.id,
    purpose: p.purpose,
    settlementId: p.settlementId,
    refundId: p.refundId ?? null,
    withheldId: p.withheldId ?? null,
    paymentId: p.paymentId ?? null,
    family: p.family,
    parentId: p.parentId,
    assetId: p.asset.id,
    recipient: p.recipient,
    rawAmount: p.rawAmount,
    nonce: p.nonce,
    anchor: p.anchor,
    plan: p.plan,
  });
  await appendEvent(tx, 'payout', {
    id,
    event: 'PLANNED',
    from: null,
    to: 'PLANNED',
    facts: { purpose: p.purpose, rawAmount: p.rawAmount.toString(), recipient: p.recipient, nonce: p.nonce, anchor: p.anchor },
    actor: 'dispatcher',
  });
  return id;
}
