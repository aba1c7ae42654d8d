-- Which addresses of ours the issuer of a token does not let move it, so that the token stops, or the address alone, and says why (decision 0033).

create table issuer_refusals (
  asset_id uuid not null references assets (id),
  address text not null,
  role text not null check (role in ('hot', 'held', 'deposit')),
  found_height bigint not null,
  found_at timestamptz not null default sluice_now(),
  looked_at timestamptz not null default sluice_now(),
  stopped_at timestamptz,
  primary key (asset_id, address)
);
comment on table issuer_refusals is 'Addresses of ours that a token refuses every transfer from, by simulation to other addresses of ours. A row goes when the token lets its address move it again; one that stopped the asset not before an operator has lifted that freeze, too.';
comment on column issuer_refusals.asset_id is 'The token.';
comment on column issuer_refusals.address is 'The address that cannot move it; canonical.';
comment on column issuer_refusals.role is 'What the address is: the hot or the held wallet, or a deposit address.';
comment on column issuer_refusals.found_height is 'The last block that was applied when it was first found. Only what is found again at a later one counts.';
comment on column issuer_refusals.found_at is 'When it was first found, service time.';
comment on column issuer_refusals.looked_at is 'When it was last found, service time.';
comment on column issuer_refusals.stopped_at is 'Since when the asset is stopped because of it, service time; null for an address that stops nothing but what lies there.';
