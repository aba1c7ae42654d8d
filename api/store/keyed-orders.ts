import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Statement } from '#shared/platform/statements.ts';

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

/** An order from before statements, that nobody has said anything about. */
export interface UnsaidOrder {
  kind: Exclude<KeyedOrder['kind'], 'close'>;
  id: string;
}

/** Orders that are not over, were made before a moment and carry no statement, the oldest first, a thousand at most; locks nothing. */
export async function listUnsaid(sql: Reads, before: Date): Promise<UnsaidOrder[]> {
  return sql<UnsaidOrder[]>`
    select o.kind, o.id from (
      select 'settlement' as kind, 'cashout' as said, id, created_at as at from settlements
      where status in ('PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING')
      union all select 'refund', 'refund', id, ordered_at from aml_refunds where status = 'ordered'
      union all select 'withheld', 'withheld', id, ordered_at from withheld_transfers where status = 'ordered') o
    where o.at < ${before} and not exists (select 1 from statements s where s.subject = o.id::text and s.kind = o.said)
    order by o.at, o.id limit 1000`;
}

/** A code that the release before this one used up to approve a cashout which is on its way. */
export interface UnsaidApproval {
  settlementId: string;
  secretId: string;
  step: number;
}

/** Approvals of cashouts made before a moment that carry no statement, a thousand at most; locks nothing. */
export async function listUnsaidApprovals(sql: Reads, before: Date): Promise<UnsaidApproval[]> {
  return sql<UnsaidApproval[]>`
    select distinct on (c.id) c.id as "settlementId", t.secret_id, t.step::float8 as step
    from settlements c join totp_acceptances t on t.settlement_id = c.id
    where c.status in ('REQUESTED', 'PROCESSING') and c.created_at < ${before}
      and not exists (select 1 from statements s where s.subject = c.id::text and s.kind = 'approval')
    order by c.id, t.step limit 1000`;
}

/** How many orders that are not over carry statements under each public key; locks nothing. */
export async function countOrdersByKey(sql: Reads): Promise<{ key: string; orders: number }[]> {
  return sql<{ key: string; orders: number }[]>`
    select s.public_key as key, count(distinct s.subject)::int as orders from statements s
    where exists (select 1 from settlements c where c.id::text = s.subject and c.status in ('PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING'))
      or exists (select 1 from aml_refunds r where r.id::text = s.subject and r.status = 'ordered')
      or exists (select 1 from withheld_transfers w where w.id::text = s.subject and w.status = 'ordered')
      or exists (select 1 from operator_proposals p where p.id::text = s.subject and p.status = 'open' and p.expires_at > sluice_now())
    group by s.public_key order by s.public_key`;
}

/** Keeps a statement, in the transaction of what it is about; locks nothing. */
export async function insertStatements(tx: Tx, statements: readonly Statement[]): Promise<void> {
  await tx`
    insert into statements (kind, subject, said, public_key, signature)
    select kind, subject, said, public_key, decode(signature, 'hex') from unnest(
      ${statements.map((one) => one.kind)}::text[], ${statements.map((one) => one.subject)}::text[], ${statements.map((one) => one.text)}::text[],
      ${statements.map((one) => one.publicKey)}::text[], ${statements.map((one) => Buffer.from(one.signature).toString('hex'))}::text[]
    ) with ordinality as given (kind, subject, said, public_key, signature, place) order by place`;
}

/** Statements of one kind about one thing, oldest first; who reads them proves that they are genuine. */
export async function listStatements(sql: Reads, { kind, subject }: Pick<Statement, 'kind' | 'subject'>): Promise<Statement[]> {
  return sql<Statement[]>`
    select kind, subject, said as text, public_key, signature from statements where subject = ${subject} and kind = ${kind} order by id`;
}
