-- What the platform bore for each gateway, by month, which is what operators look at (decision 0055). Whoever accrues appends what it adds, so that nobody waits for
-- anybody; what was appended is added up a while later. Cashouts leave empty accounts behind, so what a gateway has reserved is read from what its postings add up to.
-- older builds: the trigger notes what they accrue; nobody adds it up before a newer build does. Writers are kept out while earlier months are filled in.

create table expense_months (
  gateway_id uuid not null,
  month date not null,
  billing text not null,
  asset_id uuid not null,
  coins ledger_amount not null,
  usd ledger_amount not null,
  lines bigint not null,
  folded boolean not null default false
);
comment on table expense_months is 'Sums of the accruals of a gateway, month, billing and asset: any number of rows may say the same, and their sum counts.';
comment on column expense_months.gateway_id is 'The gateway whose arrangement it is.';
comment on column expense_months.month is 'First day of the month (UTC) in which they were booked.';
comment on column expense_months.billing is 'As in accruals.';
comment on column expense_months.asset_id is 'The asset the fees are in.';
comment on column expense_months.coins is 'What the platform bore, asset units.';
comment on column expense_months.usd is 'The same in US dollars.';
comment on column expense_months.lines is 'Of how many accruals that is the sum.';
comment on column expense_months.folded is 'False as it was appended; true once it was added up with others.';

create index expense_months_gateway on expense_months (gateway_id, month);
create index expense_months_month on expense_months (month);
create index expense_months_appended on expense_months (gateway_id, month) where not folded;

create index gateway_months_reserved on gateway_months (gateway_id) where account = 'reserved';

create function sum_expense_months() returns trigger language plpgsql security definer as $$
begin
  insert into expense_months (gateway_id, month, billing, asset_id, coins, usd, lines)
  select gateway_id, date_trunc('month', at at time zone 'UTC')::date, billing, asset_id, sum(coins), sum(usd), count(*) from added group by 1, 2, 3, 4;
  return null;
end $$;
comment on function sum_expense_months() is 'Trigger body: adds the accruals just written to the months of their gateways.';

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function sum_expense_months() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger accruals_of_months after insert on accruals referencing new table as added for each statement execute function sum_expense_months();

-- The trigger keeps writers out until this is committed, so that each accrual is in one sum.
insert into expense_months (gateway_id, month, billing, asset_id, coins, usd, lines, folded)
select gateway_id, date_trunc('month', at at time zone 'UTC')::date, billing, asset_id, sum(coins), sum(usd), count(*), true from accruals group by 1, 2, 3, 4;
