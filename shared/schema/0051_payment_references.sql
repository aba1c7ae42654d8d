-- By what a merchant knows a payment: the values of callbackParams and webhookParams, found by an index of their gateway (decision 0065).
-- older builds: the trigger keeps the values of what they create; they search for none.

create table payment_references (
  gateway_id uuid not null,
  digest uuid not null,
  created_at timestamptz not null,
  payment_id uuid not null,
  primary key (gateway_id, digest, created_at, payment_id)
);
comment on table payment_references is 'Which payments a gateway stored a value with: an order number, a customer. A trigger writes it when a payment is made.';
comment on column payment_references.gateway_id is 'Whose payment: first in the key, so that nobody meets the rows of another.';
comment on column payment_references.digest is 'First 16 bytes of the SHA-256 of the value as UTF-8: no id, but stored and compared like one.';
comment on column payment_references.created_at is 'When the payment was made: those that share a value are read newest first.';
comment on column payment_references.payment_id is 'The payment.';

create function reference_digests(document jsonb) returns setof uuid language sql stable as $$
  select encode(substr(sha256(convert_to(v.value #>> '{}', 'UTF8')), 1, 16), 'hex')::uuid from (
    select value from jsonb_each(case jsonb_typeof(document) when 'object' then document else '{}' end)
    where case jsonb_typeof(value)
      when 'string' then char_length(value #>> '{}') between 1 and 255
      when 'number' then abs(value::numeric) < 1e18 and scale(value::numeric) = 0
      else false end
    limit 16) v
$$;
comment on function reference_digests(jsonb) is 'What the first 16 texts and whole numbers of an object are found by. A number is never written out before it is known to be short.';

create function note_references() returns trigger language plpgsql security definer as $$
begin
  insert into payment_references (gateway_id, digest, created_at, payment_id)
  select new.gateway_id, digest, new.created_at, new.id
  from (select reference_digests(new.callback_params) union select reference_digests(new.webhook_params)) as found (digest)
  on conflict do nothing;
  return null;
end $$;
comment on function note_references() is 'Trigger body: notes by which values a new payment is found.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function note_references() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger payments_referenced after insert on payments for each row
  when (new.callback_params is not null or new.webhook_params is not null) execute function note_references();

-- The trigger keeps writers out until this is committed, so that no payment is missed.
insert into payment_references (gateway_id, digest, created_at, payment_id)
select distinct p.gateway_id, d.digest, p.created_at, p.id
from payments p cross join lateral (select reference_digests(p.callback_params) union select reference_digests(p.webhook_params)) as d (digest)
where p.callback_params is not null or p.webhook_params is not null;
