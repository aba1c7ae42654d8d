import type { Chain, Deps } from '#api/deps.ts';
import { cashoutProblem } from '#api/intents/cashout.ts';
import { stopUnproven } from '#api/intents/stop-unproven.ts';
import { findAsset } from '#api/store/assets.ts';
import { deferOutbox } from '#api/store/outbox.ts';
import { listSettlementPayouts } from '#api/store/payouts.ts';
import { findSettlementQuote } from '#api/store/settlement-fees.ts';
import { countWaiting, findSettlement, listDispatchQueue, lockSettlement, setWaitReason, type StoredSettlement } from '#api/store/settlements.ts';
import { payoutNumberAfter, reasonOf, sendOrder, type Sent } from './send.ts';
import { Invariant } from '#shared/core/errors.ts';
import { toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** At most this many cashouts of one wallet are looked at in one run. */
const QUEUE_LENGTH = 100;
/** A cashout that its destination or a person holds up is looked at this often. */
const STUCK_SECONDS = 60;

/**
 * Plans every due cashout of the same wallet up to and including this one: gateways take turns, and within one gateway time decides (decisions 10).
 * A cashout that cannot go, or of which nobody foresaw what is wrong with it, is deferred, and nothing waits for it. Safe to run any number of times at once.
 * @returns in how many seconds to look again, or null when this cashout needs no more dispatching
 */
export async function dispatchSettlement(deps: Deps, settlementId: string): Promise<number | null> {
  const { sql } = deps.db;
  const wanted = await findSettlement(sql, settlementId);
  if (wanted === undefined || wanted.pool === null || (wanted.status !== 'REQUESTED' && wanted.status !== 'PROCESSING')) return null;
  const chain = deps.chains.get(wanted.networkName);
  if (chain === undefined) throw new Invariant(`network ${wanted.networkName} is not configured`);
  const again = Math.min(Math.max(chain.config.blockSeconds, 1), 15);
  const queue = await listDispatchQueue(sql, { networkId: wanted.networkId, pool: wanted.pool, limit: QUEUE_LENGTH, wantedId: settlementId });
  for (const { id, gatewayId } of queue) {
    const outcome = await dispatchOne(deps, chain, id).catch((error: unknown) => {
      // The job of this one says it.
      if (id === settlementId) throw error;
      deps.log.error({ err: error, settlement: id, network: wanted.networkName }, 'a cashout cannot be looked at');
      return null;
    });
    if (outcome === null) {
      await deferOutbox(sql, 'settlement.dispatch', id, again);
      continue;
    }
    const reason = reasonOf(outcome);
    if (!('gone' in outcome)) await noteReason(deps, wanted.networkName, id, reason);
    if ('closed' in outcome) {
      // What stops this cashout stops every order that the wallet pays.
      if (id !== settlementId) await noteReason(deps, wanted.networkName, settlementId, outcome.closed);
      return again;
    }
    if (reason === null) {
      if (id === settlementId) return null;
      continue;
    }
    const pause = await pauseOf(sql, gatewayId, 'stuck' in outcome ? STUCK_SECONDS : again);
    if (id === settlementId) return pause;
    await deferOutbox(sql, 'settlement.dispatch', id, pause);
  }
  // It is not in the queue: already sent, not due yet, or further back than one run looks.
  const now = await findSettlement(sql, settlementId);
  return now === undefined || (await nextPayoutNumber(sql, now)) === null ? null : again;
}

async function noteReason(deps: Deps, network: string, id: string, reason: string | null): Promise<void> {
  if ((await setWaitReason(deps.db.sql, id, reason)) && reason !== null) deps.log.warn({ settlement: id, network, reason }, 'a cashout cannot be sent yet');
}

/**
 * How long a deferred cashout is not looked at. This grows with the number of its gateway's waiting cashouts, so that looking at them does not slow
 * other gateways down.
 */
async function pauseOf(sql: Reads, gatewayId: string, seconds: number): Promise<number> {
  const waiting = await countWaiting(sql, gatewayId);
  return Math.min(Math.max(seconds, Math.ceil((waiting * 60) / POLICY.waitingLooksPerMinute)), Math.max(seconds, POLICY.waitingPauseSeconds));
}

/** Sends one cashout from the wallet of the pool it drew from. */
async function dispatchOne(deps: Deps, chain: Chain, id: string): Promise<Sent> {
  const { sql } = deps.db;
  const settlement = await findSettlement(sql, id);
  const asset = settlement && (await findAsset(sql, settlement.assetId));
  if (settlement === undefined || asset === undefined || settlement.netAmount === null || settlement.pool === null) return { gone: true };
  if ((await nextPayoutNumber(sql, settlement)) === null) return { gone: true };
  // The signer would refuse it as well, but only after it was planned.
  const unproven = await cashoutProblem(sql, deps, settlement);
  if (unproven !== null) return stopUnproven(deps, { network: chain.config.name, what: `cashout ${id}` }, unproven);
  const quoted = await findSettlementQuote(sql, id);
  return sendOrder(deps, chain, {
    purpose: 'settlement',
    settlementId: id,
    gatewayId: settlement.gatewayId,
    ...(quoted !== undefined && { quoted }),
    pool: settlement.pool,
    asset,
    recipient: settlement.canonicalAddress,
    rawAmount: toUnits(settlement.netAmount, asset.decimals) ?? 0n,
    locked: settlement.feeLocked === null ? null : { coins: settlement.feeLocked, symbol: asset.symbol },
    lock: (tx) => lockSettlement(tx, id),
    nextPayoutNumber: async (tx) => {
      const locked = await findSettlement(tx, id);
      return locked === undefined || locked.netAmount !== settlement.netAmount || locked.pool !== settlement.pool ? null : nextPayoutNumber(tx, locked);
    },
  });
}

/** Number of the payout that a cashout needs now, or null when it needs none. Holds until commit only while the settlement is locked. */
async function nextPayoutNumber(sql: Reads, settlement: StoredSettlement): Promise<number | null> {
  const number = payoutNumberAfter(await listSettlementPayouts(sql, settlement.id));
  return settlement.status === (number === 1 ? 'REQUESTED' : 'PROCESSING') ? number : null;
}
