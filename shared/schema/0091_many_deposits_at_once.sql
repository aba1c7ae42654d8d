-- What many deposits of one block bring is noted by one statement instead of one for each: for 500 deposits the notes took 190 of 250 ms.
-- older builds: their statements fire the same triggers.

create function note_new_deposits() returns trigger language plpgsql security definer as $$
begin
  insert into audit_changes (subject, id) select distinct 'payment', a.payment_id from added a on conflict do nothing;
  insert into tallies (list, gateway_id, status, count)
  select 'deposits', p.gateway_id, a.state, count(*) from added a join payments p on p.id = a.payment_id group by 2, 3;
  -- Never a conflict that one would wait for: whoever pays two payments on two networks at once would have two consumers wait for each other.
  insert into payment_steps (payment_id, step, at)
  select a.payment_id, 'seen', min(a.first_seen_at) from added a
  where not exists (select 1 from payment_steps s where s.payment_id = a.payment_id and s.step = 'seen') group by 1;
  return null;
end $$;
comment on function note_new_deposits() is 'Trigger body: what new deposits change for the audit, for the list of deposits, and for the day on which something arrived for their payments.';

create function day_of_steps() returns trigger language plpgsql security definer as $$
begin
  insert into day_changes (gateway_id, sandbox, day, made_on, what, count)
  select p.gateway_id, p.sandbox, utc_day(a.at), utc_day(p.created_at), a.step, count(*) from added a join payments p on p.id = a.payment_id group by 1, 2, 3, 4, 5;
  return null;
end $$;
comment on function day_of_steps() is 'Trigger body: counts steps of payments on their days.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first. A connection keeps the plans of their
-- statements: one that was made while tables were short, or for a thousand deposits at once, would read all payments for each block.
do $$
declare
  body text;
begin
  foreach body in array array['note_new_deposits()', 'day_of_steps()'] loop
    execute format('alter function %s set search_path = %I, pg_temp', body, current_schema());
    execute format('alter function %s set enable_seqscan = off', body);
  end loop;
end $$;

drop trigger deposits_noted on deposits;
drop trigger deposits_seen on deposits;
drop trigger deposits_lying_new on deposits;
drop trigger deposits_tallied_new on deposits;
drop trigger payment_steps_by_day on payment_steps;
create trigger deposits_noted_new after insert on deposits referencing new table as added for each statement execute function note_new_deposits();
create trigger deposits_noted after update or delete on deposits for each row execute function note_change_of_payment_id('payment');
create trigger deposits_lying_new after insert on deposits for each row when (new.state = 'credited') execute function open_deposit();
create trigger deposits_lying_gone after delete on deposits for each row execute function open_deposit();
create trigger deposits_tallied_gone after delete on deposits for each row execute function tally_deposit();
create trigger payment_steps_by_day after insert on payment_steps referencing new table as added for each statement execute function day_of_steps();
drop function day_of_step();
