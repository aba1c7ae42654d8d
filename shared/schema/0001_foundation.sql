-- Domains that refuse what numeric would quietly accept (NaN, Infinity, a rounded 19th decimal), and the service clock.

create domain ledger_amount as numeric
  check (value <> 'NaN' and value > -1e60 and value < 1e60 and value = round(value, 18));
comment on domain ledger_amount is 'Signed money with at most 18 decimals: what numeric(78,18) holds, except that excess decimals, NaN and Infinity are refused instead of rounded.';

create domain unsigned_amount as numeric
  check (value <> 'NaN' and value >= 0 and value < 1e60 and value = round(value, 18));
comment on domain unsigned_amount is 'Money that can never be below zero.';

create domain raw_units as numeric
  check (value <> 'NaN' and value >= 0 and value < 1.2e77 and value = trunc(value));
comment on domain raw_units is 'Chain integer units: what numeric(78,0) holds, wide enough for a spam token''s uint256.';

create table clock_offset (
  only_row boolean primary key default true check (only_row),
  seconds bigint not null default 0
);
comment on table clock_offset is 'One row: how far the service clock runs ahead of the database clock. 0 in production; development moves it to see deadlines pass.';
comment on column clock_offset.only_row is 'Keeps the table at one row.';
comment on column clock_offset.seconds is 'Seconds added to the database clock.';
insert into clock_offset default values;

create function sluice_now() returns timestamptz language sql stable as
  $$ select now() + make_interval(secs => (select seconds from clock_offset)) $$;
comment on function sluice_now() is 'The service time: the transaction time plus the clock offset. Every deadline is compared with it.';

create function refuse_change() returns trigger language plpgsql as
  $$ begin raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation'; end $$;
comment on function refuse_change() is 'Trigger body of every append-only table: corrections are new rows.';

create table freezes (
  scope text primary key,
  reason text not null,
  frozen_at timestamptz not null default now()
);
comment on table freezes is 'What must not be dispatched: a row stops outgoing transfers until an operator removes it.';
comment on column freezes.scope is '`all`, `network:<name>` or `asset:<uuid>`.';
comment on column freezes.reason is 'Why, for the operator.';
comment on column freezes.frozen_at is 'When it was set, by the database clock.';

create table operator_actions (
  id bigint generated always as identity primary key,
  action text not null,
  target text not null,
  reason text,
  details jsonb not null default '{}',
  at timestamptz not null default now()
);
comment on table operator_actions is 'Append-only audit log of every change an operator made.';
comment on column operator_actions.id is 'Order of the actions.';
comment on column operator_actions.action is 'What was done, as noun.verb: gateway.create.';
comment on column operator_actions.target is 'Id of the row it was done to.';
comment on column operator_actions.reason is 'The reason given; required where money moves.';
comment on column operator_actions.details is 'The change itself, without secrets.';
comment on column operator_actions.at is 'When, by the database clock.';
create trigger operator_actions_append_only before update or delete on operator_actions for each row execute function refuse_change();
