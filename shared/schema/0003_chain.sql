-- What the chain said: leases, the tip, watched addresses and sightings.

create table indexer_leases (
  network_id uuid primary key references networks,
  holder text not null,
  epoch bigint not null,
  expires_at timestamptz not null,
  published_height bigint,
  caught_up_at timestamptz
);
comment on table indexer_leases is 'Who may write a network''s stream; the only table an indexer writes.';
comment on column indexer_leases.network_id is 'The network.';
comment on column indexer_leases.holder is 'Id of the process that holds it.';
comment on column indexer_leases.epoch is 'Fencing number: grows at each takeover or rewind, and a message of an older one is dropped.';
comment on column indexer_leases.expires_at is 'Wall-clock end of the lease unless renewed.';
comment on column indexer_leases.published_height is 'Highest block published under this epoch.';
comment on column indexer_leases.caught_up_at is 'Latest service time at which the published block was the chain''s head; a payment expires only after its network passed its deadline (decisions 4).';

create table consumer_leases (
  network_id uuid primary key references networks,
  holder text not null,
  fence bigint not null,
  expires_at timestamptz not null
);
comment on table consumer_leases is 'Which worker applies a network''s stream; one at a time.';
comment on column consumer_leases.network_id is 'The network.';
comment on column consumer_leases.holder is 'Id of the worker.';
comment on column consumer_leases.fence is 'Grows at each takeover; checked in the transaction that applies a message.';
comment on column consumer_leases.expires_at is 'Wall-clock end of the lease unless renewed.';

create table chain_tips (
  network_id uuid primary key references networks,
  height bigint not null,
  hash text not null,
  block_time timestamptz not null,
  safe_height bigint not null,
  final_height bigint not null,
  head_height bigint not null,
  epoch bigint not null,
  seq bigint not null,
  applied_at timestamptz not null default now()
);
comment on table chain_tips is 'The last block applied per network: the only cursor there is (architecture 3.3).';
comment on column chain_tips.network_id is 'The network.';
comment on column chain_tips.height is 'Height of the tip.';
comment on column chain_tips.hash is 'Hash of the tip; the next message''s parent must equal it.';
comment on column chain_tips.block_time is 'Block time of the tip.';
comment on column chain_tips.safe_height is 'Highest block the node called safe.';
comment on column chain_tips.final_height is 'Highest block the node called final; never moves back.';
comment on column chain_tips.head_height is 'Highest block the node knew of.';
comment on column chain_tips.epoch is 'Epoch of the last applied message.';
comment on column chain_tips.seq is 'Sequence of the last applied message in that epoch.';
comment on column chain_tips.applied_at is 'When it was applied, by the database clock.';

create table chain_blocks (
  network_id uuid not null references networks,
  height bigint not null,
  hash text not null,
  parent_hash text not null,
  block_time timestamptz not null,
  canonical boolean not null,
  primary key (network_id, hash)
);
comment on table chain_blocks is 'Blocks applied, kept for twice the finality depth, so that a fork can be joined to a stored ancestor.';
comment on column chain_blocks.network_id is 'The network.';
comment on column chain_blocks.height is 'Height.';
comment on column chain_blocks.hash is 'Hash.';
comment on column chain_blocks.parent_hash is 'Hash of the block before it.';
comment on column chain_blocks.block_time is 'Block time.';
comment on column chain_blocks.canonical is 'False once a reorganisation replaced it.';
create index chain_blocks_height on chain_blocks (network_id, height) where canonical;

create table rewind_requests (
  id bigint generated always as identity primary key,
  network_id uuid not null references networks,
  epoch bigint not null,
  reason text not null,
  from_height bigint,
  to_height bigint,
  created_at timestamptz not null default now()
);
comment on table rewind_requests is 'Requests to an indexer to start again from the tip; answered by any epoch above the one named.';
comment on column rewind_requests.id is 'Order.';
comment on column rewind_requests.network_id is 'The network.';
comment on column rewind_requests.epoch is 'The epoch that must be superseded.';
comment on column rewind_requests.reason is 'What did not fit, or who asked.';
comment on column rewind_requests.from_height is 'First block of an operator''s rescan; null for a plain rewind to the tip.';
comment on column rewind_requests.to_height is 'Last block of an operator''s rescan.';
comment on column rewind_requests.created_at is 'When, by the database clock.';
create index rewind_requests_network on rewind_requests (network_id, epoch desc);

create table parked_messages (
  id bigint generated always as identity primary key,
  network_id uuid not null references networks,
  stream_id text not null,
  reason text not null,
  payload text not null,
  parked_at timestamptz not null default now(),
  unique (network_id, stream_id)
);
comment on table parked_messages is 'Stream messages that were refused (forged or unreadable) and set aside so that the stream goes on; the newest thousand per network.';
comment on column parked_messages.id is 'Order.';
comment on column parked_messages.network_id is 'The network whose stream it was on.';
comment on column parked_messages.stream_id is 'Its id on the stream.';
comment on column parked_messages.reason is 'Why it was refused.';
comment on column parked_messages.payload is 'The beginning of what it said, for the operator.';
comment on column parked_messages.parked_at is 'When, by the database clock.';

create table wallets (
  id uuid primary key,
  network_id uuid not null references networks,
  role text not null check (role in ('hot', 'funding', 'held', 'deposit')),
  address text not null,
  derivation_path text not null,
  next_nonce bigint not null default 0,
  halted_reason text,
  created_at timestamptz not null default now(),
  unique (network_id, address)
);
comment on table wallets is 'Addresses of ours that sign transactions. A deposit address gets a row when its first sweep is planned.';
comment on column wallets.id is 'Wallet id.';
comment on column wallets.network_id is 'The network; the same address on another network is another wallet.';
comment on column wallets.role is 'hot pays cashouts, funding pays gas, held keeps flagged coins apart, deposit belongs to one payment.';
comment on column wallets.address is 'Canonical address.';
comment on column wallets.derivation_path is 'Path below the signer''s seed.';
comment on column wallets.next_nonce is 'The next nonce to allocate; only moves under this row''s lock.';
comment on column wallets.halted_reason is 'Why nothing may be sent from it (a transaction the books do not know); null while it works.';
comment on column wallets.created_at is 'When it was first known.';

create sequence derivation_index_evm minvalue 0 start 0;
create sequence derivation_index_tron minvalue 0 start 0;
create sequence derivation_index_bitcoin minvalue 0 start 0;
comment on sequence derivation_index_evm is 'Next deposit address below the EVM account xpub, shared by all EVM networks; gaps are fine, reuse never happens.';
comment on sequence derivation_index_tron is 'Next deposit address below the TRON account xpub.';
comment on sequence derivation_index_bitcoin is 'Next deposit address below the Bitcoin account xpub.';

create table watches (
  network_id uuid not null references networks,
  address text not null,
  acked_epoch bigint,
  watched_from bigint,
  created_at timestamptz not null default now(),
  watch_until timestamptz,
  primary key (network_id, address)
);
comment on table watches is 'Addresses an indexer must match on its network, at both ends of a transfer. An address is shown to a payer only once acknowledged (decisions 9).';
comment on column watches.network_id is 'The network.';
comment on column watches.address is 'Canonical address.';
comment on column watches.acked_epoch is 'Epoch of the indexer that said it watches it; null until then.';
comment on column watches.watched_from is 'First block from which it is matched.';
comment on column watches.created_at is 'When it was requested.';
comment on column watches.watch_until is 'When it may be dropped (90 days after its payment); null for wallets.';
create index watches_unacked on watches (network_id) where acked_epoch is null;

create table sightings (
  id bigint generated always as identity primary key,
  network_id uuid not null references networks,
  kind text not null check (kind in ('native', 'token', 'sent')),
  txid text not null,
  ordinal int not null,
  height bigint not null,
  block_hash text not null,
  position int not null,
  block_time timestamptz not null,
  sender text not null,
  recipient text,
  contract text,
  raw_amount raw_units,
  nonce bigint,
  succeeded boolean,
  raw_fee raw_units,
  canonical boolean not null default true,
  observed_at timestamptz not null default sluice_now(),
  booked_at timestamptz,
  unique (network_id, block_hash, txid, kind, ordinal)
);
comment on table sightings is 'Everything an indexer saw at our addresses: evidence. A row changes only its canonical flag and, once, booked_at.';
comment on column sightings.id is 'Row id.';
comment on column sightings.network_id is 'The network.';
comment on column sightings.kind is 'native and token are transfers; sent is a transaction signed by an address of ours.';
comment on column sightings.txid is 'Transaction id.';
comment on column sightings.ordinal is 'Position of the transfer inside its transaction, never in the block.';
comment on column sightings.height is 'Block height.';
comment on column sightings.block_hash is 'Block hash.';
comment on column sightings.position is 'Position of the transaction in the block.';
comment on column sightings.block_time is 'Block time.';
comment on column sightings.sender is 'Where the value came from.';
comment on column sightings.recipient is 'Where it went; null for sent.';
comment on column sightings.contract is 'Token contract; null for the native coin.';
comment on column sightings.raw_amount is 'Chain units moved; null for sent.';
comment on column sightings.nonce is 'Account nonce of a sent transaction.';
comment on column sightings.succeeded is 'Whether a sent transaction took effect.';
comment on column sightings.raw_fee is 'Native units a sent transaction cost.';
comment on column sightings.canonical is 'False once its block was orphaned.';
comment on column sightings.observed_at is 'Service time it was stored.';
comment on column sightings.booked_at is 'When its effect reached the books (credited, unallocated, funding, payout outcome, or nothing to book); null until final.';
create index sightings_unbooked on sightings (network_id, height, position, ordinal) where canonical and booked_at is null;
create index sightings_height on sightings (network_id, height) where canonical;
create index sightings_txid on sightings (network_id, txid);
create index sightings_recipient on sightings (network_id, recipient) where canonical;
