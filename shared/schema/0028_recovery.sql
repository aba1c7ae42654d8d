-- Recovery: every way in which a database can come back older than the chains makes a new history, and dispatch waits, network by
-- network, until what the chains say of us is what the books say. What the books lost is adopted by an operator. Blocks are read again
-- on request.

create function database_history() returns text language sql stable as $$
  select concat_ws(' ', c.system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid, 'database_epochs'::regclass::oid,
    pg_relation_filenode('database_epochs'), extract(epoch from pg_postmaster_start_time()))
  from pg_control_system() c, pg_database d where d.datname = current_database() $$;
comment on function database_history() is 'Names where this database lives: cluster, timeline, database, the table database_epochs and its file, and since when the server runs, last. Whatever restores, copies, promotes or restarts it gives another name.';

alter table database_epochs
  add column history text,
  add column generation bigint not null default 0,
  add column noted_at timestamptz not null default now(),
  add column beat_at timestamptz not null default now();
comment on column database_epochs.system_identifier is 'The cluster, as Postgres names it, when every network was trusted last; asked by releases that know no histories.';
comment on column database_epochs.timeline is 'Its timeline, as in the names of its log files, at that time.';
comment on column database_epochs.history is 'What database_history() said when this history was noted.';
comment on column database_epochs.generation is 'Counts the histories; a network is dispatched on only while it is trusted in this one.';
comment on column database_epochs.noted_at is 'Service time at which this history was noted.';
comment on column database_epochs.beat_at is 'Database time at which a worker last found all as it was; older than a minute, this may be a copy that went back in time.';
update database_epochs set history = database_history(), generation = case when exists (select 1 from networks) then 1 else 0 end, noted_at = sluice_now();

alter table networks add column trusted_generation bigint not null default 0;
comment on column networks.trusted_generation is 'The history of the database in which the books were last found to match this chain; nothing is dispatched on it in any other.';

-- Books that are older than this may have been restored before, and nobody noticed.
select setval(name::regclass, pg_sequence_last_value(name::regclass) + 1000000)
from unnest(array['derivation_index_evm', 'derivation_index_tron', 'derivation_index_bitcoin']) as name
where exists (select 1 from networks) and pg_sequence_last_value(name::regclass) is not null;

create table adopted_transactions (
  network_id uuid not null references networks,
  txid text not null,
  purpose text not null check (purpose in ('settlement', 'refund', 'other')),
  settlement_id uuid unique references settlements,
  refund_id uuid unique references aml_refunds,
  reason text not null,
  adopted_at timestamptz not null default sluice_now(),
  primary key (network_id, txid),
  check ((purpose = 'settlement') = (settlement_id is not null)),
  check ((purpose = 'refund') = (refund_id is not null))
);
comment on table adopted_transactions is 'Append-only: transactions of ours whose signed bytes the database has lost, by the word of an operator. They are unknown no more, and what they paid is paid.';
comment on column adopted_transactions.network_id is 'The network.';
comment on column adopted_transactions.txid is 'Transaction id, final on the canonical chain when it was adopted.';
comment on column adopted_transactions.purpose is 'What it was: settlement paid a cashout, refund paid a refund; other moved coins between our own addresses, or is accepted as lost.';
comment on column adopted_transactions.settlement_id is 'The cashout it paid.';
comment on column adopted_transactions.refund_id is 'The refund it paid.';
comment on column adopted_transactions.reason is 'Why the operator says so.';
comment on column adopted_transactions.adopted_at is 'Service time.';
create index adopted_transactions_txid on adopted_transactions (txid);
create trigger adopted_transactions_append_only before update or delete on adopted_transactions for each row execute function refuse_change();

create table rescans (
  id uuid primary key,
  network_id uuid not null references networks,
  from_height bigint not null check (from_height >= 0),
  to_height bigint not null check (to_height >= from_height),
  reason text,
  next_height bigint not null,
  found bigint not null default 0,
  problem text,
  requested_at timestamptz not null default sluice_now(),
  finished_at timestamptz
);
comment on table rescans is 'Blocks that an operator has read again, and how far that is.';
comment on column rescans.id is 'Rescan id.';
comment on column rescans.network_id is 'The network.';
comment on column rescans.from_height is 'First block.';
comment on column rescans.to_height is 'Last block; a block that was applied when it was asked for.';
comment on column rescans.reason is 'Why, when the operator said.';
comment on column rescans.next_height is 'The next block to read; everything below it is in the books.';
comment on column rescans.found is 'Sightings that were new.';
comment on column rescans.problem is 'What holds it up; null while it goes on.';
comment on column rescans.requested_at is 'Service time.';
comment on column rescans.finished_at is 'Service time at which the last block was read; null before.';
create unique index rescans_open on rescans (network_id, from_height, to_height) where finished_at is null;
