-- Outputs that a wallet held before its network's indexer began to watch it: coins that no sighting will ever tell of.

create table opening_outputs (
  network_id uuid not null references networks,
  txid text not null,
  vout int not null check (vout >= 0),
  wallet_id uuid not null references wallets,
  address text not null,
  raw_amount raw_units not null,
  height bigint not null,
  coinbase boolean not null default false,
  created_at timestamptz not null default sluice_now(),
  primary key (network_id, txid, vout)
);
comment on table opening_outputs is 'Append-only: what each wallet held before it was watched, output by output, where coins are outputs; written with the opening balance they add up to, and spent like any other.';
comment on column opening_outputs.network_id is 'The network.';
comment on column opening_outputs.txid is 'Transaction that made the output.';
comment on column opening_outputs.vout is 'Its position there.';
comment on column opening_outputs.wallet_id is 'The wallet it lies at.';
comment on column opening_outputs.address is 'Canonical address of that wallet.';
comment on column opening_outputs.raw_amount is 'Chain units in it.';
comment on column opening_outputs.height is 'Block it was made in, final when it was written.';
comment on column opening_outputs.coinbase is 'Whether its coins were made in that block, so that they cannot move before it is 100 blocks deep.';
comment on column opening_outputs.created_at is 'Service time.';
create trigger opening_outputs_append_only before update or delete on opening_outputs for each row execute function refuse_change();
