-- A flood shrinks: what an indexer reads is remembered, so that the next life reads less of it, and thousands of transfers of one asset to
-- one address in one block are one row, whose parts lie packed beside it (decision 0030).

alter table indexer_leases
  add column reading jsonb,
  add column rereading jsonb;
comment on column indexer_leases.reading is 'What is being read: {from, to, deaths, by}, written before it is read. Still there under another holder, it is what that process ended on; deaths counts the lives that did. Null before the first reading, and after a stop in good order.';
comment on column indexer_leases.rereading is 'The same of blocks that an operator has read again.';
comment on table indexer_leases is 'Who may write a network''s stream and what it is reading; the only table an indexer writes.';

create table transfer_sums (
  network_id uuid not null references networks,
  block_hash text not null,
  txid text not null,
  kind text not null check (kind in ('native', 'internal', 'token')),
  ordinal int not null,
  height bigint not null,
  txids text[] not null,
  positions int[] not null,
  ordinals int[] not null,
  senders text[] not null,
  raw_amounts numeric(78, 0)[] not null,
  primary key (network_id, block_hash, txid, kind, ordinal),
  check (cardinality(txids) > 1 and cardinality(positions) = cardinality(txids) and cardinality(ordinals) = cardinality(txids)
    and cardinality(senders) = cardinality(txids) and cardinality(raw_amounts) = cardinality(txids))
);
comment on table transfer_sums is 'The parts of a sighting that stands for many transfers of one asset to one address in one block, and of its deposit; both are named after the first part. A reorganisation, or somebody who claims one of them, takes it apart again: then its parts are rows like any other.';
comment on column transfer_sums.network_id is 'The network.';
comment on column transfer_sums.block_hash is 'The block.';
comment on column transfer_sums.txid is 'Transaction of the first part.';
comment on column transfer_sums.kind is 'Kind of all parts.';
comment on column transfer_sums.ordinal is 'Position of the first part inside its transaction.';
comment on column transfer_sums.height is 'Height of the block.';
comment on column transfer_sums.txids is 'Transaction of each part, in chain order; the other lists are in the same order.';
comment on column transfer_sums.positions is 'Position of that transaction in the block.';
comment on column transfer_sums.ordinals is 'Position of the part inside that transaction.';
comment on column transfer_sums.senders is 'Who sent the part.';
comment on column transfer_sums.raw_amounts is 'Chain units of the part; their sum is the sighting''s.';
create index transfer_sums_txids on transfer_sums using gin (txids);
create index transfer_sums_height on transfer_sums (network_id, height);

alter table sightings add column parts int;
comment on column sightings.parts is 'How many transfers it stands for, which transfer_sums lists; null for one.';
alter table deposits add column parts int;
comment on column deposits.parts is 'How many transfers it stands for, as of its sighting; null for one.';

create function refuse_summed_part() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from transfer_sums s
    where s.network_id = new.network_id and s.block_hash = new.block_hash and s.kind = new.kind and s.txids @> array[new.txid] and (s.txid, s.ordinal) <> (new.txid, new.ordinal)
      and exists (select 1 from unnest(s.txids, s.ordinals) p (txid, ordinal) where p.txid = new.txid and p.ordinal = new.ordinal))
  then return null; end if;
  return new;
end $$;
comment on function refuse_summed_part() is 'Leaves out a transfer that is stored as part of a sum: builds that know of no sums would store it, and credit it, a second time.';
create trigger sightings_unsummed before insert on sightings for each row when (new.kind <> 'sent') execute function refuse_summed_part();
