-- Native coins that contracts pass on: a kind of its own, and what happens where a node cannot show them (decision 0009).

alter table sightings drop constraint sightings_kind_check;
alter table sightings add constraint sightings_kind_check check (kind in ('native', 'internal', 'token', 'sent'));
comment on column sightings.kind is 'native is a transaction''s own value, internal is native coins a contract passed on, token is a token''s own event; sent is a transaction signed by an address of ours.';

alter table deposits drop constraint deposits_kind_check;
alter table deposits add constraint deposits_kind_check check (kind in ('native', 'internal', 'token'));
comment on column deposits.kind is 'native: the transaction''s own value; internal: native coins a contract passed on; token.';

create table blind_blocks (
  network_id uuid not null references networks,
  from_height bigint not null,
  to_height bigint not null,
  primary key (network_id, from_height),
  check (to_height >= from_height)
);
comment on table blind_blocks is 'Blocks that were read from an endpoint which does not show internal transfers: only their balances can tell what is missing. Neighbours are one row.';
comment on column blind_blocks.network_id is 'The network.';
comment on column blind_blocks.from_height is 'First of them.';
comment on column blind_blocks.to_height is 'Last of them.';
create index blind_blocks_end on blind_blocks (network_id, to_height);

create table balance_looks (
  network_id uuid not null references networks,
  address text not null,
  height bigint not null,
  explained_height bigint,
  primary key (network_id, address)
);
comment on table balance_looks is 'Up to which block the native balance of an address was compared with what was seen of it; kept only for addresses with blind blocks.';
comment on column balance_looks.network_id is 'The network.';
comment on column balance_looks.address is 'Canonical address.';
comment on column balance_looks.height is 'Final block of the last look.';
comment on column balance_looks.explained_height is 'Final block of the last look that found nothing unexplained; null before one did.';

create table unexplained_balances (
  id uuid primary key,
  network_id uuid not null references networks,
  address text not null,
  payment_id uuid references payments,
  raw_amount raw_units not null,
  from_height bigint not null,
  to_height bigint not null,
  found_at timestamptz not null default sluice_now(),
  resolved_at timestamptz,
  check (to_height >= from_height)
);
comment on table unexplained_balances is 'Native coins at an address of ours that nothing seen of it explains. Flagged for a person, never credited by themselves.';
comment on column unexplained_balances.id is 'Row id.';
comment on column unexplained_balances.network_id is 'The network.';
comment on column unexplained_balances.address is 'Canonical address.';
comment on column unexplained_balances.payment_id is 'The payment that owns the address; null for a wallet.';
comment on column unexplained_balances.raw_amount is 'Chain units beyond what is explained, at the last look.';
comment on column unexplained_balances.from_height is 'First block in which they may have come.';
comment on column unexplained_balances.to_height is 'Last block in which they may have come.';
comment on column unexplained_balances.found_at is 'Service time it was found.';
comment on column unexplained_balances.resolved_at is 'Service time from which everything was explained; null while a person has to look.';
create unique index unexplained_balances_open on unexplained_balances (network_id, address) where resolved_at is null;
create index unexplained_balances_payment on unexplained_balances (payment_id);

create index sightings_sender on sightings (network_id, sender) where canonical;
