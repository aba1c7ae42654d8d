-- The postings of a gateway by the time at which they were made, so that those of a month long ago are read without the later ones (decision 0066).
-- older builds: the trigger notes the time of what they write. Writers are kept out while the times of earlier entries are filled in.

alter table gateway_entries add column at timestamptz;
comment on column gateway_entries.at is 'Service time of the transaction: by it entries are listed, and those of one moment by transaction and account.';

create or replace function note_gateway_entries() returns trigger language plpgsql security definer as $$
begin
  insert into gateway_entries (gateway_id, transaction_id, account_id, at)
  select a.gateway_id, e.transaction_id, e.account_id, t.at
  from added e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id where a.gateway_id is not null;
  return null;
end $$;

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function note_gateway_entries() set search_path = %I, pg_temp', current_schema());
end $$;

update gateway_entries g set at = t.at from ledger_transactions t where t.id = g.transaction_id;
alter table gateway_entries alter column at set not null;

create index gateway_entries_by_time on gateway_entries (gateway_id, at desc, transaction_id desc, account_id desc);
