import { STATIC_SOURCE } from '#api/clients/prices.ts';
import { COINBASE_BLOCKS } from '#shared/core/finality.ts';
import { POLICY } from '#shared/core/policy.ts';
import { BILLING_CHECKS } from './billing-checks.ts';
import { asked, type Check, LIMIT, listed, type RowsOf } from './check.ts';
import { CONSOLE_CHECKS } from './console-checks.ts';
import { OUTPUT_CHECKS } from './output-checks.ts';
import { POOL_CHECKS } from './pool-checks.ts';
import { SCREENING_CHECKS } from './screening-checks.ts';
import { TREASURY_CHECKS } from './treasury-checks.ts';

/** Every check of the audit, in order. A14 needs the chain itself and is `compareHoldings`. */
export const CHECKS: readonly Check[] = [
  {
    name: 'A1',
    title: 'every ledger transaction sums to zero per asset',
    mayPass: false,
    ...asked(
      (of) =>
        `select transaction_id, asset_id, sum(amount) as sum from ${of('ledger_entries', 'transaction_id')} e group by transaction_id, asset_id having sum(amount) <> 0 ${LIMIT}`,
    ),
  },
  {
    name: 'A2',
    title: 'every balance is the sum of its entries',
    mayPass: false,
    query: `
      select a.id, a.kind, a.asset_id, a.gateway_id, a.balance, coalesce(sum(e.amount), 0) as entries
      from ledger_accounts a left join ledger_entries e on e.account_id = a.id
      group by a.id having a.balance <> coalesce(sum(e.amount), 0) ${LIMIT}`,
    // Of every transaction what it posted to an account is what it changed of the balance; an account where that is not so is summed up.
    ofChanged: ({ since }) => `
      select a.id, a.kind, a.asset_id, a.gateway_id, a.balance, e.entries
      from (select account_id from audit_moves where xid >= '${since}'::xid8 group by account_id having sum(amount) <> 0) m join ledger_accounts a on a.id = m.account_id
        cross join lateral (select coalesce(sum(x.amount), 0) as entries from ledger_entries x where x.account_id = a.id) e
      where a.balance <> e.entries ${LIMIT}`,
  },
  {
    name: 'A3',
    title: 'no balance of a gateway, and no unallocated balance, is below zero',
    mayPass: false,
    ...asked(
      (
        of,
      ) => `select id, kind, asset_id, gateway_id, balance from ${of('ledger_accounts', 'id')} a where balance < 0 and (gateway_id is not null and kind <> 'owed' or kind = 'unallocated')
      or balance > 0 and kind = 'owed' ${LIMIT}`,
    ),
  },
  {
    name: 'A4',
    title: 'a booked deposit has exactly one ledger transaction, and a credit exactly one deposit',
    mayPass: false,
    ...asked(
      (of) => `
      select payment_id as id, null as state, payment_id, 'credits do not add up to the credited deposits' as problem from (
        select payment_id, asset_id, amount from ${of('deposits', 'payment_id')} d where state = 'credited'
        union all
        select payment_id, asset_id, -gross from ${of('credits', 'payment_id')} c) both_sides
      group by payment_id, asset_id having sum(amount) <> 0
      union all
      select d.id, d.state, d.payment_id, 'set aside without a posting' from ${of('deposits', 'payment_id')} d
      where d.state in ('dust', 'unallocated') and not exists (select 1 from ledger_transactions t where t.source_key = 'deposit:' || d.id and t.kind = d.state)
      union all
      select d.id, d.state, d.payment_id, 'posted but still open' from ${of('deposits', 'payment_id')} d
      where d.state in ('seen', 'dropped') and (
        exists (select 1 from ledger_transactions t where t.source_key = 'deposit:' || d.id || ':credit')
        or (exists (select 1 from ledger_transactions t where t.source_key = 'deposit:' || d.id)
          and not exists (select 1 from ledger_transactions t where t.source_key = 'deposit:' || d.id || ':claim')))
      union all
      ${unallocated(of)}
      union all
      select c.id, null, c.payment_id, 'credited more or less than it received' from ${of('credits', 'payment_id')} c
      where c.net < 0 or c.gross <> (
        select coalesce(-sum(e.amount), 0) from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
        where t.source_key in ('deposit:' || c.id, 'deposit:' || c.id || ':credit') and t.kind = 'credit' and a.kind = 'chain')
      union all
      select c.id, null, c.payment_id, 'credited for a sandbox payment' from ${of('credits', 'payment_id')} c join payments p on p.id = c.payment_id where p.sandbox
      union all
      select c.id, null, c.payment_id, 'drawn beyond what it is' from ${of('credits', 'payment_id')} c
      where c.remaining <> case when c.taken = 'refunded' then 0 else c.net end
        - coalesce((select sum(w.amount) from credit_draws w where w.credit_id = c.id and w.state <> 'released'), 0)
        - coalesce((select sum(x.amount) from charge_draws x where x.credit_id = c.id), 0)
        - coalesce((select sum(x.amount) from withheld_transfer_credits x where x.credit_id = c.id), 0)
      ${LIMIT}`,
    ),
  },
  {
    name: 'A5',
    title: 'every credited deposit is on the canonical chain, unless its loss is booked, and one that stands for several transfers is their sum',
    mayPass: false,
    asksMore: true,
    ...asked(
      (of) => `
      select d.id, d.payment_id, d.txid, d.height from ${of('deposits', 'payment_id')} d
      where d.state = 'credited' and d.lost_at is null and not exists (
        select 1 from sightings s
        where s.network_id = d.network_id and s.txid = d.txid and s.kind = d.kind and s.ordinal = d.ordinal and s.canonical and s.block_hash = d.block_hash
          and s.raw_amount = d.raw_amount)
      union all
      -- What was summed lately is looked at with its parts (decision 0030).
      select d.id, d.payment_id, d.txid, d.height from deposits d
      left join transfer_sums s on s.network_id = d.network_id and s.block_hash = d.block_hash and s.txid = d.txid and s.kind = d.kind and s.ordinal = d.ordinal
      where d.parts is not null and (d.final_at is null or d.final_at > sluice_now() - interval '1 hour')
        and (cardinality(s.txids) is distinct from d.parts or (select sum(p) from unnest(s.raw_amounts) p) is distinct from d.raw_amount) ${LIMIT}`,
    ),
  },
  {
    name: 'A6',
    title: 'every final transfer to a deposit address is booked within two minutes',
    mayPass: true,
    query: ({ staticAllowed, freshSeconds = POLICY.priceFreshSeconds, networkIds }) => `
      with fresh as (
        select symbol from prices
        where case when source = '${STATIC_SOURCE}' then ${staticAllowed} else at >= sluice_now() - make_interval(secs => ${freshSeconds}) end)
      select s.id, s.network_id, s.txid, s.kind, s.ordinal, s.height, d.state from sightings s
      join chain_tips t on t.network_id = s.network_id
      join assets a on a.network_id = s.network_id and a.contract is not distinct from s.contract
      left join deposits d on d.network_id = s.network_id and d.txid = s.txid and d.kind = s.kind and d.ordinal = s.ordinal
      where s.canonical and s.booked_at is null and s.kind <> 'sent' and s.raw_amount > 0 and s.height <= t.final_height
        ${networkIds === undefined ? '' : `and s.network_id = any('{${networkIds.join(',')}}'::uuid[])`}
        and s.observed_at < sluice_now() - interval '2 minutes' and (not s.coinbase or s.height <= t.height - ${COINBASE_BLOCKS} + 1)
        and exists (select 1 from deposit_addresses x where x.address = s.recipient)
        and not exists (select 1 from deposit_addresses x where x.address = s.sender) and not exists (select 1 from wallets w where w.address = s.sender)
        -- Without a fresh price a deposit rightly waits, and a large one for a second provider; where it decides, so do those of its payment behind it (decisions 3).
        and not exists (
          select 1 from deposits w join assets b on b.id = w.asset_id join payments p on p.id = w.payment_id
          where w.payment_id = d.payment_id and w.state = 'seen' and (w.id = d.id or p.status in ('PENDING', 'EXPIRED')) and (
            w.doubted_since is not null or w.waits_since is not null and (b.symbol not in (select symbol from fresh)
            or (p.open_amount and p.currency_code <> 'USD' and 'fiat:' || p.currency_code not in (select symbol from fresh))))) ${LIMIT}`,
  },
  {
    name: 'A7',
    title: 'a claimed settlement has exactly its amount reserved, and every other one nothing',
    mayPass: false,
    ...asked(
      (of) => `
      select s.id, s.status, s.amount, coalesce(a.balance, 0) as reserved from ${of('settlements', 'id')} s
      left join ledger_accounts a on a.settlement_id = s.id and a.kind = 'reserved'
      where coalesce(a.balance, 0) <> case when s.status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING') then s.amount else 0 end
      union all
      select s.id, s.status, s.amount, coalesce(sum(w.amount), 0) from settlements s
      left join credit_draws w on w.settlement_id = s.id and w.state = case when s.status = 'SETTLED' then 'spent' else 'reserved' end
      where s.status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING', 'SETTLED') and ${of.only('s.id', 'settlements')}
      group by s.id having coalesce(sum(w.amount), 0) <> s.amount ${LIMIT}`,
    ),
  },
  {
    name: 'A8',
    title: 'a settled settlement was paid once, by its net amount, and no other one was paid',
    mayPass: false,
    // Of what is paid the books know one transaction each; the chain is asked for what all attempts of all payouts moved.
    ...asked(
      (of) => `
      select p.settlement_id as id, 'paid more than once' as status, max(t.txid) as txid, null as received_amount, null as net_amount, count(distinct t.txid) as payouts
      from ${of('payouts', 'id')} p join payout_attempts t on t.payout_id = p.id join assets a on a.id = p.asset_id join wallets w on w.id = p.wallet_id
        join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.canonical and g.kind <> 'sent' and (g.sender = w.address or p.anchor is not null)
          and g.recipient = p.recipient and g.contract is not distinct from a.contract and g.raw_amount > 0
      where p.purpose = 'settlement' group by p.settlement_id having count(distinct t.txid) > 1
      union all
      select s.id, s.status, s.txid, s.received_amount, s.net_amount, count(p.txid) as payouts from settlements s
      left join (
        select settlement_id, txid from payouts where purpose = 'settlement' and status = 'CONFIRMED'
        union all
        select settlement_id, txid from adopted_transactions) p on p.settlement_id = s.id
      where ${of.only('s.id', 'settlements')}
      group by s.id
      having count(p.txid) <> case when s.status = 'SETTLED' then 1 else 0 end
        or (s.status = 'SETTLED' and (s.received_amount <> s.net_amount or max(p.txid) <> s.txid)) ${LIMIT}`,
    ),
  },
  {
    name: 'A9',
    title:
      'attempts of a payout exclude each other: they share its nonce, and nonces have no gap, or its anchor (A27), or each was dead before the next was signed',
    mayPass: false,
    ...asked(
      (of) => `
      ${gaps(of)}
      union all
      select p.wallet_id, 'a signed transaction without a nonce' from ${of('payouts', 'id')} p join networks n on n.id = p.network_id
      where n.family = 'evm' and p.nonce is null and exists (select 1 from payout_attempts t where t.payout_id = p.id)
      union all
      select p.wallet_id, 'an attempt with another nonce than its payout' from ${of('payouts', 'id')} p
        join payout_attempts t on t.payout_id = p.id join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.kind = 'sent'
      where g.nonce is distinct from p.nonce
      union all
      select p.wallet_id, 'bytes without an end on a chain without nonces' from ${of('payouts', 'id')} p join payout_attempts t on t.payout_id = p.id
      where p.nonce is null and p.anchor is null and t.expires_at is null
      union all
      select p.wallet_id, 'signed again before its bytes were proven dead' from ${of('payouts', 'id')} p
        join payout_attempts t on t.payout_id = p.id join payout_attempts o on o.payout_id = p.id and o.number < t.number
      where p.nonce is null and p.anchor is null and not exists (
        select 1 from payout_events e where e.payout_id = p.id and e.event = 'EXPIRED' and e.facts->'txids' ? o.txid
          and (e.facts->>'finalTime')::timestamptz >= o.expires_at and e.at <= t.created_at)
      union all
      select p.wallet_id, 'sent without stored bytes' from ${of('payouts', 'id')} p
      where p.status in ('SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED', 'CONFIRMED') and not exists (select 1 from payout_attempts t where t.payout_id = p.id) ${LIMIT}`,
    ),
  },
  {
    name: 'A10',
    title: 'a resting payment with a webhook address has exactly one webhook for its status',
    mayPass: false,
    ...asked(
      (of) => `
      select p.id, p.status from ${of('payments', 'id')} p
      where p.status <> 'PENDING' and p.webhook_url is not null and (select count(*) from webhook_events e where e.payment_id = p.id and e.status = p.status) <> 1
      union all
      select e.payment_id, e.status from ${of('webhook_events', 'payment_id')} e
      where not exists (select 1 from payment_events v where v.payment_id = e.payment_id and v.to_status = e.status and v.from_status is not null) ${LIMIT}`,
    ),
  },
  {
    name: 'A11',
    title: 'no unpaid payment is still pending long after its deadline',
    mayPass: true,
    query: `
      select p.id, p.expires_at from payments p
      where p.status = 'PENDING' and p.expires_at < sluice_now() - interval '17 minutes'
        and not exists (select 1 from deposits d where d.payment_id = p.id and d.state = 'seen')
        and not exists (
          select 1 from mempool_deposits m join mempool_transactions t on t.network_id = m.network_id and t.txid = m.txid
            join mempool_snapshots s on s.network_id = m.network_id and s.applied_at > clock_timestamp() - interval '17 minutes'
          where m.payment_id = p.id and m.first_seen_at < p.expires_at
            and (t.state = 'waiting' or t.ended_at > sluice_now() - interval '17 minutes')) ${LIMIT}`,
  },
  {
    name: 'A12',
    title: 'whatever an idempotency key answered with exists',
    mayPass: false,
    ...asked(
      (of) => `
      select k.gateway_id, k.operation, k.resource_id from ${replies(of)} k
      where k.resource_id is not null and not exists (select 1 from payments p where p.id = k.resource_id) and not exists (select 1 from settlements s where s.id = k.resource_id) ${LIMIT}`,
    ),
  },
  {
    name: 'A13',
    title: 'the blocks behind each tip are one hash-linked path',
    mayPass: false,
    query: `
      select t.network_id, t.height, t.hash, 'the tip is not the highest canonical block' as problem from chain_tips t
      where not exists (select 1 from chain_blocks b where b.network_id = t.network_id and b.height = t.height and b.hash = t.hash and b.canonical)
        or exists (select 1 from chain_blocks b where b.network_id = t.network_id and b.canonical and b.height > t.height)
      union all
      select b.network_id, b.height, b.hash, 'its parent is not the canonical block before it' from (
        select network_id, height, hash, parent_hash, lag(hash) over (partition by network_id order by height) as before from chain_blocks where canonical) b
      where b.before is not null and b.before <> b.parent_hash ${LIMIT}`,
  },
  {
    name: 'A15',
    title: 'no address of ours sent a transaction the books do not know',
    mayPass: false,
    ...asked(
      (of) => `
      select s.network_id, s.txid, s.sender, s.nonce from ${of('sightings', 'id')} s
      where s.kind = 'sent' and s.canonical and not exists (select 1 from payout_attempts t where t.txid = s.txid)
        and not exists (select 1 from adopted_transactions d where d.network_id = s.network_id and d.txid = s.txid)
        and not exists (select 1 from wallets w where w.network_id = s.network_id and w.address = s.sender and w.halted_reason is not null) ${LIMIT}`,
    ),
  },
  {
    name: 'A16',
    title: 'what the platform bears of a credit is accrued, to the unit',
    mayPass: false,
    ...asked(
      (of) => `
      select c.id, coalesce(r.coins, 0) as accrued, coalesce(b.borne, 0) as borne from ${of('credits', 'payment_id')} c
      left join accruals r on r.credit_id = c.id
      left join lateral (
        select -sum(e.amount) as borne from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
        where t.source_key in ('deposit:' || c.id, 'deposit:' || c.id || ':credit') and t.kind = 'credit' and a.kind = 'platformExpense') b on true
      where coalesce(r.coins, 0) <> coalesce(b.borne, 0) ${LIMIT}`,
    ),
  },
  ...BILLING_CHECKS,
  ...POOL_CHECKS,
  ...SCREENING_CHECKS,
  ...TREASURY_CHECKS,
  ...OUTPUT_CHECKS,
  ...CONSOLE_CHECKS,
];

/** The coins that deposits brought to nobody, by the ledger and by the deposits; of what changed, deposit by deposit. */
function unallocated({ changed }: RowsOf): string {
  if (changed === null)
    return `
      -- Not its balance: coins that came to us otherwise than by a deposit are kept in it too.
      select null, null, null, 'the deposits in the unallocated account are not those set aside' from ledger_accounts a
      where a.kind = 'unallocated'
        and coalesce((select sum(e.amount) from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
          where e.account_id = a.id and t.source_key like 'deposit:%'), 0)
        <> coalesce((select sum(d.amount) from deposits d where d.asset_id = a.asset_id and d.state in ('dust', 'unallocated')), 0)`;
  const what = `null::uuid, null, null::uuid, 'the deposits in the unallocated account are not those set aside'`;
  return `
      select ${what} from (
          select id from deposits where payment_id in (${listed(changed, 'payments')})
          union
          select substr(source_key, 9, 36)::uuid from ledger_transactions where id in (${listed(changed, 'ledger')}) and source_key ~ '^deposit:[0-9a-f-]{36}(:|$)') k
        -- Each by its key: Postgres does not know how few they are, and would read the whole table for them.
        left join lateral (select x.state, x.amount, x.asset_id from deposits x where x.id = k.id offset 0) d on true
      where case when d.state in ('dust', 'unallocated') then d.amount else 0 end is distinct from (
          select coalesce(sum(e.amount), 0) from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
            join ledger_accounts a on a.id = e.account_id and a.kind = 'unallocated' and a.asset_id = coalesce(d.asset_id, a.asset_id)
          where t.source_key in ('deposit:' || k.id, 'deposit:' || k.id || ':claim', 'deposit:' || k.id || ':credit'))
      union all
      select ${what} from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id and a.kind = 'unallocated'
      where t.id in (${listed(changed, 'ledger')}) and t.source_key like 'deposit:%' and t.source_key !~ '^deposit:[0-9a-f-]{36}(|:claim|:credit)$'`;
}

/** Nonces of a wallet that nobody used. What changed has the ones beside it; where that is not all there is to see, its wallet is looked at as a whole. */
function gaps({ changed }: RowsOf): string {
  const only =
    changed === null
      ? 'true'
      : `w.id in (${listed(changed, 'wallets')} union
          select o.wallet_id from payouts o where o.id in (${listed(changed, 'payouts')}) and exists (select 1 from adopted_transactions d where d.network_id = o.network_id))`;
  const whole = `
      select w.id as wallet_id, 'a gap among the nonces' as problem from wallets w join (
        select wallet_id, nonce from payouts where nonce is not null
        union all
        -- Rows that a restore lost: what used their nonces is on the chain, adopted or about to be.
        select x.id, g.nonce from wallets x join sightings g on g.network_id = x.network_id and g.sender = x.address and g.kind = 'sent' and g.canonical
        where exists (select 1 from adopted_transactions d where d.network_id = x.network_id) and g.nonce < x.next_nonce
          and g.nonce > (select min(f.nonce) from payouts f where f.wallet_id = x.id)) p on p.wallet_id = w.id
      where ${only}
      group by w.id having max(p.nonce) - min(p.nonce) + 1 <> count(distinct p.nonce) or max(p.nonce) >= w.next_nonce`;
  if (changed === null) return whole;
  return `${whole}
      union all
      select p.wallet_id, 'a gap among the nonces' from payouts p join wallets w on w.id = p.wallet_id
      where p.id in (${listed(changed, 'payouts')}) and p.nonce is not null and not exists (select 1 from adopted_transactions d where d.network_id = w.network_id) and (
        p.nonce >= w.next_nonce
        or not exists (select 1 from payouts b where b.wallet_id = p.wallet_id and b.nonce = p.nonce - 1) and p.nonce > (select min(b.nonce) from payouts b where b.wallet_id = p.wallet_id)
        or not exists (select 1 from payouts b where b.wallet_id = p.wallet_id and b.nonce = p.nonce + 1) and p.nonce < (select max(b.nonce) from payouts b where b.wallet_id = p.wallet_id))`;
}

function replies({ changed }: RowsOf): string {
  return changed === null
    ? 'idempotency_keys'
    : `(select null::uuid as gateway_id, null as operation, r.id as resource_id from (${listed(changed, 'replies')} as id) r)`;
}
