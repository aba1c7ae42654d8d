import type { Chain, Deps } from '#api/deps.ts';
import { findAsset } from '#api/store/assets.ts';
import { listFamilies } from '#api/store/payouts.ts';
import { findSettlement, listDispatchQueue, lockSettlement, setWaitReason, type StoredSettlement } from '#api/store/settlements.ts';
import { familyAfter, sendOrder, type Sent } from '#api/treasury/send.ts';
import { Invariant } from '#shared/core/errors.ts';
import { toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** Cashouts of one asset looked at in one run. */
const QUEUE_LENGTH = 100;
/** A cashout only a person can help is looked at this often. */
const STUCK_SECONDS = 60;

/**
 * Plans every due cashout of this one's asset and pool, in order, up to this one (architecture 4: first in, first out per
 * network and asset; another asset, and the other pool with a wallet of its own, are other queues). Stays safe to run any
 * number of times at once.
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

/** Sends one cashout from the wallet of the pool it drew from. */
async function dispatchOne(deps: Deps, chain: Chain, id: string): Promise<Sent> {
  const settlement = await findSettlement(deps.db.sql, id);
  const asset = settlement && (await findAsset(deps.db.sql, settlement.assetId));
  if (settlement === undefined || asset === undefined || settlement.netAmount === null || settlement.pool === null) return { gone: true };
  if ((await nextFamily(deps.db.sql, settlement)) === null) return { gone: true };
  return sendOrder(deps, chain, {
    purpose: 'settlement',
    settlementId: id,
    pool: settlement.pool,
    asset,
    recipient: settlement.canonicalAddress,
    rawAmount: toUnits(settlement.netAmount, asset.decimals) ?? 0n,
    locked: settlement.feeLocked === null ? null : { coins: settlement.feeLocked, symbol: asset.symbol },
    lock: (tx) => lockSettlement(tx, id),
    nextFamily: async (tx) => {
      const locked = await findSettlement(tx, id);
      return locked === undefined || locked.netAmount !== settlement.netAmount || locked.pool !== settlement.pool ? null : nextFamily(tx, locked);
    },
  });
}

/** Number of the payout family a cashout needs now, or null when it needs none. True until commit only while the settlement is locked. */
async function nextFamily(sql: Reads, settlement: StoredSettlement): Promise<number | null> {
  const family = familyAfter(await listFamilies(sql, settlement.id));
  return settlement.status === (family === 1 ? 'REQUESTED' : 'PROCESSING') ? family : null;
}
