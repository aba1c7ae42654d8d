import { asked, type Check, LIMIT, listed } from './check.ts';

/** Whether `r` was accrued in a month that is over, and the last month of its gateway has no invoice. */
const LEFT_OPEN = `
  r.at < date_trunc('month', (sluice_now() - interval '10 minutes') at time zone 'UTC') at time zone 'UTC'
    and not exists (select 1 from invoices i where i.gateway_id = r.gateway_id
      and i.month = (date_trunc('month', (sluice_now() - interval '10 minutes') at time zone 'UTC') - interval '1 month')::date)`;

/** What must hold of cashout fees and invoices; part of `CHECKS`. */
export const BILLING_CHECKS: readonly Check[] = [
  {
    name: 'A17',
    title: 'a settled cashout has its fees booked, and what the platform pays of them is accrued and posted, to the unit',
    mayPass: false,
    ...asked(
      (of) => `
      select s.id, 'settled without its fees, or has fees without being settled' as problem from ${of('settlements', 'id')} s left join settlement_fees f on f.settlement_id = s.id
      where (s.status = 'SETTLED') <> (f.settlement_id is not null)
      union all
      select s.id, 'its fee is not the one locked, or not what its transactions cost' from ${of('settlement_fees', 'settlement_id')} f
        join settlements s on s.id = f.settlement_id join assets n on n.id = f.native_asset_id
      where f.locked is distinct from s.fee_locked or f.actual * power(10::numeric, n.decimals) <> (
        select coalesce(sum(p.raw_fee), 0) from payouts p where p.settlement_id = s.id and p.purpose = 'settlement')
      union all
      select s.id, 'accrued more or less than the platform pays for it' from ${of('settlement_fees', 'settlement_id')} f
        join settlements s on s.id = f.settlement_id left join accruals r on r.settlement_id = s.id
      where coalesce(r.coins, 0) <> case when s.fee_payer = 'PLATFORM' and (f.native_price_usd is not null or r.id is not null) then f.actual else 0 end
      union all
      select r.settlement_id, 'accrued, but not posted as an expense' from ${of('accruals', 'settlement_id')} r
      where r.settlement_id is not null and r.coins <> (
        select coalesce(-sum(e.amount), 0) from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
        where t.source_key = 'settlement:' || r.settlement_id || ':bear' and a.kind = 'platformExpense')
      ${LIMIT}`,
    ),
  },
  {
    name: 'A18',
    title: "the platform's expense account is what was accrued, asset by asset",
    mayPass: false,
    query: `
      select asset_id as id, sum(amount) as difference from (
        select asset_id, balance as amount from ledger_accounts where kind = 'platformExpense'
        union all
        select asset_id, coins from accruals) both_sides
      group by asset_id having sum(amount) <> 0 ${LIMIT}`,
    // What a balance does by itself is for A2 to find. An asset where a posting and an accrual do not go together is summed up.
    ofChanged: (changed) => `
      select m.asset_id as id, s.difference from (
          select asset_id from (
            select e.asset_id, e.amount from ledger_entries e join ledger_accounts a on a.id = e.account_id and a.kind = 'platformExpense'
            where e.transaction_id in (${listed(changed, 'ledger')})
            union all
            select asset_id, coins from accruals where id in (${listed(changed, 'accruals')})) both_sides
          group by asset_id having sum(amount) <> 0) m
        cross join lateral (
          select coalesce((select sum(a.balance) from ledger_accounts a where a.kind = 'platformExpense' and a.asset_id = m.asset_id), 0)
            + coalesce((select sum(r.coins) from accruals r where r.asset_id = m.asset_id), 0) as difference) s
      where s.difference <> 0 ${LIMIT}`,
  },
  {
    name: 'A19',
    title: 'an invoice is the sum of its lines, all of its gateway and before its end',
    mayPass: false,
    ...asked(
      (of) => `
      select i.id, i.month, i.total_usd, sum(r.usd) as lines from invoices i
      left join invoice_lines l on l.invoice_id = i.id left join accruals r on r.id = l.accrual_id
      where ${of.only('i.id', 'invoices')}
      group by i.id
      having count(r.id) <> i.line_count or coalesce(sum(r.usd), 0) <> i.total_usd
        or bool_or(r.gateway_id <> i.gateway_id or r.billing <> 'MONTHLY' or r.at >= (i.month + interval '1 month') at time zone 'UTC') ${LIMIT}`,
    ),
  },
  {
    name: 'A20',
    title: 'what was accrued in a month that is over is on an invoice',
    mayPass: true,
    // What was booked after its month was closed rightly waits for the next month's invoice.
    // What is not even on the list of what waits would be on no invoice ever, and others of its month may have theirs.
    query: `
      select r.id, r.gateway_id, r.at from accruals r
      where r.billing = 'MONTHLY' and not exists (select 1 from invoice_lines l where l.accrual_id = r.id)
        and (${LEFT_OPEN} or not exists (select 1 from accruals_to_invoice w where w.accrual_id = r.id)) ${LIMIT}`,
    // Whether the list holds all that waits is asked at night.
    ofChanged: () => `select r.accrual_id as id, r.gateway_id, r.at from accruals_to_invoice r where ${LEFT_OPEN} ${LIMIT}`,
    asksMore: true,
  },
  {
    name: 'A31',
    title: 'what destinations cost is charged to the gateway that asked, once, and is paid out of its credits or owed, to the unit',
    mayPass: false,
    query: `
      select c.id, 'not posted as it is' as problem from charges c left join lateral (
        select e.amount from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts k on k.id = e.account_id
        where t.source_key = 'charge:' || c.id and k.kind = 'gas' and k.asset_id = c.asset_id) g on true
      where g.amount is distinct from c.amount
      union all
      select c.id, 'for a transaction that is none of its cashout, or cost less' from charges c left join payouts p on p.id = c.payout_id
      where p.settlement_id is distinct from c.settlement_id or p.purpose <> 'settlement' or coalesce(p.raw_fee, 0) < c.raw_native
      union all
      select gateway_id, 'what it owes is not what it was charged less what it paid' from (
        select gateway_id, asset_id, amount from charges
        union all
        select gateway_id, asset_id, -amount from charge_draws
        union all
        select gateway_id, asset_id, balance from ledger_accounts where kind = 'owed') o
      group by gateway_id, asset_id having sum(amount) <> 0 ${LIMIT}`,
  },
];
