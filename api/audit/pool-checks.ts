import { asked, type Check, LIMIT } from './check.ts';

/** What the audit asks about the two pools, verdicts and refunds (decision 0012). */
export const POOL_CHECKS: readonly Check[] = [
  {
    name: 'A21',
    title: 'every account of a pool holds what the credits behind it have left, to the unit',
    mayPass: false,
    query: `
      with behind as (
        select gateway_id, asset_id, case
          when taken = 'withheld' then 'withheld'
          when matured_at is null then case pool when 'green' then 'pending' else 'heldPending' end
          else case pool when 'green' then 'available' else 'held' end end as kind, sum(remaining) as coins
        from credits where remaining > 0 and (taken is null or taken = 'withheld') group by 1, 2, 3
        union all
        select gateway_id, asset_id, 'refunding', sum(amount) from aml_refunds where status = 'ordered' group by 1, 2),
      accounts as (
        select gateway_id, asset_id, kind, balance from ledger_accounts where kind in ('pending', 'available', 'heldPending', 'held', 'withheld', 'refunding'))
      select coalesce(a.gateway_id, b.gateway_id) as gateway_id, coalesce(a.asset_id, b.asset_id) as asset_id, coalesce(a.kind, b.kind) as kind,
        coalesce(a.balance, 0) as balance, coalesce(b.coins, 0) as behind
      from accounts a full join behind b on b.gateway_id = a.gateway_id and b.asset_id = a.asset_id and b.kind = a.kind
      where coalesce(a.balance, 0) <> coalesce(b.coins, 0) ${LIMIT}`,
  },
  {
    name: 'A22',
    title: 'a payment is in one pool as a whole, the held one exactly while it is HELD, and nothing flagged is in the green one by itself',
    mayPass: false,
    ...asked(
      (of) => `
      select c.id, c.payment_id, p.aml_state, c.pool, c.taken, 'in the wrong pool' as problem from ${of('credits', 'payment_id')} c join payments p on p.id = c.payment_id
      where c.taken is null and c.remaining > 0 and (c.pool = 'held') <> (p.aml_state is not distinct from 'HELD')
      union all
      select c.id, c.payment_id, p.aml_state, c.pool, c.taken, 'flagged, and nobody held it' from ${of('credits', 'payment_id')} c join payments p on p.id = c.payment_id
      where c.screening = 'flagged' and p.aml_state is null
      union all
      select c.id, c.payment_id, p.aml_state, c.pool, c.taken, 'taken out of the pools without a cause' from ${of('credits', 'payment_id')} c join payments p on p.id = c.payment_id
      where (c.taken = 'withheld' and p.aml_state not in ('WITHHELD', 'RELEASED', 'REFUNDED')) or (c.taken is not null and p.aml_state is null)
      union all
      select p.id, p.id, p.aml_state, null, null, 'its history ends otherwise' from ${of('payments', 'id')} p
      where coalesce(p.aml_state, 'NONE') <> coalesce((select e.to_status from aml_events e where e.payment_id = p.id order by e.id desc limit 1), 'NONE') ${LIMIT}`,
    ),
  },
  {
    name: 'A23',
    title: 'a refund is what its credits were, commission included, and a credit is refunded once',
    mayPass: false,
    ...asked(
      (of) => `
      select r.id, r.payment_id, r.status, r.amount, 'it is not what its credits add up to' as problem from ${of('aml_refunds', 'payment_id')} r join payments p on p.id = r.payment_id
      where r.amount <> (
        select coalesce(sum(x.net + case when p.commission_fee_payer = 'PLATFORM' then 0 else x.commission end), 0) from aml_refund_credits x where x.refund_id = r.id)
      union all
      select c.id, c.payment_id, c.taken, c.net, 'what its refund says is otherwise' from ${of('credits', 'payment_id')} c
      left join lateral (
        select count(*) filter (where r.status = 'ordered') as ordered, count(*) filter (where r.status = 'paid') as paid
        from aml_refund_credits x join aml_refunds r on r.id = x.refund_id where x.credit_id = c.id) r on true
      where r.ordered <> (case when c.taken = 'refunding' then 1 else 0 end) or r.paid <> (case when c.taken = 'refunded' then 1 else 0 end)
      union all
      select p.id, p.id, p.aml_state, null, 'refunded without a refund that was paid' from ${of('payments', 'id')} p
      where p.aml_state = 'REFUNDED' and not exists (select 1 from aml_refunds r where r.payment_id = p.id and r.status = 'paid') ${LIMIT}`,
    ),
  },
];
