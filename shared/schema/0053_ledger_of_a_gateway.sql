-- What a gateway reads of its own, newest first: postings, credits and webhooks, each by an index of the gateway (decision 0066).
-- older builds: the trigger notes the postings that they write; they list none. The indexes on credits and webhooks keep their writers out while they are built, as the trigger does.

create table gateway_entries (
  gateway_id uuid not null,
  transaction_id bigint not null,
  account_id bigint not null,
  primary key (gateway_id, transaction_id, account_id)
);
comment on table gateway_entries is 'Which ledger entries are on accounts of a gateway, its reservations included: a gateway has an account for each of its cashouts. A trigger writes it.';
comment on column gateway_entries.gateway_id is 'Whose account.';
comment on column gateway_entries.transaction_id is 'The transaction: their order.';
comment on column gateway_entries.account_id is 'The account.';

create function note_gateway_entries() returns trigger language plpgsql security definer as $$
begin
  insert into gateway_entries (gateway_id, transaction_id, account_id)
  select a.gateway_id, e.transaction_id, e.account_id from added e join ledger_accounts a on a.id = e.account_id where a.gateway_id is not null;
  return null;
end $$;
comment on function note_gateway_entries() is 'Trigger body: notes which of the entries just written are a gateway''s.';

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function note_gateway_entries() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger ledger_entries_of_gateways after insert on ledger_entries referencing new table as added for each statement execute function note_gateway_entries();

-- The trigger keeps writers out until this is committed, so that no entry is missed.
insert into gateway_entries (gateway_id, transaction_id, account_id)
select a.gateway_id, e.transaction_id, e.account_id from ledger_entries e join ledger_accounts a on a.id = e.account_id where a.gateway_id is not null;

create index credits_gateway on credits (gateway_id, credited_at desc, id desc);
create index webhook_events_gateway on webhook_events (gateway_id, created_at desc, id desc);
