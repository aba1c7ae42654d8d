-- What happened to the payments of each gateway on each day, kept as sums (decision 0068). Whoever writes a row appends what it changes of them, so that nobody waits for
-- anybody; every ten seconds what was appended is added up.
-- older builds: append all the same, by the triggers, and note no payment as opened; they read none of it.

create table payment_steps (
  payment_id uuid not null,
  step text not null check (step in ('opened', 'chosen', 'seen', 'paid')),
  at timestamptz not null
);
create index payment_steps_payment on payment_steps (payment_id, step);
comment on table payment_steps is 'How far a payment came: the first time of each step. Two that happen at the same moment may both be noted: nobody waits for anybody here.';
comment on column payment_steps.payment_id is 'The payment; no reference, so that a note neither locks it nor waits for who does: expiry passes over what is locked.';
comment on column payment_steps.step is 'opened: its page or its public object was read; chosen: a coin was chosen; seen: something arrived; paid: it became SUCCESS.';
comment on column payment_steps.at is 'Service time of the first time.';

create table day_changes (
  gateway_id uuid not null,
  sandbox boolean not null,
  day date not null,
  made_on date not null,
  what text not null,
  asset_id uuid,
  count bigint not null,
  amount ledger_amount not null default 0,
  usd ledger_amount not null default 0
);
comment on table day_changes is 'Changes of day_figures that are not added up yet.';
comment on column day_changes.gateway_id is 'Whose payments.';
comment on column day_changes.sandbox is 'Whether they are simulated.';
comment on column day_changes.day is 'The day (UTC, service time) on which it happened.';
comment on column day_changes.made_on is 'The day on which those payments were created.';
comment on column day_changes.what is 'created, a step of payment_steps, or received.';
comment on column day_changes.asset_id is 'What was received; null of anything else.';
comment on column day_changes.count is 'How many payments more, or fewer.';
comment on column day_changes.amount is 'How much of the asset more, or less; 0 unless received.';
comment on column day_changes.usd is 'Its worth in US dollars at that moment.';
create index day_changes_gateway on day_changes (gateway_id);

create table day_figures (
  gateway_id uuid not null,
  sandbox boolean not null,
  day date not null,
  made_on date not null,
  what text not null,
  asset_id uuid,
  count bigint not null,
  amount ledger_amount not null,
  usd ledger_amount not null,
  constraint day_figures_one unique nulls not distinct (gateway_id, sandbox, day, made_on, what, asset_id)
);
comment on table day_figures is 'What happened to the payments of each gateway on each day: together with day_changes the sum of all that ever did.';
comment on column day_figures.gateway_id is 'Whose payments.';
comment on column day_figures.sandbox is 'Whether they are simulated.';
comment on column day_figures.day is 'The day (UTC, service time) on which it happened.';
comment on column day_figures.made_on is 'The day on which those payments were created.';
comment on column day_figures.what is 'created, a step of payment_steps, or received.';
comment on column day_figures.asset_id is 'What was received; null of anything else.';
comment on column day_figures.count is 'How many payments.';
comment on column day_figures.amount is 'How much of the asset; 0 unless received.';
comment on column day_figures.usd is 'Its worth in US dollars at those moments.';
create index day_figures_made on day_figures (gateway_id, sandbox, made_on);

create function utc_day(at timestamptz) returns date language sql immutable return (at at time zone 'UTC')::date;
comment on function utc_day(timestamptz) is 'The day in UTC that a moment belongs to.';

create function day_of_payment() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    insert into day_changes (gateway_id, sandbox, day, made_on, what, count) values (new.gateway_id, new.sandbox, utc_day(new.created_at), utc_day(new.created_at), 'created', 1);
  end if;
  if tg_op = 'UPDATE' and old.received_asset_id is not null then
    insert into day_changes (gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd)
    values (old.gateway_id, old.sandbox, utc_day(coalesce(old.resolved_at, old.created_at)), utc_day(old.created_at), 'received', old.received_asset_id, -1,
      -coalesce(old.received_amount, 0), -coalesce(old.received_amount_usd, 0));
  end if;
  if new.received_asset_id is not null then
    insert into day_changes (gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd)
    values (new.gateway_id, new.sandbox, utc_day(coalesce(new.resolved_at, new.created_at)), utc_day(new.created_at), 'received', new.received_asset_id, 1,
      coalesce(new.received_amount, 0), coalesce(new.received_amount_usd, 0));
  end if;
  return null;
end $$;
comment on function day_of_payment() is 'Trigger body: counts a payment on the day it was made, and what it received on the day it came to rest.';

create function day_of_step() returns trigger language plpgsql security definer as $$
begin
  insert into day_changes (gateway_id, sandbox, day, made_on, what, count)
  select gateway_id, sandbox, utc_day(new.at), utc_day(created_at), new.step, 1 from payments where id = new.payment_id;
  return null;
end $$;
comment on function day_of_step() is 'Trigger body: counts a step of a payment on its day.';

create function note_step(payment uuid, which text, moment timestamptz) returns void language sql security definer as $$
  -- Never a conflict that one would wait for: whoever pays two payments on two networks at once would have two consumers wait for each other.
  insert into payment_steps (payment_id, step, at) select payment, which, moment where not exists (select 1 from payment_steps where payment_id = payment and step = which);
$$;
comment on function note_step(uuid, text, timestamptz) is 'Notes a step of a payment, unless it was noted.';

create function step_paid() returns trigger language plpgsql security definer as $$
begin
  perform note_step(new.id, 'paid', coalesce(new.resolved_at, sluice_now()));
  return null;
end $$;
comment on function step_paid() is 'Trigger body: notes that a payment became SUCCESS.';

create function step_chosen() returns trigger language plpgsql security definer as $$
begin
  perform note_step(new.payment_id, 'chosen', new.selected_at);
  return null;
end $$;
comment on function step_chosen() is 'Trigger body: notes that a coin was chosen.';

create function step_seen() returns trigger language plpgsql security definer as $$
begin
  perform note_step(new.payment_id, 'seen', new.first_seen_at);
  return null;
end $$;
comment on function step_seen() is 'Trigger body: notes that something arrived for a payment.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
declare
  body regprocedure;
begin
  for body in select p.oid from pg_proc p where p.pronamespace = current_schema()::regnamespace and (p.proname like 'day\_of\_%' or p.proname like 'step\_%' or p.proname = 'note_step') loop
    execute format('alter function %s set search_path = %I, pg_temp', body, current_schema());
  end loop;
end $$;

create trigger payments_by_day_new after insert on payments for each row execute function day_of_payment();
create trigger payments_by_day after update on payments for each row
  when ((old.received_asset_id, old.received_amount, old.received_amount_usd, old.resolved_at) is distinct from
    (new.received_asset_id, new.received_amount, new.received_amount_usd, new.resolved_at)) execute function day_of_payment();
create trigger payments_paid after update on payments for each row when (new.status = 'SUCCESS' and old.status <> 'SUCCESS') execute function step_paid();
create trigger payment_offers_chosen after update on payment_offers for each row when (old.selected_at is null and new.selected_at is not null) execute function step_chosen();
create trigger deposits_seen after insert on deposits for each row execute function step_seen();
create trigger sandbox_deposits_seen after insert on sandbox_deposits for each row execute function step_seen();

-- The triggers keep writers out until this is committed, so that each row is counted once. Nobody noted what was opened before.
insert into payment_steps (payment_id, step, at) select payment_id, 'chosen', min(selected_at) from payment_offers where selected_at is not null group by 1;
insert into payment_steps (payment_id, step, at)
select payment_id, 'seen', min(first_seen_at) from (select payment_id, first_seen_at from deposits union all select payment_id, first_seen_at from sandbox_deposits) d group by 1;
insert into payment_steps (payment_id, step, at) select id, 'paid', coalesce(resolved_at, created_at) from payments where status = 'SUCCESS';
insert into day_figures (gateway_id, sandbox, day, made_on, what, count, amount, usd)
select gateway_id, sandbox, utc_day(created_at), utc_day(created_at), 'created', count(*), 0, 0 from payments group by 1, 2, 3
union all
select p.gateway_id, p.sandbox, utc_day(s.at), utc_day(p.created_at), s.step, count(*), 0, 0 from payment_steps s join payments p on p.id = s.payment_id group by 1, 2, 3, 4, 5;
insert into day_figures (gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd)
select gateway_id, sandbox, utc_day(coalesce(resolved_at, created_at)), utc_day(created_at), 'received', received_asset_id, count(*), coalesce(sum(received_amount), 0),
  coalesce(sum(received_amount_usd), 0)
from payments where received_asset_id is not null group by 1, 2, 3, 4, 6;

create trigger payment_steps_by_day after insert on payment_steps for each row execute function day_of_step();
