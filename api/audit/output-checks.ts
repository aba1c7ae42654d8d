import { asked, type Check, LIMIT, listed, type RowsOf } from './check.ts';

/** `txid:vout` as a transaction's bytes have it, in hex: both numbers little-endian. */
const anchorBytes = `
  regexp_replace(reverse(split_part(p.anchor, ':', 1)), '(.)(.)', '\\2\\1', 'g')
  || regexp_replace(reverse(lpad(to_hex(split_part(p.anchor, ':', 2)::bigint), 8, '0')), '(.)(.)', '\\2\\1', 'g')`;

/** Every output at an address of ours that was ever sighted, or was there before; of these transactions alone where any are named. */
function ownOutputs(txids: string | null): string {
  const among = (table: string): string => (txids === null ? '' : `where ${table}.txid in (${txids})`);
  return `
  select g.network_id, g.txid, g.ordinal as vout, g.recipient as address, max(g.raw_amount) as raw_amount
  from sightings g join networks n on n.id = g.network_id and n.family = 'bitcoin' ${among('g')} ${txids === null ? 'where' : 'and'} g.kind = 'native' group by 1, 2, 3, 4
  union
  select o.network_id, o.txid, o.vout, o.address, o.raw_amount from opening_outputs o ${among('o')}`;
}

/** Transactions whose outputs a payout that changed has taken. */
function takenOf({ changed }: RowsOf): string | null {
  return changed && `select l.txid from output_locks l where l.payout_id in (${listed(changed, 'payouts')})`;
}

/** Transactions whose outputs one that changed spends. */
function spentOf({ changed }: RowsOf): string | null {
  return changed && `select x.txid from spent_outputs x where x.sighting_id in (${listed(changed, 'sightings')})`;
}

/** Wallets that may have held something at first: few, but for those of deposits, which nobody opens. */
function opened({ changed }: RowsOf): string {
  if (changed === null) return 'true';
  return `w.id in (
        select id from wallets where role <> 'deposit' union select wallet_id from opening_outputs union
        select substr(source_key, 9, 36)::uuid from ledger_transactions where id in (${listed(changed, 'ledger')}) and source_key ~ '^opening:[0-9a-f-]{36}:')`;
}

/** What the audit asks where coins are outputs (reliability D13). */
export const OUTPUT_CHECKS: readonly Check[] = [
  {
    name: 'A27',
    title: 'where coins are outputs, a payout has taken its anchor as long as it can be paid, and all of its attempts spend that first',
    mayPass: false,
    ...asked(
      (of) => `
      select p.id, p.status, p.anchor, 'bytes without an anchor, or an anchor where there are none' as problem from ${of('payouts', 'id')} p join networks n on n.id = p.network_id
      where case n.family when 'bitcoin' then p.anchor is null and exists (select 1 from payout_attempts t where t.payout_id = p.id) else p.anchor is not null end
      union all
      select p.id, p.status, p.anchor, 'its anchor is not taken by it' from ${of('payouts', 'id')} p
      where p.anchor is not null and p.status not in ('FAILED', 'CANCELLED') and not exists (
        select 1 from output_locks l where l.payout_id = p.id and l.network_id = p.network_id and l.released_at is null and l.txid || ':' || l.vout = p.anchor)
      union all
      -- A PSBT (BIP-174): its mark, the key of the unsigned transaction and its length, then version, count and inputs.
      select p.id, p.status, p.anchor, 'an attempt that does not spend it first' from ${of('payouts', 'id')} p join payout_attempts t on t.payout_id = p.id
        cross join lateral (select case when length(t.signed_bytes) < 64 then null else t.signed_bytes end as psbt) b
        cross join lateral (select case get_byte(b.psbt, 7) when 253 then 10 when 254 then 12 else 8 end as tx) o
        cross join lateral (select o.tx + 4 + case get_byte(b.psbt, o.tx + 4) when 253 then 3 else 1 end as input) i
      where p.anchor is not null and (
        substring(b.psbt from 1 for 7) is distinct from '\\x70736274ff0100'::bytea or encode(substring(b.psbt from i.input + 1 for 36), 'hex') is distinct from ${anchorBytes})
      ${LIMIT}`,
    ),
  },
  {
    name: 'A28',
    title: 'an output is taken by one payout, of the pool it lies in, and no transaction of ours spends what its payout had not taken',
    mayPass: false,
    ...asked(
      (of) => `
      with own as (${ownOutputs(takenOf(of))}),
      taken as (
        select p.id, p.wallet_id, w.role, l.network_id, l.txid, l.vout from output_locks l join ${of('payouts', 'id')} p on p.id = l.payout_id join wallets w on w.id = p.wallet_id
        where l.released_at is null)
      select max(id::text)::uuid as id, txid, vout, 'taken twice' as problem from taken group by network_id, txid, vout having count(*) > 1
      union all
      select p.id, l.txid, l.vout, 'taken by a payout that nothing can pay any more' from output_locks l join ${of('payouts', 'id')} p on p.id = l.payout_id
      where l.released_at is null and (p.status = 'CANCELLED' or (p.status = 'FAILED' and p.txid is null))
      union all
      select t.id, t.txid, t.vout, 'not an output of ours' from taken t
      where not exists (select 1 from own o where o.network_id = t.network_id and o.txid = t.txid and o.vout = t.vout)
      union all
      select t.id, t.txid, t.vout, 'it lies at another wallet' from taken t join own o on o.network_id = t.network_id and o.txid = t.txid and o.vout = t.vout
        join wallets v on v.network_id = o.network_id and v.address = o.address
      where v.role <> 'deposit' and v.id <> t.wallet_id
      union all
      select t.id, t.txid, t.vout, 'it was credited to another pool, or to nobody' from taken t join own o on o.network_id = t.network_id and o.txid = t.txid and o.vout = t.vout
      where not exists (select 1 from wallets v where v.network_id = o.network_id and v.address = o.address and v.role <> 'deposit') and not exists (
        select 1 from deposits d join credits c on c.payment_id = d.payment_id and (d.credit_id is null or c.id = d.credit_id)
        where d.network_id = t.network_id and d.txid = t.txid and d.ordinal = t.vout and d.kind = 'native' and d.state = 'credited' and (
          t.role = case c.pool when 'green' then 'hot' else 'held' end
          or exists (select 1 from pool_moves m where m.payment_id = c.payment_id and t.role = case m.from_pool when 'green' then 'hot' else 'held' end)))
      union all
      select p.id, x.txid, x.vout, 'spent without having been taken' from spent_outputs x join ${of('sightings', 'id')} g on g.id = x.sighting_id and g.canonical
        join payout_attempts a on a.txid = g.txid join payouts p on p.id = a.payout_id
      where not exists (select 1 from output_locks l where l.payout_id = p.id and l.network_id = p.network_id and l.txid = x.txid and l.vout = x.vout and l.released_at is null)
      ${LIMIT}`,
    ),
  },
  {
    name: 'A29',
    title: 'what our transactions spend goes to their recipient, comes back or is their fee, to the unit; and what wallets held at first is in the books',
    asksMore: true,
    mayPass: false,
    ...asked(
      (of) => `
      with own as (${ownOutputs(spentOf(of))}),
      mined as (
        select p.id, p.recipient, w.address, g.network_id, g.txid, g.block_hash, g.raw_fee, a.fee_limit, s.spent
        from ${of('sightings', 'id')} g join payout_attempts a on a.txid = g.txid join payouts p on p.id = a.payout_id and p.anchor is not null join wallets w on w.id = p.wallet_id
          -- All at once: output by output it would take as long as there are outputs, for each transaction.
          left join (
            select x.sighting_id, sum(o.raw_amount) as spent from ${of('sightings', 'id')} h join spent_outputs x on x.sighting_id = h.id
              left join own o on o.network_id = h.network_id and o.txid = x.txid and o.vout = x.vout group by x.sighting_id) s on s.sighting_id = g.id
        where g.kind = 'sent' and g.canonical)
      select m.id, m.txid, 'spent more or less than it paid, or its fee is another' as problem from mined m
      where m.raw_fee > m.fee_limit or m.spent is distinct from m.raw_fee + (
        select coalesce(sum(s.raw_amount), 0) from sightings s
        where s.network_id = m.network_id and s.block_hash = m.block_hash and s.txid = m.txid and s.kind = 'native' and s.canonical)
      union all
      select m.id, m.txid, 'paid somebody else' from mined m join sightings s
        on s.network_id = m.network_id and s.block_hash = m.block_hash and s.txid = m.txid and s.kind = 'native' and s.canonical
      where s.recipient not in (m.recipient, m.address)
      union all
      select p.id, p.txid, 'joined elsewhere than at the wallet of its pool' from ${of('payouts', 'id')} p join wallets w on w.id = p.wallet_id
      where p.purpose = 'consolidation' and (p.recipient <> w.address or w.role not in ('hot', 'held') or p.anchor is null)
      union all
      select w.id, null, 'what it held at first is not what was booked' from wallets w join networks n on n.id = w.network_id and n.family = 'bitcoin'
        join assets c on c.network_id = w.network_id and c.contract is null
        left join ledger_transactions l on l.source_key = 'opening:' || w.id || ':' || c.id
      where ${opened(of)} and (select coalesce(sum(o.raw_amount), 0) from opening_outputs o where o.wallet_id = w.id) <> (
        select coalesce(-sum(e.amount), 0) * power(10::numeric, c.decimals) from ledger_entries e join ledger_accounts k on k.id = e.account_id
        where e.transaction_id = l.id and k.kind = 'chain')
      ${LIMIT}`,
    ),
  },
];
