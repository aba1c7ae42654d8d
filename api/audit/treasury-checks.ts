import { asked, type Check, LIMIT } from './check.ts';

/** What the audit asks about the wallets of the two pools (decision 0015). */
export const TREASURY_CHECKS: readonly Check[] = [
  {
    name: 'A25',
    title: 'what is drawn from a pool is signed away by its wallet alone, and a deposit is swept to the wallet of a pool its payment was in',
    mayPass: false,
    ...asked(
      (of) => `
      select p.id, p.purpose, w.role, s.pool from ${of('payouts', 'id')} p join wallets w on w.id = p.wallet_id left join settlements s on s.id = p.settlement_id
      where exists (select 1 from payout_attempts t where t.payout_id = p.id) and (
        (p.purpose = 'settlement' and w.role <> case s.pool when 'green' then 'hot' else 'held' end) or (p.purpose in ('refund', 'withheld') and w.role <> 'held')
          or (p.purpose = 'cold' and w.role <> 'hot'))
      union all
      select p.id, p.purpose, i.role, null from ${of('payouts', 'id')} p
        join wallets w on w.id = p.wallet_id left join wallets i on i.network_id = p.network_id and i.address = p.recipient
      where p.purpose = 'sweep' and exists (select 1 from payout_attempts t where t.payout_id = p.id) and not exists (
        select 1 from deposit_addresses a join deposits d on d.address_id = a.id join credits c on c.payment_id = d.payment_id
        where a.address = w.address and (
          i.role = case c.pool when 'green' then 'hot' else 'held' end
          or exists (select 1 from pool_moves m where m.payment_id = c.payment_id and i.role = case m.from_pool when 'green' then 'hot' else 'held' end)))
      ${LIMIT}`,
    ),
  },
  {
    name: 'A26',
    title: 'a refund that is paid was paid once, by its amount, and no other one was paid',
    mayPass: false,
    query: `
      select r.id, r.status, r.txid, count(p.txid) as payouts from aml_refunds r left join (
          select refund_id, txid, asset_id, raw_amount from payouts where status = 'CONFIRMED' and purpose = 'refund'
          union all
          select d.refund_id, d.txid, f.asset_id, f.amount * (10::numeric ^ c.decimals) from adopted_transactions d
            join aml_refunds f on f.id = d.refund_id join assets c on c.id = f.asset_id) p on p.refund_id = r.id
        left join assets a on a.id = p.asset_id
      group by r.id
      having count(p.txid) <> case when r.status = 'paid' then 1 else 0 end
        or (r.status = 'paid' and (max(p.txid) <> r.txid or max(p.raw_amount / 10::numeric ^ a.decimals) <> r.amount))
      union all
      select p.refund_id, 'paid more than once', max(t.txid), count(distinct t.txid)
      from payouts p join payout_attempts t on t.payout_id = p.id join assets a on a.id = p.asset_id join wallets w on w.id = p.wallet_id
        join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.canonical and g.kind <> 'sent' and (g.sender = w.address or p.anchor is not null)
          and g.recipient = p.recipient and g.contract is not distinct from a.contract and g.raw_amount > 0
      where p.purpose = 'refund' group by p.refund_id having count(distinct t.txid) > 1 ${LIMIT}`,
  },
  {
    name: 'A30',
    title: 'what went to cold storage is booked there once, and no more ever came back from it',
    mayPass: false,
    query: `
      select p.id, p.status, p.txid, p.raw_amount::text as amount from payouts p join assets a on a.id = p.asset_id
      where p.purpose = 'cold' and (p.status = 'CONFIRMED') <> exists (
        select 1 from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts l on l.id = e.account_id and l.kind = 'cold'
        where t.source_key = 'cold:' || p.id and e.asset_id = p.asset_id and -e.amount * 10::numeric ^ a.decimals = p.raw_amount)
      union all
      select l.asset_id, 'below nothing', null, l.balance::text from ledger_accounts l where l.kind = 'cold' and l.balance > 0 ${LIMIT}`,
  },
  {
    name: 'A32',
    title: 'withheld coins that left were sent by two people, once, by what the credits behind them lost, and none beyond what is kept are on their way',
    mayPass: false,
    query: `
      select t.id, t.status, t.txid, 'not paid once by its amount, or paid without being so' as problem from withheld_transfers t left join (
          select x.transfer_id, p.txid, p.raw_amount from withheld_payouts x join payouts p on p.id = x.payout_id where p.status = 'CONFIRMED'
          union all
          select d.withheld_id, d.txid, f.amount * (10::numeric ^ c.decimals) from adopted_transactions d
            join withheld_transfers f on f.id = d.withheld_id join assets c on c.id = f.asset_id) p on p.transfer_id = t.id
        join assets a on a.id = t.asset_id
      group by t.id
      having count(p.txid) <> case when t.status = 'paid' then 1 else 0 end
        or (t.status = 'paid' and (max(p.txid) <> t.txid or max(p.raw_amount) <> t.amount * (10::numeric ^ max(a.decimals))))
      union all
      select t.id, t.status, t.txid, 'its credits lost something else' from withheld_transfers t
      where case when t.status = 'paid' then t.amount else 0 end
        <> coalesce((select sum(x.amount) from withheld_transfer_credits x where x.transfer_id = t.id), 0)
      union all
      select x.transfer_id, 'paid more than once', max(g.txid), 'more than one transaction moved it' from withheld_payouts x join payouts p on p.id = x.payout_id
        join payout_attempts t on t.payout_id = p.id join assets a on a.id = p.asset_id join wallets w on w.id = p.wallet_id
        join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.canonical and g.kind <> 'sent' and (g.sender = w.address or p.anchor is not null)
          and g.recipient = p.recipient and g.contract is not distinct from a.contract and g.raw_amount > 0
      group by x.transfer_id having count(distinct g.txid) > 1
      union all
      select null, 'ordered', null, 'more is on its way than is kept' from withheld_transfers t where t.status = 'ordered'
      group by t.gateway_id, t.asset_id having sum(t.amount) > coalesce((
        select a.balance from ledger_accounts a where a.kind = 'withheld' and a.gateway_id = t.gateway_id and a.asset_id = t.asset_id), 0)
      union all
      select p.id, p.status, p.txid, 'carries nothing out' from payouts p
      where p.purpose = 'withheld' and not exists (select 1 from withheld_payouts x where x.payout_id = p.id) ${LIMIT}`,
  },
];
