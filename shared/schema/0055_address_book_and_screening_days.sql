-- The address book becomes one that a merchant keeps: entries are made, named and hidden by hand, and tell what was sent to them (decision 0067). And how many screening
-- credits a gateway spends a day, so that it sees when they will be used up.
-- older builds: make entries with cashouts as they always did, and show none. Cashouts and screenings wait while what was before is added up and the indexes are built.

alter table address_book add column name text;
alter table address_book add column added_at timestamptz;
alter table address_book add column added_by text;
alter table address_book add column changed_at timestamptz;
alter table address_book add column changed_by text;
alter table address_book add column hidden_at timestamptz;
comment on table address_book is 'Destinations of a gateway: stored when a cashout first names them (contract 4.3), or entered by hand. Being in it allows nothing (decision 0067).';
comment on column address_book.label is 'Name given when it was stored, or `api-` and random letters; cashouts show it, and nobody changes it.';
comment on column address_book.name is 'What the book calls it since somebody entered or renamed it; null for what a cashout called it.';
comment on column address_book.tag is 'Where it came from: API (a cashout) or BOOK (by hand).';
comment on column address_book.created_at is 'When it was stored.';
comment on column address_book.added_at is 'Service time when it was entered by hand, the last time; null for one that only a cashout brought.';
comment on column address_book.added_by is 'API key that entered it then.';
comment on column address_book.changed_at is 'Service time when it was last renamed or hidden.';
comment on column address_book.changed_by is 'API key that did it.';
comment on column address_book.hidden_at is 'Service time from which the book does not show it; null while it does.';
create index address_book_shown on address_book (gateway_id, created_at desc, id desc) where hidden_at is null;
create index address_book_by_hand on address_book (gateway_id, hidden_at) where added_at is not null;

create table address_uses (
  address_id uuid not null references address_book,
  asset_id uuid not null references assets,
  cashouts bigint not null,
  sent ledger_amount not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  folded boolean not null default false
);
comment on table address_uses is 'What cashouts sent to entries of address books: any number of rows may be of the same entry and asset, and their sum counts (decision 0055).';
comment on column address_uses.address_id is 'The entry.';
comment on column address_uses.asset_id is 'What was sent.';
comment on column address_uses.cashouts is 'How many cashouts sent it.';
comment on column address_uses.sent is 'How much arrived.';
comment on column address_uses.first_at is 'Service time when the first of them was settled.';
comment on column address_uses.last_at is 'Service time when the last of them was settled.';
comment on column address_uses.folded is 'False as it was appended; true once it was added up with others.';
create index address_uses_address on address_uses (address_id, asset_id);
create index address_uses_appended on address_uses (address_id) where not folded;

create function note_address_use() returns trigger language plpgsql security definer as $$
begin
  insert into address_uses (address_id, asset_id, cashouts, sent, first_at, last_at)
  values (new.address_id, new.asset_id, 1, new.received_amount, coalesce(new.settled_at, sluice_now()), coalesce(new.settled_at, sluice_now()));
  return null;
end $$;
comment on function note_address_use() is 'Trigger body: notes at its address what a cashout sent there.';

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function note_address_use() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger settlements_used_address after update on settlements for each row
  when (new.status = 'SETTLED' and old.status <> 'SETTLED') execute function note_address_use();

-- The trigger keeps writers out until this is committed, so that each cashout is in one sum.
insert into address_uses (address_id, asset_id, cashouts, sent, first_at, last_at, folded)
select address_id, asset_id, count(*), sum(received_amount), min(settled_at), max(settled_at), true from settlements where status = 'SETTLED' group by 1, 2;

create table screening_days (
  gateway_id uuid not null references gateways,
  day date not null,
  checks bigint not null,
  primary key (gateway_id, day)
);
comment on table screening_days is 'Screening credits that were spent a day, less those that came back; kept for some weeks. A trigger writes it.';
comment on column screening_days.gateway_id is 'Whose credits.';
comment on column screening_days.day is 'Day (UTC) of service time.';
comment on column screening_days.checks is 'Credits; below zero on a day on which more came back than were spent.';
create index screening_days_day on screening_days (day);

-- Granted less left is what is held or spent. Whoever moves a credit holds the row of its gateway, so that nobody else waits for the day.
create function count_screening_day() returns trigger language plpgsql security definer as $$
begin
  insert into screening_days as d (gateway_id, day, checks)
  values (new.gateway_id, (sluice_now() at time zone 'UTC')::date, (new.granted - new.credits) - (old.granted - old.credits))
  on conflict (gateway_id, day) do update set checks = d.checks + excluded.checks;
  return null;
end $$;
comment on function count_screening_day() is 'Trigger body: adds the credits just spent or given back to the day.';

-- It runs with its owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function count_screening_day() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger screening_credits_spent after update on screening_credits for each row
  when (new.granted - new.credits <> old.granted - old.credits) execute function count_screening_day();

-- The trigger keeps writers out until this is committed, so that each credit is counted once.
insert into screening_days (gateway_id, day, checks)
select gateway_id, (asked_at at time zone 'UTC')::date, count(*) from screenings where credit and asked_at > sluice_now() - interval '60 days' group by 1, 2;
