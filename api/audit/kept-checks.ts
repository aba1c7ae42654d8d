import { type Check, LIMIT } from './check.ts';

/**
 * What must hold of figures that are kept as sums (decisions 0055, 0068 and 0104), and of lists that say where to look (decision 0083). What they miss informs, and what is
 * looked for there is audited by itself, so they are compared with their rows at night alone.
 */
export const KEPT_CHECKS: readonly Check[] = [
  {
    name: 'A33',
    title:
      'what lists count, what credits, the months of gateways and of expenses, the uses of addresses and kept readings of them are said to add up to, and the figures of each day, are what their rows are; and no coins are missing where open ones are looked for',
    mayPass: false,
    onlyInforms: true,
    query: `
      select list, gateway_id, status as of, sum(count) as difference from (
        select list, gateway_id, status, count from tallies
        union all
        select 'payments', gateway_id, status, -count(*) from payments group by 2, 3
        union all
        select 'settlements', gateway_id, status, -count(*) from settlements group by 2, 3
        union all
        select 'webhook_events', gateway_id, state, -count(*) from webhook_events group by 2, 3
        union all
        select 'deposits', p.gateway_id, d.state, -count(*) from deposits d join payments p on p.id = d.payment_id group by 2, 3) both_sides
      group by 1, 2, 3 having sum(count) <> 0
      union all
      select 'credits', gateway_id, asset_id || ' ' || pool || ' ' || matured, sum(gross) from (
        select gateway_id, asset_id, pool, matured, gross, network_fee, commission from credit_tallies
        union all
        select gateway_id, asset_id, pool, matured_at is not null, -gross, -network_fee, -commission from credits) both_sides
      group by gateway_id, asset_id, pool, matured having sum(gross) <> 0 or sum(network_fee) <> 0 or sum(commission) <> 0
      union all
      select 'days', gateway_id, day || ' ' || made_on || ' ' || what || ' ' || sandbox || coalesce(' ' || asset_id, ''), coalesce(nullif(sum(count), 0), nullif(sum(amount), 0), sum(usd)) from (
        select gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd from day_figures
        union all
        select gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd from day_changes
        union all
        select gateway_id, sandbox, (created_at at time zone 'UTC')::date, (created_at at time zone 'UTC')::date, 'created', null, -1, 0, 0 from payments
        union all
        select p.gateway_id, p.sandbox, (s.at at time zone 'UTC')::date, (p.created_at at time zone 'UTC')::date, s.step, null, -1, 0, 0
        from payment_steps s join payments p on p.id = s.payment_id
        union all
        select gateway_id, sandbox, (coalesce(resolved_at, created_at) at time zone 'UTC')::date, (created_at at time zone 'UTC')::date, 'received', received_asset_id, -1,
          -coalesce(received_amount, 0), -coalesce(received_amount_usd, 0) from payments where received_asset_id is not null) both_sides
      group by gateway_id, sandbox, day, made_on, what, asset_id having sum(count) <> 0 or sum(amount) <> 0 or sum(usd) <> 0
      union all
      select 'months', gateway_id, asset_id || ' ' || month || ' ' || kind || ' ' || account, sum(amount) from (
        select gateway_id, asset_id, month, kind, account, amount, entries from gateway_months
        union all
        select o.gateway_id, e.asset_id, date_trunc('month', t.at at time zone 'UTC')::date, t.kind, a.kind, -e.amount, -1
        from ledger_entries e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id
          join (select distinct x.transaction_id, y.gateway_id from ledger_entries x join ledger_accounts y on y.id = x.account_id where y.gateway_id is not null) o
            on o.transaction_id = e.transaction_id) both_sides
      group by gateway_id, asset_id, month, kind, account having sum(amount) <> 0 or sum(entries) <> 0
      union all
      select 'expenses', gateway_id, month || ' ' || billing || ' ' || asset_id, coalesce(nullif(sum(coins), 0), nullif(sum(usd), 0), sum(lines)) from (
        select gateway_id, month, billing, asset_id, coins, usd, lines from expense_months
        union all
        select gateway_id, date_trunc('month', at at time zone 'UTC')::date, billing, asset_id, -coins, -usd, -1 from accruals) both_sides
      group by gateway_id, month, billing, asset_id having sum(coins) <> 0 or sum(usd) <> 0 or sum(lines) <> 0
      union all
      select 'addresses', gateway_id, address_id || ' ' || asset_id, sum(sent) from (
        select b.gateway_id, u.address_id, u.asset_id, u.sent, u.cashouts from address_uses u join address_book b on b.id = u.address_id
        union all
        select gateway_id, address_id, asset_id, -received_amount, -1 from settlements where status = 'SETTLED') both_sides
      group by gateway_id, address_id, asset_id having sum(sent) <> 0 or sum(cashouts) <> 0
      union all
      select 'kept readings', null, asset_id::text, sum(raw_amount) from (
        select asset_id, raw_amount from kept_sums
        union all
        select asset_id, -raw_amount from kept_readings) both_sides
      group by asset_id having sum(raw_amount) <> 0
      union all
      select 'lying deposits', null, r.asset_id || ' ' || r.address, r.received - coalesce(t.taken, 0) from (
          select d.network_id, d.asset_id, a.address, sum(d.raw_amount) as received
          from deposits d join deposit_addresses a on a.id = d.address_id join networks n on n.id = d.network_id and n.family <> 'bitcoin'
          where d.state = 'credited' group by 1, 2, 3) r
        left join (
          select o.network_id, o.asset_id, w.address, sum(o.raw_amount + case when s.contract is null then coalesce((o.plan->>'rawFee')::numeric, 0) else 0 end) as taken
          from payouts o join wallets w on w.id = o.wallet_id join assets s on s.id = o.asset_id
          where o.purpose = 'sweep' and o.status not in ('FAILED', 'CANCELLED') group by 1, 2, 3) t on t.network_id = r.network_id and t.asset_id = r.asset_id and t.address = r.address
      where r.received > coalesce(t.taken, 0)
        and not exists (select 1 from lying_deposits l where l.network_id = r.network_id and l.asset_id = r.asset_id and l.address = r.address)
      union all
      select 'lying outputs', null, g.txid || ':' || g.ordinal, g.raw_amount from sightings g join networks n on n.id = g.network_id and n.family = 'bitcoin'
      where g.kind = 'native' and g.canonical and g.raw_amount > 0
        and (exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient) or exists (select 1 from deposit_addresses d where d.address = g.recipient))
        and not exists (
          select 1 from spent_outputs x join sightings s on s.id = x.sighting_id and s.canonical where x.txid = g.txid and x.vout = g.ordinal and s.network_id = g.network_id)
        and not exists (
          select 1 from lying_outputs l where l.network_id = g.network_id and l.txid = g.txid and l.vout = g.ordinal and (l.spendable or not (
            exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient)
            or exists (select 1 from deposits d where d.network_id = g.network_id and d.txid = g.txid and d.kind = 'native' and d.ordinal = g.ordinal and d.state = 'credited'))))
      union all
      select 'unknown outgoing', null, s.txid, 1 from sightings s
      where s.kind = 'sent' and s.canonical and not exists (select 1 from payout_attempts t where t.txid = s.txid)
        and not exists (select 1 from adopted_transactions d where d.txid = s.txid) and not exists (select 1 from unknown_outgoing u where u.sighting_id = s.id)
      union all
      select 'unknown outgoing', null, s.txid, s.raw_amount from sightings s
      where s.kind <> 'sent' and s.canonical and s.booked_at is null and s.raw_amount > 0
        and (s.contract is null or exists (select 1 from assets a where a.network_id = s.network_id and a.contract = s.contract and a.created_at < s.observed_at))
        and (exists (select 1 from wallets w where w.network_id = s.network_id and w.address = s.sender and w.created_at < s.observed_at)
          or exists (select 1 from deposit_addresses a where a.address = s.sender and a.created_at < s.observed_at))
        and not exists (select 1 from payout_attempts t where t.txid = s.txid) and not exists (select 1 from adopted_transactions d where d.txid = s.txid)
        and not exists (select 1 from unknown_outgoing u where u.sighting_id = s.id) ${LIMIT}`,
    ofChanged: () => 'select 1 where false',
  },
];
