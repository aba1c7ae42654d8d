-- What addresses held when the chain was asked about them last, so that each minute only those are asked where something lies or moved, and some of the others in
-- turn (decision 0104). What moved since a reading is written down by triggers, in the transaction that writes it, until a reading has it.
-- older builds: ask about every address as before, and read none of this. Triggers write down what moved beside them too, which takes a few rows for each payment until
-- a build that asks in turn works again.

create table touched_holdings (
  id bigint generated always as identity primary key,
  asset_id uuid not null,
  address text not null,
  raw_change numeric not null,
  height bigint not null
);
comment on table touched_holdings is 'What sightings say came to deposit addresses or left them since their last reading, of configured assets of networks where coins are balances. Written by triggers alone.';
comment on column touched_holdings.id is 'In the order of writing, which is not that of commits.';
comment on column touched_holdings.asset_id is 'The asset.';
comment on column touched_holdings.address is 'Canonical address.';
comment on column touched_holdings.raw_change is 'Chain units it got; below zero what left it, or what a fork took back.';
comment on column touched_holdings.height is 'Block of the sighting; until it is final, the address is asked about.';
create index touched_holdings_address on touched_holdings (asset_id, address);

create table kept_readings (
  asset_id uuid not null references assets,
  address text not null,
  raw_amount numeric not null,
  height bigint not null,
  read_at timestamptz not null default clock_timestamp(),
  primary key (asset_id, address)
);
comment on table kept_readings is 'What each deposit address held of an asset when the chain was asked last, without what touched_holdings still lists of it.';
comment on column kept_readings.asset_id is 'The asset.';
comment on column kept_readings.address is 'Canonical address.';
comment on column kept_readings.raw_amount is 'Chain units; below zero where the chain was asked on another branch than was applied.';
comment on column kept_readings.height is 'The applied block it was asked at.';
comment on column kept_readings.read_at is 'When its turn came last, by the database clock; those longest ago come next.';
create index kept_readings_oldest on kept_readings (asset_id, read_at, address);

create table kept_sums (
  asset_id uuid primary key references assets,
  raw_amount numeric not null,
  version bigint not null
);
comment on table kept_sums is 'What the kept readings of an asset add up to. An asset without a row was never compared as a whole.';
comment on column kept_sums.asset_id is 'The asset.';
comment on column kept_sums.raw_amount is 'Chain units.';
comment on column kept_sums.version is 'Grows whenever readings are kept: what was read beside an earlier one is thrown away.';

create function touches(network uuid, kind text, sender text, recipient text, contract text, raw_amount numeric, raw_fee numeric)
returns table (asset_id uuid, address text, raw_change numeric) language sql stable as $$
  select a.id, m.address, m.raw_change
  from networks n join assets a on a.network_id = n.id and a.contract is not distinct from $5
    cross join lateral (
      select $4, $6 where $2 <> 'sent'
      union all select $3, -$6 where $2 <> 'sent'
      union all select $3, -$7 where $2 = 'sent') as m (address, raw_change)
  where n.id = $1 and n.family <> 'bitcoin' and m.raw_change <> 0 and (select true from deposit_addresses d where d.address = m.address limit 1)
    and (select true from wallets w where w.network_id = $1 and w.address = m.address and w.role <> 'deposit' limit 1) is null;
$$;
comment on function touches(uuid, text, text, text, text, numeric, numeric) is 'What a sighting moved to and from deposit addresses; other wallets are asked about always.';

create function touch_new_sightings() returns trigger language plpgsql security definer as $$
begin
  insert into touched_holdings (asset_id, address, raw_change, height)
  select t.asset_id, t.address, t.raw_change, s.height
  from added s cross join lateral touches(s.network_id, s.kind, s.sender, s.recipient, s.contract, s.raw_amount, s.raw_fee) t where s.canonical;
  return null;
end $$;
comment on function touch_new_sightings() is 'Trigger body: writes down what new sightings moved, at whatever height they are.';

create function touch_sighting() returns trigger language plpgsql security definer as $$
begin
  if old.canonical then
    insert into touched_holdings (asset_id, address, raw_change, height)
    select t.asset_id, t.address, -t.raw_change, old.height
    from touches(old.network_id, old.kind, old.sender, old.recipient, old.contract, old.raw_amount, old.raw_fee) t;
  end if;
  if tg_op = 'UPDATE' and new.canonical then
    insert into touched_holdings (asset_id, address, raw_change, height)
    select t.asset_id, t.address, t.raw_change, new.height
    from touches(new.network_id, new.kind, new.sender, new.recipient, new.contract, new.raw_amount, new.raw_fee) t;
  end if;
  return null;
end $$;
comment on function touch_sighting() is 'Trigger body: writes down what a fork took back or brought again, and what a sighting says otherwise than before.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first. A connection keeps the plans of their
-- statements: one that was made while tables were short, or for a thousand sightings at once, would read all addresses for each block.
do $$
declare
  body regprocedure;
begin
  for body in select p.oid from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname like 'touch\_%' loop
    execute format('alter function %s set search_path = %I, pg_temp', body, current_schema());
    execute format('alter function %s set enable_seqscan = off', body);
  end loop;
end $$;

create trigger sightings_touch_new after insert on sightings referencing new table as added for each statement execute function touch_new_sightings();
create trigger sightings_touch after update on sightings for each row
  when ((old.network_id, old.kind, old.height, old.sender, old.recipient, old.contract, old.raw_amount, old.raw_fee, old.canonical)
    is distinct from (new.network_id, new.kind, new.height, new.sender, new.recipient, new.contract, new.raw_amount, new.raw_fee, new.canonical))
  execute function touch_sighting();
create trigger sightings_touch_gone after delete on sightings for each row execute function touch_sighting();

-- The triggers keep writers out until this is committed. What is final is in the first reading, which asks about every address.
insert into touched_holdings (asset_id, address, raw_change, height)
select t.asset_id, t.address, t.raw_change, s.height
from chain_tips c join sightings s on s.network_id = c.network_id and s.canonical and s.height > c.final_height
  cross join lateral touches(s.network_id, s.kind, s.sender, s.recipient, s.contract, s.raw_amount, s.raw_fee) t;
