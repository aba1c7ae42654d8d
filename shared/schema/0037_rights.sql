-- Rights of each process: what is append-only cannot be emptied either, rows can be locked by whoever may not change them, and an
-- indexer sees and takes only the lease of its own network (decision 0035).
-- older builds: empty no such table, write neither of the new columns, which fill themselves, and read no table whole that gets one. Who owns
-- the tables, as every login of theirs does, is not asked by policies.

create trigger accruals_never_emptied before truncate on accruals for each statement execute function refuse_change();
create trigger adopted_transactions_never_emptied before truncate on adopted_transactions for each statement execute function refuse_change();
create trigger aml_events_never_emptied before truncate on aml_events for each statement execute function refuse_change();
create trigger charge_draws_never_emptied before truncate on charge_draws for each statement execute function refuse_change();
create trigger charges_never_emptied before truncate on charges for each statement execute function refuse_change();
create trigger further_transfers_never_emptied before truncate on further_transfers for each statement execute function refuse_change();
create trigger invoice_lines_never_emptied before truncate on invoice_lines for each statement execute function refuse_change();
create trigger invoices_never_emptied before truncate on invoices for each statement execute function refuse_change();
create trigger ledger_entries_never_emptied before truncate on ledger_entries for each statement execute function refuse_change();
create trigger ledger_transactions_never_emptied before truncate on ledger_transactions for each statement execute function refuse_change();
create trigger opening_outputs_never_emptied before truncate on opening_outputs for each statement execute function refuse_change();
create trigger payment_events_never_emptied before truncate on payment_events for each statement execute function refuse_change();
create trigger payout_attempts_never_emptied before truncate on payout_attempts for each statement execute function refuse_change();
create trigger payout_events_never_emptied before truncate on payout_events for each statement execute function refuse_change();
create trigger settlement_events_never_emptied before truncate on settlement_events for each statement execute function refuse_change();
create trigger settlement_fees_never_emptied before truncate on settlement_fees for each statement execute function refuse_change();
create trigger spent_outputs_never_emptied before truncate on spent_outputs for each statement execute function refuse_change();
create trigger statements_never_emptied before truncate on statements for each statement execute function refuse_change();
create trigger totp_acceptances_never_emptied before truncate on totp_acceptances for each statement execute function refuse_change();

alter table chain_tips add column lockable boolean generated always as (true) stored;
comment on column chain_tips.lockable is 'Takes no value: the right to change it is the right to lock the row, for who may not move the tip.';
alter table gateways add column lockable boolean generated always as (true) stored;
comment on column gateways.lockable is 'Takes no value: the right to change it is the right to lock the row, for who may not change a gateway.';
alter table wallets add column lockable boolean generated always as (true) stored;
comment on column wallets.lockable is 'Takes no value: the right to change it is the right to lock the row, for who may not change a wallet.';

create table indexer_logins (
  login text not null,
  network text not null,
  primary key (login, network)
);
comment on table indexer_logins is 'Which networks an indexer''s login may hold the lease of; one that is not listed may hold any. Written by sluice db roles apply alone.';
comment on column indexer_logins.login is 'The database login.';
comment on column indexer_logins.network is 'Name of the network, as configured.';

create function serves_network(wanted uuid) returns boolean language plpgsql stable security definer as $$
begin
  return not exists (select 1 from indexer_logins where login = session_user)
    or exists (select 1 from indexer_logins l join networks n on n.name = l.network where l.login = session_user and n.id = wanted);
end $$;
-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$ begin execute format('alter function serves_network(uuid) set search_path = %I, pg_temp', current_schema()); end $$;
comment on function serves_network(uuid) is 'Whether whoever is connected may have to do with that network''s lease. Asks for the login itself, which no session can change.';

alter table indexer_leases enable row level security;
create policy leases_are_shared on indexer_leases using (true);
create policy leases_of_own_networks on indexer_leases as restrictive using (serves_network(network_id));
