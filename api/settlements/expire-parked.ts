import type { Deps } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { listOverstayed, lockOverstayed } from '#api/store/settlements.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import { activateById } from './activate-parked.ts';

/** Rows looked at in one run. */
const BATCH = 200;

/**
 * Rejects the cashouts whose seven days of parking are over and which are still blocked at that moment, and has the
 * merchant told (contract 3.2). Whether they are is asked once more, so that a cashout whose funds came just now is paid.
 * @returns how many were rejected
 */
export async function expireParked(deps: Deps): Promise<number> {
  const overdue = await listOverstayed(deps.db.sql, BATCH);
  let rejected = 0;
  for (const id of overdue) if (await expireById(deps, id)) rejected += 1;
  if (overdue.length > 0) deps.wake();
  return rejected;
}

/** Looks a last time at one whose parking time is over, and rejects it if it is still blocked; answers whether it was rejected. */
export async function expireById(deps: Deps, id: string): Promise<boolean> {
  await activateById(deps, id).catch((error: unknown) => deps.log.warn({ err: error, settlement: id }, 'a parked cashout could not be looked at a last time'));
  return deps.db.transaction((tx) => expireOne(tx, deps, id));
}

/** Rejects one, unless it left its parking place meanwhile. Locks the settlement. */
async function expireOne(tx: Tx, deps: Deps, id: string): Promise<boolean> {
  if (!(await lockOverstayed(tx, id))) return false;
  const advanced = await advance(tx, 'settlement', {
    id,
    event: 'PARKING_EXPIRED',
    actor: 'sweeper',
    facts: () => ({ facts: NO_SETTLEMENT_FACTS }),
    effects: { mail: () => insertOutbox(tx, { id: uuidFrom(deps.randomBytes(16)), topic: 'settlement.mail', refId: id }) },
    orConflict: () => null,
  });
  if (advanced === null) return false;
  deps.metrics?.settlementTransitions.inc({ from: advanced.from, to: advanced.to, route: String(advanced.row.requestedRoute) });
  crashPoint('park.expired');
  return true;
}
