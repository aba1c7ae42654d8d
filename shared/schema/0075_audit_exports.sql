-- The record of acts as a file that can be verified by itself (decision 0063).
-- older builds: give up an export of the kind audit, since they have no such list.

alter table exports drop constraint exports_kind_check;
alter table exports add constraint exports_kind_check check (kind in ('payments', 'settlements', 'ledger', 'credits', 'audit'));

create function console_action_content(a console_actions) returns text language sql stable as
  $$ select jsonb_build_array(a.previous, a.seq, extract(epoch from a.at), a.actor_kind, a.actor, a.person_id, a.gateway_id, a.act, a.target,
    a.before, a.after, a.reason, a.address)::text $$;
comment on function console_action_content(console_actions) is 'The text whose SHA-256 is the hash of a row: what console_action_hash computes it over.';
