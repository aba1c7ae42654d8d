-- What is still open among everything that ever was, kept in small lists: where coins of deposits may lie that no sweep took, which outputs may be unspent, and which
-- transactions of our addresses nothing explains (decision 0083). Each list only says where to look and may name too much, never too little; what is there is read from
-- the rows themselves. Whoever writes a row appends, and what is over is deleted by the statement that ends it: of what a transaction at work appends, no other
-- one sees anything, so that it cannot be taken away by who does not know why it was put there.
-- older builds: write the lists by the triggers all the same, and read none of them.

create table lying_deposits (
  network_id uuid not null,
  asset_id uuid not null,
  address text not null
);
comment on table lying_deposits is 'Deposit addresses at which credited coins may lie that no sweep took, of networks where coins are balances; any number of rows may name the same.';
comment on column lying_deposits.network_id is 'The network.';
comment on column lying_deposits.asset_id is 'The asset.';
comment on column lying_deposits.address is 'Canonical address.';
create index lying_deposits_address on lying_deposits (network_id, asset_id, address);

create table lying_outputs (
  network_id uuid not null,
  txid text not null,
  vout int not null,
  address text not null,
  spendable boolean not null
);
comment on table lying_outputs is 'Outputs at addresses of ours that were sighted and may be unspent; any number of rows may name the same.';
comment on column lying_outputs.network_id is 'The network.';
comment on column lying_outputs.txid is 'The transaction that made it.';
comment on column lying_outputs.vout is 'Its number in that transaction.';
comment on column lying_outputs.address is 'Canonical address it lies at.';
comment on column lying_outputs.spendable is 'Whether it may be spent, being at a wallet or of a credited deposit; what is dust or nobody''s may lie there for ever.';
create index lying_outputs_output on lying_outputs (network_id, txid, vout);
create index lying_outputs_spendable on lying_outputs (network_id, address) where spendable;

create table unknown_outgoing (
  sighting_id bigint not null,
  txid text not null
);
comment on table unknown_outgoing is 'Transactions from addresses of ours that nothing explained when they were sighted, and perhaps nothing does yet.';
comment on column unknown_outgoing.sighting_id is 'The sighting; no reference, because sightings are never deleted.';
comment on column unknown_outgoing.txid is 'Its transaction.';
create index unknown_outgoing_txid on unknown_outgoing (txid);

create function open_forget_swept(network uuid, asset uuid, place text) returns void language sql security definer as $$
  -- One statement, so that one snapshot holds what is deleted and why.
  delete from lying_deposits l where l.network_id = network and l.asset_id = asset and l.address = place and (
      select coalesce(sum(d.raw_amount), 0) from deposit_addresses a join deposits d on d.address_id = a.id
      where a.address = place and d.network_id = network and d.asset_id = asset and d.state = 'credited')
    <= (
      select coalesce(sum(o.raw_amount + case when s.contract is null then coalesce((o.plan->>'rawFee')::numeric, 0) else 0 end), 0)
      from wallets w join payouts o on o.wallet_id = w.id join assets s on s.id = o.asset_id
      where w.network_id = network and w.address = place and o.asset_id = asset and o.purpose = 'sweep' and o.status not in ('FAILED', 'CANCELLED'));
$$;
comment on function open_forget_swept(uuid, uuid, text) is 'Takes an address off the list, unless more of the asset was credited there than sweeps take.';

create function open_deposit() returns trigger language plpgsql security definer as $$
begin
  if tg_op <> 'DELETE' and new.state = 'credited' then
    insert into lying_deposits (network_id, asset_id, address)
    select new.network_id, new.asset_id, a.address from deposit_addresses a join networks n on n.id = new.network_id and n.family <> 'bitcoin' where a.id = new.address_id;
    insert into lying_outputs (network_id, txid, vout, address, spendable)
    select new.network_id, new.txid, new.ordinal, a.address, true from deposit_addresses a join networks n on n.id = new.network_id and n.family = 'bitcoin'
    where a.id = new.address_id and new.kind = 'native';
  end if;
  if tg_op <> 'INSERT' and old.state = 'credited' then
    perform open_forget_swept(old.network_id, old.asset_id, a.address) from deposit_addresses a where a.id = old.address_id;
  end if;
  return null;
end $$;
comment on function open_deposit() is 'Trigger body: coins that were credited lie at their address until a sweep takes them, or something spends them.';

create function open_sweep() returns trigger language plpgsql security definer as $$
declare
  -- What it takes from its address, before and now.
  before numeric := 0;
  after numeric := 0;
  native boolean;
begin
  select contract is null into native from assets where id = old.asset_id;
  if old.status not in ('FAILED', 'CANCELLED') then before := old.raw_amount + case when native then coalesce((old.plan->>'rawFee')::numeric, 0) else 0 end; end if;
  if tg_op = 'UPDATE' and new.status not in ('FAILED', 'CANCELLED') then
    after := new.raw_amount + case when native then coalesce((new.plan->>'rawFee')::numeric, 0) else 0 end;
  end if;
  if after < before then
    insert into lying_deposits (network_id, asset_id, address) select old.network_id, old.asset_id, w.address from wallets w where w.id = old.wallet_id;
  end if;
  if tg_op = 'UPDATE' and new.status = 'CONFIRMED' then
    perform open_forget_swept(new.network_id, new.asset_id, w.address) from wallets w where w.id = new.wallet_id;
  end if;
  return null;
end $$;
comment on function open_sweep() is 'Trigger body: what a sweep leaves lies there again, and what a final one took does not any more.';

create function open_is_ours(network uuid, place text) returns boolean language sql stable security definer as $$
  select exists (select 1 from wallets w where w.network_id = network and w.address = place) or exists (select 1 from deposit_addresses d where d.address = place);
$$;
comment on function open_is_ours(uuid, text) is 'Whether an address is a wallet of a network, or a deposit address.';

create function open_new_sightings() returns trigger language plpgsql security definer as $$
begin
  insert into lying_outputs (network_id, txid, vout, address, spendable)
  select s.network_id, s.txid, s.ordinal, s.recipient, exists (select 1 from wallets w where w.network_id = s.network_id and w.address = s.recipient)
  from added s join networks n on n.id = s.network_id and n.family = 'bitcoin'
  where s.kind = 'native' and s.raw_amount > 0 and open_is_ours(s.network_id, s.recipient);
  insert into unknown_outgoing (sighting_id, txid)
  select s.id, s.txid from added s where s.kind = 'sent' and not exists (select 1 from payout_attempts t where t.txid = s.txid)
    and not exists (select 1 from adopted_transactions d where d.txid = s.txid);
  return null;
end $$;
comment on function open_new_sightings() is 'Trigger body: outputs that came to us are unspent at first, and what we sent is known by its stored bytes.';

create function open_branch() returns trigger language plpgsql security definer as $$
begin
  if not exists (select 1 from networks n where n.id = new.network_id and n.family = 'bitcoin') then return null; end if;
  if new.kind = 'native' and new.canonical and new.raw_amount > 0 and open_is_ours(new.network_id, new.recipient) then
    insert into lying_outputs (network_id, txid, vout, address, spendable) values (new.network_id, new.txid, new.ordinal, new.recipient, true);
  end if;
  if new.kind = 'sent' and not new.canonical then
    insert into lying_outputs (network_id, txid, vout, address, spendable)
    select distinct g.network_id, g.txid, g.ordinal, g.recipient, true from spent_outputs x
      join sightings g on g.network_id = new.network_id and g.txid = x.txid and g.kind = 'native' and g.ordinal = x.vout
    where x.sighting_id = new.id and g.raw_amount > 0 and open_is_ours(g.network_id, g.recipient);
  end if;
  if new.kind = 'sent' and new.canonical then
    delete from lying_outputs l using spent_outputs x where x.sighting_id = new.id and l.network_id = new.network_id and l.txid = x.txid and l.vout = x.vout;
  end if;
  return null;
end $$;
comment on function open_branch() is 'Trigger body: what a block spent that a fork took away is unspent again, and the other way round.';

create function open_spends() returns trigger language plpgsql security definer as $$
begin
  -- Whoever takes one of them off the chain meanwhile sees these spends, or is seen to have done so.
  perform 1 from sightings g where g.id in (select a.sighting_id from added a) order by g.id for share;
  delete from lying_outputs l using added x join sightings g on g.id = x.sighting_id and g.canonical
  where l.network_id = g.network_id and l.txid = x.txid and l.vout = x.vout;
  return null;
end $$;
comment on function open_spends() is 'Trigger body: what a canonical transaction spends is not unspent any more.';

create function open_wallet() returns trigger language plpgsql security definer as $$
begin
  insert into lying_outputs (network_id, txid, vout, address, spendable)
  select g.network_id, g.txid, g.ordinal, g.recipient, true from sightings g join networks n on n.id = g.network_id and n.family = 'bitcoin'
  where g.network_id = new.network_id and g.recipient = new.address and g.canonical and g.kind = 'native' and g.raw_amount > 0;
  return null;
end $$;
comment on function open_wallet() is 'Trigger body: what was seen to go to an address before it became a wallet of ours may lie there.';

create function open_explained() returns trigger language plpgsql security definer as $$
begin
  delete from unknown_outgoing where txid = new.txid;
  return null;
end $$;
comment on function open_explained() is 'Trigger body: a transaction of which there are bytes, or which an operator explained, is known.';

-- Deposits are counted as the other lists are (decision 0055); their gateway is that of their payment.
create function tally_deposit() returns trigger language plpgsql security definer as $$
begin
  if tg_op <> 'INSERT' then
    insert into tallies (list, gateway_id, status, count) select 'deposits', p.gateway_id, old.state, -1 from payments p where p.id = old.payment_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into tallies (list, gateway_id, status, count) select 'deposits', p.gateway_id, new.state, 1 from payments p where p.id = new.payment_id;
  end if;
  return null;
end $$;
comment on function tally_deposit() is 'Trigger body: counts a deposit by its state, and the gateway of its payment.';
comment on column tallies.list is 'The table that is listed: payments, settlements, webhook_events or deposits.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
declare
  body regprocedure;
begin
  for body in select p.oid from pg_proc p where p.pronamespace = current_schema()::regnamespace and (p.proname like 'open\_%' or p.proname = 'tally_deposit') loop
    execute format('alter function %s set search_path = %I, pg_temp', body, current_schema());
  end loop;
end $$;

create trigger deposits_lying_new after insert or delete on deposits for each row execute function open_deposit();
create trigger deposits_lying after update on deposits for each row
  when ((new.state = 'credited' or old.state = 'credited') and
    (old.state, old.network_id, old.asset_id, old.address_id, old.raw_amount) is distinct from (new.state, new.network_id, new.asset_id, new.address_id, new.raw_amount))
  execute function open_deposit();
create trigger payouts_swept after update on payouts for each row
  when (new.purpose = 'sweep' and (old.status, old.raw_amount, old.plan->>'rawFee') is distinct from (new.status, new.raw_amount, new.plan->>'rawFee'))
  execute function open_sweep();
create trigger payouts_swept_gone after delete on payouts for each row when (old.purpose = 'sweep') execute function open_sweep();
create trigger sightings_open_new after insert on sightings referencing new table as added for each statement execute function open_new_sightings();
create trigger sightings_open after update on sightings for each row when (old.canonical is distinct from new.canonical) execute function open_branch();
create trigger spent_outputs_open after insert on spent_outputs referencing new table as added for each statement execute function open_spends();
create trigger wallets_open after insert on wallets for each row execute function open_wallet();
create trigger payout_attempts_explain after insert on payout_attempts for each row execute function open_explained();
create trigger adopted_transactions_explain after insert on adopted_transactions for each row execute function open_explained();
create trigger deposits_tallied_new after insert or delete on deposits for each row execute function tally_deposit();
create trigger deposits_tallied after update on deposits for each row
  when ((old.payment_id, old.state) is distinct from (new.payment_id, new.state)) execute function tally_deposit();

-- The triggers keep writers out until this is committed, so that nothing is missed and each row is counted once.
insert into lying_deposits (network_id, asset_id, address)
select r.network_id, r.asset_id, r.address from (
    select d.network_id, d.asset_id, a.address, sum(d.raw_amount) as received
    from deposits d join deposit_addresses a on a.id = d.address_id join networks n on n.id = d.network_id and n.family <> 'bitcoin'
    where d.state = 'credited' group by 1, 2, 3) r
  left join (
    select o.network_id, o.asset_id, w.address, sum(o.raw_amount + case when s.contract is null then coalesce((o.plan->>'rawFee')::numeric, 0) else 0 end) as taken
    from payouts o join wallets w on w.id = o.wallet_id join assets s on s.id = o.asset_id
    where o.purpose = 'sweep' and o.status = 'CONFIRMED' group by 1, 2, 3) t on t.network_id = r.network_id and t.asset_id = r.asset_id and t.address = r.address
where r.received > coalesce(t.taken, 0);
insert into lying_outputs (network_id, txid, vout, address, spendable)
select distinct g.network_id, g.txid, g.ordinal, g.recipient, exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient) or exists (
    select 1 from deposits d where d.network_id = g.network_id and d.txid = g.txid and d.kind = 'native' and d.ordinal = g.ordinal and d.state = 'credited')
from sightings g join networks n on n.id = g.network_id and n.family = 'bitcoin'
where g.kind = 'native' and g.canonical and g.raw_amount > 0
  and (exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient) or exists (select 1 from deposit_addresses d where d.address = g.recipient))
  and not exists (
    select 1 from spent_outputs x join sightings s on s.id = x.sighting_id and s.canonical where x.txid = g.txid and x.vout = g.ordinal and s.network_id = g.network_id);
insert into unknown_outgoing (sighting_id, txid)
select s.id, s.txid from sightings s where s.kind = 'sent' and not exists (select 1 from payout_attempts t where t.txid = s.txid)
  and not exists (select 1 from adopted_transactions d where d.txid = s.txid);
insert into tallies (list, gateway_id, status, count)
select 'deposits', p.gateway_id, d.state, count(*) from deposits d join payments p on p.id = d.payment_id group by 2, 3;
