-- Figures that are sums are kept as sums: what lists count, and what credits add up to (decision 0055). Whoever writes a row appends what it changes of them,
-- so that nobody waits for anybody; once a minute what was appended is added up.
-- older builds: write no tally themselves, and are counted all the same; they count rows, as they always did.

create table tallies (
  list text not null,
  gateway_id uuid not null,
  status text not null,
  count bigint not null
);
comment on table tallies is 'How many rows each list has, by gateway and status: the sum of these rows, of which any number may say the same.';
comment on column tallies.list is 'The table that is listed: payments, settlements or webhook_events.';
comment on column tallies.gateway_id is 'Whose rows.';
comment on column tallies.status is 'Their status, or state.';
comment on column tallies.count is 'How many more, or fewer, there are.';

create index tallies_list on tallies (list, gateway_id);

create table credit_tallies (
  gateway_id uuid not null,
  asset_id uuid not null,
  pool text not null,
  matured boolean not null,
  gross ledger_amount not null,
  network_fee ledger_amount not null,
  commission ledger_amount not null
);
comment on table credit_tallies is 'What credits add up to, by gateway, asset, pool and whether they matured, drawn ones included: the sum of these rows.';
comment on column credit_tallies.gateway_id is 'Whose credits.';
comment on column credit_tallies.asset_id is 'In which asset.';
comment on column credit_tallies.pool is 'In which pool they are.';
comment on column credit_tallies.matured is 'Whether they have matured.';
comment on column credit_tallies.gross is 'What was received.';
comment on column credit_tallies.network_fee is 'The part that was taken for the network.';
comment on column credit_tallies.commission is 'The part that was taken as commission.';

create index credit_tallies_gateway on credit_tallies (gateway_id);

-- Payments and settlements have a status, webhooks a state.
create function tally_status() returns trigger language plpgsql security definer as $$
begin
  if tg_op <> 'INSERT' then insert into tallies (list, gateway_id, status, count) values (tg_table_name, old.gateway_id, old.status, -1); end if;
  if tg_op <> 'DELETE' then insert into tallies (list, gateway_id, status, count) values (tg_table_name, new.gateway_id, new.status, 1); end if;
  return null;
end $$;
comment on function tally_status() is 'Trigger body: counts a row of a list by its status.';

create function tally_state() returns trigger language plpgsql security definer as $$
begin
  if tg_op <> 'INSERT' then insert into tallies (list, gateway_id, status, count) values (tg_table_name, old.gateway_id, old.state, -1); end if;
  if tg_op <> 'DELETE' then insert into tallies (list, gateway_id, status, count) values (tg_table_name, new.gateway_id, new.state, 1); end if;
  return null;
end $$;
comment on function tally_state() is 'Trigger body: counts a row of a list by its state.';

create function tally_credit() returns trigger language plpgsql security definer as $$
begin
  if tg_op <> 'INSERT' then
    insert into credit_tallies values (old.gateway_id, old.asset_id, old.pool, old.matured_at is not null, -old.gross, -old.network_fee, -old.commission);
  end if;
  if tg_op <> 'DELETE' then
    insert into credit_tallies values (new.gateway_id, new.asset_id, new.pool, new.matured_at is not null, new.gross, new.network_fee, new.commission);
  end if;
  return null;
end $$;
comment on function tally_credit() is 'Trigger body: adds a credit to the sums of its gateway.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
declare
  body regprocedure;
begin
  for body in select p.oid from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname like 'tally\_%' loop
    execute format('alter function %s set search_path = %I, pg_temp', body, current_schema());
  end loop;
end $$;

create trigger payments_tallied_new after insert or delete on payments for each row execute function tally_status();
create trigger payments_tallied after update on payments for each row
  when ((old.gateway_id, old.status) is distinct from (new.gateway_id, new.status)) execute function tally_status();
create trigger settlements_tallied_new after insert or delete on settlements for each row execute function tally_status();
create trigger settlements_tallied after update on settlements for each row
  when ((old.gateway_id, old.status) is distinct from (new.gateway_id, new.status)) execute function tally_status();
create trigger webhook_events_tallied_new after insert or delete on webhook_events for each row execute function tally_state();
create trigger webhook_events_tallied after update on webhook_events for each row
  when ((old.gateway_id, old.state) is distinct from (new.gateway_id, new.state)) execute function tally_state();
create trigger credits_tallied_new after insert or delete on credits for each row execute function tally_credit();
create trigger credits_tallied after update on credits for each row
  when ((old.gateway_id, old.asset_id, old.pool, old.matured_at is null, old.gross, old.network_fee, old.commission)
    is distinct from (new.gateway_id, new.asset_id, new.pool, new.matured_at is null, new.gross, new.network_fee, new.commission))
  execute function tally_credit();

-- The triggers keep writers out until this is committed, so that each row is counted once.
insert into tallies (list, gateway_id, status, count) select 'payments', gateway_id, status, count(*) from payments group by 2, 3;
insert into tallies (list, gateway_id, status, count) select 'settlements', gateway_id, status, count(*) from settlements group by 2, 3;
insert into tallies (list, gateway_id, status, count) select 'webhook_events', gateway_id, state, count(*) from webhook_events group by 2, 3;
insert into credit_tallies
select gateway_id, asset_id, pool, matured_at is not null, sum(gross), sum(network_fee), sum(commission) from credits group by 1, 2, 3, 4;

-- Cashouts that are not over, payouts of a day, and wallets beside those of deposits: few among all that ever were.
create index settlements_open on settlements (status, network_id) where status not in ('SETTLED', 'REJECTED');
create index payouts_of_cashouts on payouts (created_at) where purpose = 'settlement';
create index wallets_own on wallets (network_id, role) where role <> 'deposit';
