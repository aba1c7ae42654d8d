import type { Deps } from '#api/deps.ts';
import { lockOrder } from './keyed-orders.ts';
import { findRefund } from '#api/store/aml.ts';
import { findSettlement } from '#api/store/settlements.ts';
import { listStatements, listUnsaid, listUnsaidApprovals, type UnsaidApproval, type UnsaidOrder } from '#api/store/keyed-orders.ts';
import { findWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { masterKeys, signerOf } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { feeCeiling } from '#state-machines/settlement/acceptance.ts';
import { sayApproved } from './approval.ts';
import { acceptCashout } from './cashout.ts';
import { sayRefund, sayWithheld } from './held-order.ts';

/** What is stated when orders of the previous release are taken over. */
const BY = 'upgrade';

/**
 * Countersigns what the release before this one accepted: orders that are not over, from before a moment the operator set, each only if the MAC that
 * release gave it proves right (decision 0036). Nothing without that moment. Every order is a transaction of its own, so it may be killed anywhere and run
 * in several processes at once. Locks one order at a time. Answers how many it countersigned.
 * @throws Invariant outside of the http role
 */
export async function adoptOrders(deps: Deps): Promise<number> {
  const before = deps.config.SLUICE_INTENT_ADOPT_BEFORE;
  if (before === undefined) return 0;
  let done = 0;
  for (const order of await listUnsaid(deps.db.sql, before)) done += (await deps.db.transaction((tx) => adoptOne(tx, deps, order))) ? 1 : 0;
  for (const approval of await listUnsaidApprovals(deps.db.sql, before)) done += (await deps.db.transaction((tx) => adoptApproval(tx, deps, approval))) ? 1 : 0;
  if (done > 0) deps.log.info({ orders: done, before }, 'countersigned what the release before this one accepted');
  return done;
}

async function adoptOne(tx: Tx, deps: Deps, order: UnsaidOrder): Promise<boolean> {
  const found = await lockOrder(tx, order);
  // A second process that countersigns waits for that lock and then finds the statement. Refunds and withheld coins have none: two may say the same, which is one thing said.
  const said = order.kind === 'settlement' ? 'cashout' : order.kind;
  if (found === undefined || (await listStatements(tx, { kind: said, subject: order.id })).length > 0) return false;
  if (signerOf(masterKeys(deps.config), found.mac, found.make) === undefined) {
    deps.log.error({ kind: order.kind, id: order.id }, 'an order from before the upgrade proves wrong and is not countersigned: somebody changed its row');
    return false;
  }
  await countersign(tx, deps, order);
  return true;
}

async function countersign(tx: Tx, deps: Deps, { kind, id }: UnsaidOrder): Promise<void> {
  if (kind === 'settlement') {
    const row = await findSettlement(tx, id);
    if (row === undefined) return;
    // What a person had to approve then needs their word now: that of a code which was used up for it.
    const people = row.status === 'PENDING_APPROVAL' || row.holdReason !== null ? row.people : 0;
    const parked = row.feeLocked === null;
    await acceptCashout(tx, deps, row, { feeCeiling: row.feeLocked ?? feeCeiling(row.amount, null), people, parked, by: BY });
  } else if (kind === 'refund') {
    const refund = await findRefund(tx, id);
    if (refund !== undefined) await sayRefund(tx, deps, refund, BY);
  } else {
    const transfer = await findWithheldTransfer(tx, id);
    if (transfer !== undefined) await sayWithheld(tx, deps, transfer, BY);
  }
}

async function adoptApproval(tx: Tx, deps: Deps, { settlementId, secretId, step }: UnsaidApproval): Promise<boolean> {
  const row = await findSettlement(tx, settlementId);
  if (row === undefined) return false;
  await sayApproved(tx, deps, row, { authenticator: secretId, step, atMs: deps.wallClock(), by: BY });
  return true;
}
