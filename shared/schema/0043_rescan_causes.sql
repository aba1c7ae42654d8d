-- Blocks that were read by the logs of two providers first are read completely after that (decision 0053).
-- older builds: neither write nor read the column, and serve such a rescan as any other.

alter table rescans add column cause text not null default 'operator' check (cause in ('operator', 'logs'));
comment on column rescans.cause is 'Why: `operator` asked for it, or these blocks were read by `logs` first, which tell of tokens alone.';

create function logs_suffice(network uuid) returns boolean language sql stable security definer set search_path from current as $$
  select exists (
      select 1 from networks n join database_epochs e on e.generation = n.trusted_generation
      where n.id = network and e.history = database_history() and e.beat_at > clock_timestamp() - interval '1 minute')
    and not exists (select 1 from payouts p where p.network_id = network and p.status not in ('CONFIRMED', 'FAILED', 'CANCELLED'))
    and not exists (
      select 1 from payments p join payment_offers o on o.payment_id = p.id join assets a on a.id = o.asset_id
      where p.status = 'PENDING' and a.network_id = network and a.contract is null) $$;
comment on function logs_suffice(uuid) is 'Whether nothing but tokens is waited for on a network: no transaction of ours is open, no open payment may be paid in its native coin, and the books are trusted. Runs with the rights of its owner, so that an indexer learns that and nothing else of payments and payouts.';
