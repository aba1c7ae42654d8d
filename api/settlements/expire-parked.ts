import type { Deps } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { listOverstayed, lockOverstayed } from '#api/store/settlements.ts';
import { rowId } from '#shared/core/ids.ts';
import { withEach } from '#shared/core/with-each.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import { activateById } from './activate-parked.ts';

/** At most this many rows are looked at in one run. */
const BATCH = 200;

/**
 * Rejects the cashouts that are still blocked when their seven days of parking end, and informs the merchant (contract 3.2). Each is tried once
 * more first, so that a cashout whose funds came just now is paid.
 * @returns how many were rejected
 */
export async function expireParked(deps: Deps): Promise<number> {
  const overdue = await listOverstayed(deps.db.sql, BATCH);
  const expire = async (id: string): Promise<number> => ((await expireById(deps, id)) ? 1 : 0);
  try {
    return await withEach(overdue, expire, (err, settlement) => deps.log.error({ err, settlement }, 'a parked cashout cannot be rejected'));
  } finally {
    if (overdue.length > 0) deps.wake();
  }
}

/** Tries a cashout a last time at the end of its parking time, and rejects it if it is still blocked; returns whether it was rejected. */
export async function expireById(deps: Deps, id: string): Promise<boolean> {
  await activateById(deps, id).catch((error: unknown) => deps.log.warn({ err: error, settlement: id }, 'a parked cashout could not be looked at a last time'));
  return deps.db.transaction((tx) => expireOne(tx, deps, id));
}

/** Rejects one cashout unless it is no longer parked. Locks the settlement. */
async function expireOne(tx: Tx, deps: Deps, id: string): Promise<boolean> {
  if (!(await lockOverstayed(tx, id))) return false;
  const advanced = await advance(tx, 'settlement', {
    id,
    event: 'PARKING_EXPIRED',
    actor: 'sweeper',
    facts: () => ({ facts: NO_SETTLEMENT_FACTS }),
    effects: { mail: () => insertOutbox(tx, { id: rowId(deps), topic: 'settlement.mail', refId: id }) },
    orConflict: () => null,
  });
  if (advanced === null) return false;
  deps.metrics?.settlementTransitions.inc({ from: advanced.from, to: advanced.to, route: String(advanced.row.requestedRoute) });
  crashPoint('park.expired');
  return true;
}
