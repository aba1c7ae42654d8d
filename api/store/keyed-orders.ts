import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Something the signer of the release before this one will do only if it carries a MAC made with the master key: a cashout, a refund, withheld coins, the end of a payout. */
export interface KeyedOrder {
  kind: 'settlement' | 'refund' | 'withheld' | 'close';
  id: string;
}

/** Everything whose MAC the signer of the release before this one may still ask for, in the order it is locked in; locks nothing. */
export async function listKeyedOrders(sql: Reads): Promise<KeyedOrder[]> {
  return sql<KeyedOrder[]>`
    select 'settlement' as kind, id from settlements where status in ('PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING')
    union all select 'refund', id from aml_refunds where status = 'ordered'
    union all select 'withheld', id from withheld_transfers where status = 'ordered'
    union all select 'close', id from payouts where plan ? 'closeMark' and status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED')`;
}

/** Gives a claimed cashout its MAC anew; the caller holds its lock. */
export async function setIntentMac(tx: Tx, id: string, mac: Uint8Array): Promise<void> {
  await tx`update settlements set intent_mac = ${Buffer.from(mac)} where id = ${id}`;
}

/** Gives a parked cashout its MAC anew; the caller holds its lock. */
export async function setOrderMac(tx: Tx, id: string, mac: Uint8Array): Promise<void> {
  await tx`update settlements set order_mac = ${Buffer.from(mac)} where id = ${id}`;
}

/** Gives a refund its MAC anew, unless it was paid or failed meanwhile; locks that row for the statement. */
export async function setRefundMac(tx: Tx, id: string, mac: Uint8Array): Promise<void> {
  await tx`update aml_refunds set intent_mac = ${Buffer.from(mac)} where id = ${id} and status = 'ordered'`;
}

/** Gives a transfer of withheld coins its MAC anew, unless it was paid or failed meanwhile; locks that row for the statement. */
export async function setWithheldMac(tx: Tx, id: string, mac: Uint8Array): Promise<void> {
  await tx`update withheld_transfers set intent_mac = ${Buffer.from(mac)} where id = ${id} and status = 'ordered'`;
}

/** Gives a payout that is to be closed its mark anew; the caller holds its lock. */
export async function setCloseMark(tx: Tx, id: string, mark: string): Promise<void> {
  await tx`update payouts set plan = plan || jsonb_build_object('closeMark', ${mark}::text) where id = ${id}`;
}
