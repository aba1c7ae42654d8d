import type { Chain, Deps } from '#api/deps.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { nativeAsset, listAssets, type StoredAsset } from '#api/store/assets.ts';
import { hasFailedMove, sumClaimed } from '#api/store/own-moves.ts';
import { listMisplaced } from '#api/store/misplaced-coins.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { listCommitted, listUnderWay } from '#api/store/payouts.ts';
import { lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import { ChainUnavailable, type FeeQuote, type OwnOutput, type TransferIntent } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import { coinsToUsd, formatAmount, fromUnits, parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { spareOutputs } from '#state-machines/payout/spare-outputs.ts';
import { closedReason } from './closed.ts';
import { onEachNetwork } from './on-each-network.ts';
import { type ColdLimits, coldAddress, coldLimits } from '#api/payouts/rules/cold.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { checkFee, checkLimits } from './limits.ts';
import { freeOf, type Observed, observeWallet, planSpend, planTransfer } from './plan-transfer.ts';
import { mostInputs, purseOf, spendingOf } from '#api/payouts/rules/spending.ts';
import { coverGas } from './top-up.ts';
import { poolWallet } from './wallets.ts';

/** An amount that every network accepts, for asking the fee of one output. */
const ANY_AMOUNT = 100_000n;
/** Where coins are outputs, a move leaves this many times its fee as change, so that its fee can be raised without further outputs of the pool. */
const FEES_TO_RAISE_BY = 3n;

/** An asset of one network whose excess goes to cold storage. */
interface Store {
  chain: Chain;
  asset: StoredAsset;
  native: StoredAsset;
  wallet: StoredWallet;
  recipient: string;
  limits: ColdLimits;
}

/**
 * Moves what hot wallets hold above their ceilings to cold storage, down to half way between ceiling and floor (decisions 12). Returns how many
 * transfers it planned.
 * Each asset has one transfer at a time. Coins that cashouts have claimed and coins of the held pool stay, and nothing moves while dispatch is
 * frozen or the wallet is halted. Reports what hot wallets and cold storage hold, for the operator who refills them.
 */
export async function moveExcess(deps: Deps): Promise<number> {
  return onEachNetwork(deps, 'the excess of a network cannot be moved', async (chain) => {
    let planned = 0;
    const recipient = coldAddress(chain);
    if (recipient === null) return 0;
    const native = await nativeAsset(deps.db.sql, chain.id);
    const wallet = await poolWallet(deps, chain, 'green');
    for (const asset of (await listAssets(deps.db.sql)).filter((one) => one.networkId === chain.id)) {
      const limits = coldLimits(chain, asset);
      if (limits === null) continue;
      try {
        const outcome = await moveAsset(deps, { chain, asset, native, wallet, recipient, limits });
        if ('planned' in outcome) planned += 1;
        else if (outcome.waiting !== null)
          deps.log.warn({ network: chain.config.name, asset: asset.symbol, reason: outcome.waiting }, 'excess stays in the hot wallet for now');
      } catch (error) {
        // A failure of one token must not keep the excess of the network's other assets in the hot wallet.
        if (!(error instanceof ChainUnavailable)) throw error;
        deps.log.warn({ err: error, network: chain.config.name, asset: asset.symbol }, 'the hot wallet cannot be looked at; it will be later');
      }
    }
    return planned;
  });
}

/** Planned, or why not; null when there is no excess. */
type Outcome = { planned: string } | { waiting: string | null };

async function moveAsset(deps: Deps, store: Store): Promise<Outcome> {
  const { chain, asset, wallet, recipient } = store;
  const { sql } = deps.db;
  const seen = await look(deps, store);
  await report(deps, store, seen.held);
  if (wallet.haltedReason !== null) return { waiting: `the wallet is halted: ${wallet.haltedReason}` };
  const pool = await weigh(sql, store, seen);
  if (pool.excess <= 0n || (await isMoving(sql, store))) return { waiting: null };
  const closed = await closedReason(sql, { networkName: asset.networkName, assetId: asset.id });
  if (closed !== null) return { waiting: closed };
  if (await hasFailedMove(sql, asset.id, POLICY.coldRestSeconds)) return { waiting: 'the last move to cold storage failed' };
  const priced = seen.observed === null ? await quoteOutputs(store, seen.outputs, pool) : await quoteBalance(deps, store, seen.observed, pool);
  if ('waiting' in priced) return priced;
  const barred = await problemOf(deps, sql, store, priced);
  if (barred !== null) return { waiting: barred };
  const outcome = await deps.db.transaction(async (tx): Promise<Outcome> => {
    await lockWallet(tx, wallet.id);
    if (await isMoving(tx, store)) return { waiting: null };
    const now = await closedReason(tx, { networkName: asset.networkName, assetId: asset.id });
    if (now !== null) return { waiting: now };
    // Coins that were claimed while the chain was asked are no longer excess.
    const left = await weigh(tx, store, seen.observed === null ? await outputsOf(tx, store) : seen);
    if (priced.rawAmount > left.excess || priced.away > left.most) return { waiting: 'cashouts have claimed some of it' };
    const still = await problemOf(deps, tx, store, priced);
    if (still !== null) return { waiting: still };
    const { rawAmount, quote } = priced;
    const plan = { purpose: 'cold', settlementId: null, family: 1, parentId: null, asset, recipient, rawAmount, quote } as const;
    const made = seen.observed === null ? await planSpend(tx, deps, chain, wallet.id, plan) : await planTransfer(tx, deps, wallet.id, seen.observed, plan);
    if ('taken' in made) return { waiting: 'other payouts took the outputs it was to spend' };
    return 'refused' in made ? { waiting: made.refused } : { planned: made.payoutId };
  });
  crashPoint('cold.planned');
  if ('planned' in outcome) {
    const coins = formatAmount(fromUnits(priced.rawAmount, asset.decimals));
    deps.log.info({ network: chain.config.name, asset: asset.symbol, payout: outcome.planned, coins }, 'excess goes to cold storage');
    deps.wake();
  }
  return outcome;
}

/** What a hot wallet was found to hold. */
interface Seen {
  /** Chain units, for logs and gauges. */
  held: bigint;
  /** Null where coins are outputs. */
  observed: Observed | null;
  outputs: readonly OwnOutput[];
}

async function look(deps: Deps, store: Store): Promise<Seen> {
  const { chain, asset, wallet } = store;
  if (spendsOutputs(chain.config.family)) return outputsOf(deps.db.sql, store);
  const observed = await observeWallet(deps, chain, wallet, asset.contract);
  return { held: observed.coins, observed, outputs: [] };
}

/** The final outputs of the green pool that no payout has taken. */
async function outputsOf(sql: Reads, { chain, wallet }: Store): Promise<Seen> {
  const outputs = await listSpendable(sql, purseOf(chain, wallet));
  return { held: sumOf(outputs), observed: null, outputs };
}

/** Chain units: the excess that may go to cold storage, and the most in outputs that may be unavailable until their change is final. */
interface Pool {
  excess: bigint;
  most: bigint;
}

/**
 * Compares the wallet's coins, less everything on its way, with what cashouts have claimed and with the limits. Locks nothing; under the wallet's
 * lock it holds until commit.
 */
async function weigh(sql: Reads, { chain, asset, wallet, limits }: Store, { observed, outputs }: Seen): Promise<Pool> {
  const free = observed === null ? sumOf(outputs) : freeOf(observed, await listCommitted(sql, wallet.id, observed.committedIds), asset.contract).coins;
  const claimed = toUnits(parseTrusted(await sumClaimed(sql, asset.id)), asset.decimals);
  if (claimed === undefined) throw new Invariant(`cashouts have claimed what is no amount of ${asset.symbol}`);
  // Coins of payments that changed to the held pool will leave this wallet for the held wallet.
  const misplaced = (await listMisplaced(sql, chain.id)).filter((one) => one.assetId === asset.id && one.from === 'green');
  const ours = free - claimed - misplaced.reduce((sum, one) => sum + one.rawAmount, 0n);
  return { excess: ours > limits.ceiling ? ours - limits.target : 0n, most: ours - limits.floor };
}

interface Priced {
  rawAmount: bigint;
  quote: FeeQuote;
  /** Chain units that cashouts cannot spend until the move is final. */
  away: bigint;
}

/** Prices the move of a balance. Native coins leave gas behind for the wallet's own transfers; for tokens gas is brought. */
async function quoteBalance(deps: Deps, store: Store, observed: Observed, { excess }: Pool): Promise<Priced | { waiting: string | null }> {
  const { chain, asset, native, wallet, recipient, limits } = store;
  const answer = await chain.payer.estimate({ sender: wallet.address, recipient, contract: asset.contract, rawAmount: excess });
  if (!answer.ok) return { waiting: `the network refuses it: ${answer.rejected}` };
  const { quote } = answer;
  if (asset.contract !== null) {
    const free = freeOf(observed, await listCommitted(deps.db.sql, wallet.id, observed.committedIds), asset.contract);
    if (free.native >= quote.rawFee) return { rawAmount: excess, quote, away: excess };
    return { waiting: await coverGas(deps, chain, { settlementId: null, wallet, native, missing: quote.rawFee - free.native, fee: quote.rawFee }) };
  }
  const gas = quote.rawFee * BigInt(POLICY.coldGasTransfers);
  const rawAmount = excess - quote.rawFee - (gas > limits.target ? gas - limits.target : 0n);
  return rawAmount > 0n ? { rawAmount, quote, away: rawAmount + quote.rawFee } : { waiting: null };
}

/** Prices the move of outputs, leaving change from which its fee can be raised. */
async function quoteOutputs({ chain, wallet, recipient }: Store, outputs: readonly OwnOutput[], pool: Pool): Promise<Priced | { waiting: string }> {
  const spare = spareOutputs(outputs, pool);
  if (spare === null) return { waiting: 'it lies in too few outputs: while their change is not final, cashouts would have less than the floor' };
  const intent = (rawAmount: bigint): TransferIntent => ({ sender: wallet.address, recipient, contract: null, rawAmount });
  const one = await chain.payer.estimate(intent(ANY_AMOUNT), []);
  if (!one.ok) return { waiting: `the network refuses it: ${one.rejected}` };
  const rawAmount = spare.rawAmount - one.quote.rawFee * BigInt(spare.outputs.length) * (1n + FEES_TO_RAISE_BY);
  if (rawAmount < ANY_AMOUNT) return { waiting: 'it would cost too much for what it moves' };
  const answer = await chain.payer.quote(intent(rawAmount), spare.outputs);
  if (!answer.ok) return { waiting: `the network refuses it: ${answer.rejected}` };
  return { rawAmount, quote: answer.quote, away: sumOf(spendingOf(chain, answer.quote.fields).inputs) };
}

/**
 * Why a move may not be sent now, or null. Only its fee counts against the limits, because its recipient belongs to this deployment; and it must be
 * worth that fee.
 */
async function problemOf(deps: Deps, sql: Reads, { chain, asset, native }: Store, { rawAmount, quote }: Priced): Promise<string | null> {
  const { rawFee, fields } = quote;
  const { symbol, decimals } = native;
  const fee = await checkFee(deps, { rawFee, native, inputs: mostInputs(chain, [fields]) }, null);
  if (fee !== null) return fee.problem;
  const limit = await checkLimits(deps, sql, chain, { symbol, decimals, native: true, rawAmount: rawFee, planned: true });
  if (limit !== null) return limit.problem;
  const [coin, moved] = await Promise.all([deps.prices.fresh(symbol), deps.prices.fresh(asset.symbol)]);
  if (coin === undefined || moved === undefined) return `there is no fresh price for ${moved === undefined ? asset.symbol : symbol}`;
  const cost = coinsToUsd(fromUnits(rawFee, decimals), coin.usd, 'up');
  const times = chain.config.sweeping?.floorTimesCost ?? POLICY.sweepFloorTimesCost;
  const least = (cost * BigInt(Math.ceil(times * 100))) / 100n;
  return coinsToUsd(fromUnits(rawAmount, asset.decimals), moved.usd, 'down') < least ? 'it would cost too much for what it moves' : null;
}

async function isMoving(sql: Reads, { chain, asset }: Store): Promise<boolean> {
  return (await listUnderWay(sql, { networkId: chain.id, purpose: 'cold' })).some((one) => one.assetId === asset.id);
}

/** Sets the gauges that show when a refill is due, and what it can come from. */
async function report({ metrics, db }: Deps, { chain, asset, limits }: Store, held: bigint): Promise<void> {
  if (metrics === undefined) return;
  const coins = (raw: bigint): number => Number(formatAmount(fromUnits(raw, asset.decimals)));
  const labels = { chain: chain.config.name, asset: asset.symbol };
  metrics.hotWalletCoins.set(labels, coins(held));
  metrics.hotWalletLimit.set({ ...labels, limit: 'ceiling' }, coins(limits.ceiling));
  metrics.hotWalletLimit.set({ ...labels, limit: 'floor' }, coins(limits.floor));
  const underWay = (await listUnderWay(db.sql, { networkId: chain.id, purpose: 'cold' })).filter(
    (one) => one.assetId === asset.id && one.status === 'INCLUDED',
  );
  metrics.coldStorageCoins.set({ ...labels, state: 'moving' }, coins(underWay.reduce((sum, one) => sum + one.rawAmount, 0n)));
  metrics.coldStorageCoins.set({ ...labels, state: 'stored' }, Number(formatAmount(await bookedCold(db.sql, asset.id))));
}

function sumOf(coins: readonly OwnOutput[]): bigint {
  return coins.reduce((sum, coin) => sum + coin.rawAmount, 0n);
}
