import type { Deps } from '#api/deps.ts';
import { findGateway } from '#api/store/gateways.ts';
import { takeParked, type ParkedSettlement, setParkedReason, findSettlement } from '#api/store/settlements.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { SettlementStatus } from '#state-machines/settlement/machine.ts';
import { activate } from './activate.ts';
import { prepareActivation } from './prepare-activation.ts';

/** At most this many parked cashouts are looked at in one run. The next run looks at others, because these are not due again for a minute. */
const BATCH = 200;
/** Gateways served at the same time: enough that one gateway's slow provider does not hold up all, few enough for a node's budget. */
const GATEWAYS_AT_ONCE = 8;

/**
 * Looks at every parked cashout that may have become possible and was not looked at for a minute (contract 4.3).
 * The cashouts of one gateway are looked at one after the other, oldest first, because they compete for its balances and its screening credit. An
 * asset whose fee cannot be quoted does not hold up other assets, nor what one destination causes other gateways. Safe to run any number of times at once.
 * @returns how many moved on
 */
export async function activateParked(deps: Deps): Promise<number> {
  const queues = new Map<string, ParkedSettlement[]>();
  for (const parked of await takeParked(deps.db.sql, { seconds: POLICY.parkedCheckSeconds, limit: BATCH })) {
    queues.set(parked.gatewayId, [...(queues.get(parked.gatewayId) ?? []), parked]);
  }
  const waiting = [...queues.values()];
  const unquotable = new Set<string>();
  const serve = async (): Promise<number> => {
    let count = 0;
    for (let queue = waiting.shift(); queue !== undefined; queue = waiting.shift()) count += await activateInOrder(deps, queue, unquotable);
    return count;
  };
  const moved = (await Promise.all(Array.from({ length: GATEWAYS_AT_ONCE }, serve))).reduce((sum, count) => sum + count, 0);
  if (moved > 0) deps.wake();
  return moved;
}

/** Activates the cashouts of one gateway. `unquotable` collects the assets that are tried again in this run for no gateway. */
async function activateInOrder(deps: Deps, queue: readonly ParkedSettlement[], unquotable: Set<string>): Promise<number> {
  const unclear = new Set<string>();
  let moved = 0;
  for (const { id, assetId } of queue) {
    if (unquotable.has(assetId) || unclear.has(assetId)) continue;
    try {
      if ((await activateById(deps, id)) !== null) moved += 1;
    } catch (error) {
      deps.log.warn({ err: error, settlement: id }, 'a parked cashout could not be looked at');
      if (error instanceof ServiceError && error.code === 'fee_estimation_unavailable') (isAboutOne(error) ? unclear : unquotable).add(assetId);
    }
  }
  return moved;
}

/** Whether a destination may be why there is no quote: it can make a node refuse or delay, but it cannot make a node unreachable. */
function isAboutOne({ cause }: ServiceError): boolean {
  return cause instanceof ChainUnavailable && (cause.trouble === 'slow' || cause.trouble === 'refused' || cause.trouble === 'untrusted');
}

/**
 * Activates one parked cashout if it is possible now, and otherwise stores why not. Locks the cashout's row, if at all, for one transaction.
 * @returns its new status, or null when it did not move
 * @throws fee_estimation_unavailable when the chain or a price cannot be reached
 */
export async function activateById(deps: Deps, id: string): Promise<SettlementStatus | null> {
  const row = await findSettlement(deps.db.sql, id);
  const gateway = row && (await findGateway(deps.db.sql, row.gatewayId));
  if (row === undefined || gateway === undefined || (row.status !== 'UNDERFUNDED' && row.status !== 'WAITING_AML_CREDIT')) return null;
  const prepared = await prepareActivation(deps, gateway, row);
  const outcome = 'stays' in prepared ? prepared : await deps.db.transaction((tx) => activate(tx, deps, { gateway, id, ...prepared, actor: 'sweeper' }));
  if ('moved' in outcome) return outcome.moved.status;
  if ('stays' in outcome) await setParkedReason(deps.db.sql, id, outcome.stays);
  return null;
}
