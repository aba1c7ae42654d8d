import type { Chain, Deps } from '#api/deps.ts';
import { findAsset, type StoredAsset } from '#api/store/assets.ts';
import { listCommitted, listFamilies } from '#api/store/payouts.ts';
import { findSettlement, listDispatchQueue, lockSettlement, setWaitReason, type StoredSettlement } from '#api/store/settlements.ts';
import { lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import { closedReason } from '#api/treasury/closed.ts';
import { coverGas, coverShortage } from '#api/treasury/cover.ts';
import { checkFee, checkLimits, type LimitedTransfer } from '#api/treasury/limits.ts';
import { freeOf, type Observed, observeWallet, planTransfer, type TransferPlan } from '#api/treasury/plan-transfer.ts';
import { configuredWallet } from '#api/treasury/wallets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import { toUnits } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { nativeAsset } from './quote-fee.ts';

/** Cashouts of one asset looked at in one run. */
const QUEUE_LENGTH = 100;
/** Families made without asking anybody: the first, and one more after a failure (decisions 10). */
const AUTOMATIC_FAMILIES = 2;
/** A cashout only a person can help is looked at this often. */
const STUCK_SECONDS = 60;

/** What became of one cashout: planned for the signer, no longer to be sent, waiting (and so is everything behind it), or stuck by itself. */
export type Dispatched = { planned: string } | { gone: true } | { waiting: string } | { stuck: string };

/**
 * Plans every due cashout of this one's asset and pool, in order, up to this one (architecture 4: first in, first out per
 * network and asset; another asset is another queue). Stays safe to run any number of times at once.
 * @returns in how many seconds to look again, or null when this cashout needs no more dispatching
 */
export async function dispatchSettlement(deps: Deps, settlementId: string): Promise<number | null> {
  const wanted = await findSettlement(deps.db.sql, settlementId);
  if (wanted === undefined || wanted.pool === null || (wanted.status !== 'REQUESTED' && wanted.status !== 'PROCESSING')) return null;
  const chain = deps.chains.get(wanted.networkName);
  if (chain === undefined) throw new Invariant(`network ${wanted.networkName} is not configured`);
  const again = Math.min(Math.max(chain.config.blockSeconds, 1), 15);
  const queue = await listDispatchQueue(deps.db.sql, { assetId: wanted.assetId, pool: wanted.pool, limit: QUEUE_LENGTH });
  for (const id of queue) {
    const outcome = await dispatchOne(deps, chain, id);
    const reason = 'waiting' in outcome ? outcome.waiting : 'stuck' in outcome ? outcome.stuck : null;
    if (!('gone' in outcome) && (await setWaitReason(deps.db.sql, id, reason)) && reason !== null) {
      deps.log.warn({ settlement: id, network: wanted.networkName, reason }, 'a cashout cannot be sent yet');
    }
    if ('waiting' in outcome) {
      if (id !== settlementId) await setWaitReason(deps.db.sql, settlementId, `waits behind settlement ${id}`);
      return again;
    }
    if (id === settlementId) return 'stuck' in outcome ? STUCK_SECONDS : null;
  }
  // Not in the queue: already on its way, not due yet, or further back than one run looks.
  const now = await findSettlement(deps.db.sql, settlementId);
  return now === undefined || (await nextFamily(deps.db.sql, now)) === null ? null : again;
}

async function dispatchOne(deps: Deps, chain: Chain, id: string): Promise<Dispatched> {
  try {
    return await prepare(deps, chain, id);
  } catch (error) {
    if (error instanceof ChainUnavailable) return { waiting: `the chain cannot be reached: ${error.message}` };
    // A row that contradicts itself must not hold up the ones behind it.
    if (error instanceof Invariant) return { stuck: error.message };
    throw error;
  }
}

/** Does everything remote with no lock held, then plans under the locks of settlement and wallet. */
async function prepare(deps: Deps, chain: Chain, id: string): Promise<Dispatched> {
  const settlement = await findSettlement(deps.db.sql, id);
  const asset = settlement && (await findAsset(deps.db.sql, settlement.assetId));
  if (settlement === undefined || asset === undefined || settlement.netAmount === null) return { gone: true };
  if ((await nextFamily(deps.db.sql, settlement)) === null) return { gone: true };
  if (settlement.pool !== 'green') return { stuck: 'cashouts of the held pool are not available yet' };
  const closed = await closedReason(deps.db.sql, { networkName: asset.networkName, assetId: asset.id });
  if (closed !== null) return { waiting: closed };
  const wallet = await configuredWallet(deps, chain, 'hot');
  if (wallet.haltedReason !== null) return { waiting: `the wallet is halted: ${wallet.haltedReason}` };
  const rawAmount = toUnits(settlement.netAmount, asset.decimals);
  if (rawAmount === undefined || rawAmount <= 0n) throw new Invariant(`settlement ${id} has a net amount that cannot be sent`);
  const limited = { symbol: asset.symbol, decimals: asset.decimals, rawAmount, planned: true };
  const limit = await checkLimits(deps, deps.db.sql, chain, limited);
  if (limit !== null) return limit.lasting ? { stuck: limit.problem } : { waiting: limit.problem };

  const native = await nativeAsset(deps.db.sql, asset.networkId);
  const intent = { sender: wallet.address, recipient: settlement.canonicalAddress, contract: asset.contract, rawAmount };
  const observed = await observeWallet(deps, chain, wallet, asset.contract);
  const free = freeOf(observed, await listCommitted(deps.db.sql, wallet.id, observed.committedIds), asset.contract);
  const estimate = await chain.payer.estimate(intent);
  if (!estimate.ok) return { stuck: `the network refuses the transfer: ${estimate.rejected}` };
  const needed = rawAmount + (asset.type === 'NATIVE' ? estimate.quote.rawFee : 0n);
  const short = { settlementId: id, wallet, asset, native };
  if (free.coins < needed) return { waiting: await coverShortage(deps, chain, { ...short, missing: needed - free.coins }) };
  if (free.native < estimate.quote.rawFee) {
    return { waiting: await coverGas(deps, chain, { ...short, missing: estimate.quote.rawFee - free.native, fee: estimate.quote.rawFee }) };
  }
  const answer = await chain.payer.quote(intent);
  if (!answer.ok) return { stuck: `the network refuses the transfer: ${answer.rejected}` };
  const fee = await checkFee(
    deps,
    { rawFee: answer.quote.rawFee, native },
    settlement.feeLocked === null ? null : { coins: settlement.feeLocked, symbol: asset.symbol },
  );
  if (fee !== null) return { waiting: fee.problem };

  const outcome = await deps.db.transaction((tx) =>
    plan(tx, deps, chain, {
      settlement,
      asset,
      wallet,
      observed,
      limited,
      transfer: { purpose: 'settlement', settlementId: id, parentId: null, asset, recipient: settlement.canonicalAddress, rawAmount, quote: answer.quote },
    }),
  );
  crashPoint('dispatch.committed');
  deps.wake();
  return outcome;
}

interface Ready {
  settlement: StoredSettlement;
  asset: StoredAsset;
  wallet: StoredWallet;
  observed: Observed;
  limited: LimitedTransfer;
  transfer: Omit<TransferPlan, 'family'>;
}

/** Checks again, under lock, all that may have changed while the chain was asked, and gives the cashout its nonce. */
async function plan(tx: Tx, deps: Deps, chain: Chain, { settlement, asset, wallet, observed, limited, transfer }: Ready): Promise<Dispatched> {
  const locked = await lockSettlement(tx, settlement.id);
  const family = locked === undefined ? null : await nextFamily(tx, locked);
  if (locked === undefined || family === null || locked.netAmount !== settlement.netAmount) return { gone: true };
  const closed = await closedReason(tx, { networkName: asset.networkName, assetId: asset.id });
  if (closed !== null) return { waiting: closed };
  await lockWallet(tx, wallet.id);
  crashPoint('dispatch.locked');
  const limit = await checkLimits(deps, tx, chain, limited);
  if (limit !== null) return { waiting: limit.problem };
  const planned = await planTransfer(tx, deps, wallet.id, observed, { ...transfer, family });
  return 'refused' in planned ? { waiting: planned.refused } : { planned: planned.payoutId };
}

/** Number of the payout family a cashout needs now, or null when it needs none. True until commit only while the settlement is locked. */
async function nextFamily(sql: Reads, settlement: StoredSettlement): Promise<number | null> {
  const families = await listFamilies(sql, settlement.id);
  if (families.some((payout) => payout.status !== 'FAILED' && payout.status !== 'CANCELLED')) return null;
  const last = families.filter((payout) => payout.status === 'FAILED').at(-1);
  if (settlement.status === 'REQUESTED' && last === undefined) return 1;
  if (settlement.status === 'PROCESSING' && last?.plan.repay === true && last.family < AUTOMATIC_FAMILIES) return last.family + 1;
  return null;
}
