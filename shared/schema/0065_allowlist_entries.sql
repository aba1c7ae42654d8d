-- What each address on an allowlist of a gateway is for, and since when it is on it.
-- older builds: change the lists without these rows; an address that they add is told without its time.

create table allowlist_entries (
  gateway_id uuid not null references gateways,
  list text not null check (list in ('api', 'cashout')),
  address text not null,
  note text,
  added_at timestamptz,
  primary key (gateway_id, list, address)
);
comment on table allowlist_entries is 'What is known of the addresses on the allowlists of gateways. Which addresses count, the settings of the gateway say alone.';
comment on column allowlist_entries.gateway_id is 'Whose list.';
comment on column allowlist_entries.list is 'api for payments in API mode, cashout for the cashout API.';
comment on column allowlist_entries.address is 'Address or range, as the settings have it.';
comment on column allowlist_entries.note is 'What it is for, in the words of whoever added it.';
comment on column allowlist_entries.added_at is 'Service time at which it was added; null for one that was there before this was kept.';
