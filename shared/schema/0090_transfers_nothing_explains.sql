-- The list of what addresses of ours sent and nothing explained holds transfers of configured coins from them too (decision 0114), by which a stranger who has a key, or an allowance,
-- is noticed. Whether one of all that waits to be final is such a transfer was asked for every block.
-- older builds: write the list by the triggers all the same, and read nothing but sent transactions off it.

create or replace function open_new_sightings() returns trigger language plpgsql security definer as $$
begin
  insert into lying_outputs (network_id, txid, vout, address, spendable)
  select s.network_id, s.txid, s.ordinal, s.recipient, exists (select 1 from wallets w where w.network_id = s.network_id and w.address = s.recipient)
  from added s join networks n on n.id = s.network_id and n.family = 'bitcoin'
  where s.kind = 'native' and s.raw_amount > 0 and open_is_ours(s.network_id, s.recipient);
  insert into unknown_outgoing (sighting_id, txid)
  select s.id, s.txid from added s
    cross join lateral (
      select 1 where s.kind = 'sent'
      union all
      select 1 from wallets w where s.kind <> 'sent' and w.network_id = s.network_id and w.address = s.sender
      union all
      select 1 from deposit_addresses d where s.kind <> 'sent' and d.address = s.sender limit 1) ours
  where (s.kind = 'sent' or s.raw_amount > 0 and (s.contract is null or exists (select 1 from assets a where a.network_id = s.network_id and a.contract = s.contract)))
    and not exists (select 1 from payout_attempts t where t.txid = s.txid) and not exists (select 1 from adopted_transactions d where d.txid = s.txid);
  return null;
end $$;
comment on table unknown_outgoing is
  'Transactions from addresses of ours, and transfers of configured coins from them, that nothing explained when they were sighted, and perhaps nothing does yet.';

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first. A connection keeps the plans of its
-- statements: one that was made while tables were short would read all addresses for each sighting.
do $$
begin
  execute format('alter function open_new_sightings() set search_path = %I, pg_temp', current_schema());
  execute 'alter function open_new_sightings() set enable_seqscan = off';
end $$;

-- Whoever writes sightings waits until this is committed, so that each is seen here or by the trigger. What a fork took off the chain is listed too, because it may come back.
lock table sightings in share row exclusive mode;
insert into unknown_outgoing (sighting_id, txid)
select s.id, s.txid from sightings s
where s.booked_at is null and s.kind <> 'sent' and s.raw_amount > 0
  and (s.contract is null or exists (select 1 from assets a where a.network_id = s.network_id and a.contract = s.contract))
  and (exists (select 1 from wallets w where w.network_id = s.network_id and w.address = s.sender) or exists (select 1 from deposit_addresses d where d.address = s.sender))
  and not exists (select 1 from payout_attempts t where t.txid = s.txid) and not exists (select 1 from adopted_transactions d where d.txid = s.txid);
