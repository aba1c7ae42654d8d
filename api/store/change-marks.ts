import type { Reads } from '#shared/platform/postgres.ts';

/** What a page can be about that changes while somebody reads it. */
export type Marked = 'payment' | 'cashout';

/** Whose it is, and a word that is another one once anything changed that a page of it shows. */
export interface ChangeMark {
  id: string;
  gatewayId: string;
  mark: string;
}

/** The marks of those of these that there are, each by indexes of its own rows alone. Locks nothing. */
export async function readChangeMarks(sql: Reads, what: Marked, ids: readonly string[]): Promise<ChangeMark[]> {
  return what === 'payment' ? markPayments(sql, ids) : markCashouts(sql, ids);
}

/** While a deposit is not final, each block of its network counts too: the page says how deep it is. */
async function markPayments(sql: Reads, ids: readonly string[]): Promise<ChangeMark[]> {
  return sql<ChangeMark[]>`
    select p.id, p.gateway_id, md5(concat_ws('|', p.status, p.is_verified, p.aml_state, p.selected_offer_id, p.expires_at,
      (select max(e.id) from payment_events e where e.payment_id = p.id),
      (select max(o.selected_at) from payment_offers o where o.payment_id = p.id),
      (select concat_ws(',', count(*), count(d.final_at), count(d.lost_at), count(d.credit_id), max(d.height),
          string_agg(distinct t.height::text, ' ') filter (where d.state = 'seen'))
        from deposits d left join chain_tips t on t.network_id = d.network_id where d.payment_id = p.id),
      (select concat_ws(',', count(*), count(m.ended_at)) from mempool_deposits f join mempool_transactions m
        on m.network_id = f.network_id and m.txid = f.txid where f.payment_id = p.id),
      (select string_agg(concat_ws(',', b.state, b.confirmations), ' ' order by b.id) from sandbox_deposits b where b.payment_id = p.id),
      (select concat_ws(',', count(*), count(c.matured_at), sum(c.remaining), count(*) filter (where c.pool = 'held'), count(c.screening_score))
        from credits c where c.payment_id = p.id),
      (select max(a.id) from aml_events a where a.payment_id = p.id),
      (select concat_ws(',', count(*), count(a.finished_at), string_agg(distinct concat_ws(' ', w.status, w.state, w.next_attempt_at, w.resend_requested_at), ' '))
        from webhook_events w left join webhook_attempts a on a.event_id = w.id where w.payment_id = p.id)
    )) as mark
    from payments p where p.id = any(${ids}::uuid[])`;
}

/** While a payout is not final, each block of its network counts too. A parked one also waits for its gateway's balance. */
async function markCashouts(sql: Reads, ids: readonly string[]): Promise<ChangeMark[]> {
  return sql<ChangeMark[]>`
    select s.id, s.gateway_id, md5(concat_ws('|', s.status, s.dispatch_at, s.expires_at, s.hold_reason, s.txid, s.fee_locked, s.wait_reason,
      (select max(e.id) from settlement_events e where e.settlement_id = s.id),
      (select count(*) from settlement_approvals a where a.settlement_id = s.id),
      (select string_agg(concat_ws(',', o.status, o.txid, o.final_at, case when o.final_at is null then t.height end,
          (select count(*) from payout_attempts y where y.payout_id = o.id)), ' ' order by o.id)
        from payouts o left join chain_tips t on t.network_id = o.network_id where o.settlement_id = s.id),
      case when s.status = 'UNDERFUNDED' then (select string_agg(l.balance::text, ' ' order by l.id) from ledger_accounts l
        where l.asset_id = s.asset_id and l.gateway_id = s.gateway_id and l.kind in ('available', 'held') and l.settlement_id is null) end
    )) as mark
    from settlements s where s.id = any(${ids}::uuid[])`;
}
