import type { Reads } from '#shared/platform/postgres.ts';
import type { KeyedOrder } from './keyed-orders.ts';

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
    select distinct on (c.id) c.id as "settlementId", t.secret_id as "secretId", t.step::float8 as step
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
