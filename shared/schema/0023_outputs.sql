-- Families whose coins are outputs (Bitcoin): which outputs of ours were spent by what, which of them a payout has taken, and
-- the one output that all attempts of a payout spend.

create table spent_outputs (
  sighting_id bigint not null references sightings,
  txid text not null,
  vout int not null check (vout >= 0),
  primary key (sighting_id, txid, vout)
);
comment on table spent_outputs is 'Append-only: outputs at watched addresses that a sent transaction spends. Spent where that sighting is canonical; there again when a fork orphans it.';
comment on column spent_outputs.sighting_id is 'The sighting, of kind sent, of the transaction that spends it.';
comment on column spent_outputs.txid is 'Transaction that made the output.';
comment on column spent_outputs.vout is 'Its position there; the ordinal of the sighting of its transfer.';
create index spent_outputs_output on spent_outputs (txid, vout);
create trigger spent_outputs_append_only before update or delete on spent_outputs for each row execute function refuse_change();

create table output_locks (
  id bigint generated always as identity primary key,
  network_id uuid not null references networks,
  txid text not null,
  vout int not null check (vout >= 0),
  payout_id uuid not null references payouts,
  locked_at timestamptz not null default sluice_now(),
  released_at timestamptz
);
comment on table output_locks is 'Outputs of ours that a payout has taken; no other payout may spend them while the lock lives. What was mined keeps its locks for ever.';
comment on column output_locks.id is 'Order.';
comment on column output_locks.network_id is 'The network.';
comment on column output_locks.txid is 'Transaction that made the output.';
comment on column output_locks.vout is 'Its position there.';
comment on column output_locks.payout_id is 'The payout that took it.';
comment on column output_locks.locked_at is 'Service time.';
comment on column output_locks.released_at is 'When nothing of that payout could spend it any more: given up unsigned, or another of its attempts is final. Null while the lock lives.';
create unique index output_locks_live on output_locks (network_id, txid, vout) where released_at is null;
create index output_locks_payout on output_locks (payout_id);

alter table payouts add column anchor text check (anchor is null or (nonce is null and anchor ~ '^[0-9a-f]{64}:(0|[1-9][0-9]{0,9})$'));
comment on column payouts.anchor is 'The output (txid:vout) that every attempt spends first, so that only one of them can ever be mined; null on families whose coins are balances.';
create unique index payouts_one_per_anchor on payouts (network_id, anchor) where anchor is not null and status <> 'CANCELLED';
