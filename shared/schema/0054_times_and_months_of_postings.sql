-- The postings of a gateway by their time, so that those of long ago are listed without the later ones (decision 0066), and what they add up to by month, which is what
-- statements read (decision 0055). Whoever posts appends what it adds to a month, so that nobody waits for anybody; what was appended is added up a while later.
-- older builds: the triggers note what they post; nobody adds it up before a newer build does. Writers are kept out while earlier times and months are filled in.

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

create table gateway_months (
  gateway_id uuid not null,
  asset_id uuid not null,
  month date not null,
  kind text not null,
  account text not null,
  amount ledger_amount not null,
  entries bigint not null,
  folded boolean not null default false
);
comment on table gateway_months is 'Sums of the ledger entries of transactions that touch a gateway, its own accounts and those of the deployment: any number of rows may say the same, and their sum counts.';
comment on column gateway_months.gateway_id is 'The gateway whose accounts the transactions touch.';
comment on column gateway_months.asset_id is 'In which asset.';
comment on column gateway_months.month is 'First day of the month (UTC) of the transactions.';
comment on column gateway_months.kind is 'Which posting made them.';
comment on column gateway_months.account is 'Kind of the account, of the gateway or of the deployment.';
comment on column gateway_months.amount is 'What the account gained.';
comment on column gateway_months.entries is 'Of how many entries that is the sum.';
comment on column gateway_months.folded is 'False as it was appended; true once it was added up with others.';

create index gateway_months_gateway on gateway_months (gateway_id, month);
create index gateway_months_appended on gateway_months (gateway_id, month) where not folded;

create function sum_gateway_months() returns trigger language plpgsql security definer as $$
begin
  insert into gateway_months (gateway_id, asset_id, month, kind, account, amount, entries)
  select g.gateway_id, e.asset_id, date_trunc('month', t.at at time zone 'UTC')::date, t.kind, a.kind, sum(e.amount), count(*)
  from added e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id
    join (select distinct x.transaction_id, o.gateway_id from added x join ledger_accounts o on o.id = x.account_id where o.gateway_id is not null) g
      on g.transaction_id = e.transaction_id
  group by 1, 2, 3, 4, 5;
  return null;
end $$;
comment on function sum_gateway_months() is 'Trigger body: adds the entries just written to the months of their gateways.';

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function sum_gateway_months() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger ledger_entries_of_months after insert on ledger_entries referencing new table as added for each statement execute function sum_gateway_months();

-- The trigger keeps writers out until this is committed, so that each entry is in one sum.
insert into gateway_months (gateway_id, asset_id, month, kind, account, amount, entries, folded)
select g.gateway_id, e.asset_id, date_trunc('month', t.at at time zone 'UTC')::date, t.kind, a.kind, sum(e.amount), count(*), true
from ledger_entries e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id
  join (select distinct transaction_id, gateway_id from gateway_entries) g on g.transaction_id = e.transaction_id
group by 1, 2, 3, 4, 5;
