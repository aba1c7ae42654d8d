-- Coins that are outputs: several payers of one transaction, coins made in a block, and what waits to be mined.

alter table sightings add column co_senders text[], add column coinbase boolean not null default false;
comment on column sightings.co_senders is 'Everybody but the sender whose coins the transaction moves, canonical; null where there is nobody else.';
comment on column sightings.coinbase is 'The coins were made in this block and cannot move before it is 100 blocks deep.';
create index sightings_co_senders on sightings using gin (co_senders) where canonical and co_senders is not null;

alter table deposits add column co_senders text[], add column coinbase boolean not null default false;
comment on column deposits.co_senders is 'Everybody but the sender who paid it, canonical; screening asks about all of them. Null where there is nobody else.';
comment on column deposits.coinbase is 'Made in its block: credited only 100 blocks deep.';

create table mempool_snapshots (
  network_id uuid primary key references networks,
  epoch bigint not null,
  seq bigint not null,
  taken_at timestamptz not null,
  applied_at timestamptz not null default clock_timestamp()
);
comment on table mempool_snapshots is 'The last word of each network''s indexer on what waits to be mined; an older one is dropped.';
comment on column mempool_snapshots.network_id is 'The network.';
comment on column mempool_snapshots.epoch is 'Epoch of the indexer that said it.';
comment on column mempool_snapshots.seq is 'Counts within that epoch.';
comment on column mempool_snapshots.taken_at is 'Service time at which the node was asked.';
comment on column mempool_snapshots.applied_at is 'When it was applied, by the wall clock: nothing is believed to wait that nobody looked at for long.';

create table mempool_transactions (
  network_id uuid not null references networks,
  txid text not null,
  first_seen_at timestamptz not null,
  spends text[] not null,
  state text not null check (state in ('waiting', 'mined', 'replaced', 'gone')),
  replaced_by text,
  ended_at timestamptz,
  primary key (network_id, txid),
  check ((state = 'waiting') = (ended_at is null)),
  check ((state = 'replaced') = (replaced_by is not null))
);
comment on table mempool_transactions is 'Transactions to deposit addresses that wait to be mined, or did. Hints: they keep a payment open and its price locked, and credit nothing.';
comment on column mempool_transactions.network_id is 'The network.';
comment on column mempool_transactions.txid is 'Transaction id.';
comment on column mempool_transactions.first_seen_at is 'Service time the node was first known to have it.';
comment on column mempool_transactions.spends is 'Outputs it would spend, txid:vout; of two transactions with one in common only one can ever be mined.';
comment on column mempool_transactions.state is 'waiting; mined: in a canonical block; replaced: another one spends what it would; gone: the node has it no more, and nobody knows why.';
comment on column mempool_transactions.replaced_by is 'The transaction that took its place.';
comment on column mempool_transactions.ended_at is 'Service time from which it waited no more; null while it waits. Until the chain was read past this moment a block may hold it.';
create index mempool_transactions_spends on mempool_transactions using gin (spends);
create index mempool_transactions_ended on mempool_transactions (network_id, ended_at) where ended_at is not null;
create index mempool_transactions_waiting on mempool_transactions (network_id) where state = 'waiting';

create table mempool_deposits (
  network_id uuid not null,
  txid text not null,
  kind text not null check (kind in ('native', 'internal', 'token')),
  ordinal int not null,
  payment_id uuid not null references payments,
  address_id uuid not null references deposit_addresses,
  asset_id uuid not null references assets,
  raw_amount raw_units not null,
  amount unsigned_amount not null,
  first_seen_at timestamptz not null,
  primary key (network_id, txid, kind, ordinal),
  foreign key (network_id, txid) references mempool_transactions on delete cascade
);
comment on table mempool_deposits is 'What those transactions would bring to deposit addresses.';
comment on column mempool_deposits.network_id is 'The network.';
comment on column mempool_deposits.txid is 'Transaction id.';
comment on column mempool_deposits.kind is 'As of a deposit.';
comment on column mempool_deposits.ordinal is 'Position inside the transaction.';
comment on column mempool_deposits.payment_id is 'The payment that owns the address.';
comment on column mempool_deposits.address_id is 'The address it would arrive at.';
comment on column mempool_deposits.asset_id is 'The asset.';
comment on column mempool_deposits.raw_amount is 'Chain units.';
comment on column mempool_deposits.amount is 'The same in asset units.';
comment on column mempool_deposits.first_seen_at is 'When these coins were first seen on their way: earlier than the transaction itself where it replaced one that brought as much to the same address (decision 0017).';
create index mempool_deposits_payment on mempool_deposits (payment_id);
