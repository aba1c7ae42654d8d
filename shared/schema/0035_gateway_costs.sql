-- What a cashout's destination was quoted for, and what it cost beyond that: charged to the gateway that asked (decisions 10).

create table settlement_quotes (
  settlement_id uuid primary key references settlements,
  raw_fee raw_units not null,
  units raw_units,
  at timestamptz not null default sluice_now()
);
comment on table settlement_quotes is 'What the network quoted for a cashout when it claimed: the bytes that pay it are held to it.';
comment on column settlement_quotes.settlement_id is 'The cashout.';
comment on column settlement_quotes.raw_fee is 'The most it was to cost, native units; what the fee locked was made of.';
comment on column settlement_quotes.units is 'Gas or energy it was to take; null where the destination has no say in it.';
comment on column settlement_quotes.at is 'Service time of the claim.';

create table charges (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  settlement_id uuid not null references settlements,
  payout_id uuid not null unique references payouts,
  cause text not null check (cause in ('units', 'failed')),
  asset_id uuid not null references assets,
  amount unsigned_amount not null check (amount > 0),
  raw_native raw_units not null,
  asset_price_usd unsigned_amount,
  native_price_usd unsigned_amount,
  at timestamptz not null default sluice_now()
);
comment on table charges is 'Append-only: what the destination of a cashout made one of its transactions cost beyond what was locked for it, charged to its gateway.';
comment on column charges.id is 'Row id.';
comment on column charges.gateway_id is 'Who asked for the cashout, and is charged.';
comment on column charges.settlement_id is 'The cashout.';
comment on column charges.payout_id is 'The transaction, by its family; charged once.';
comment on column charges.cause is 'units: it took more gas or energy than was quoted; failed: it was mined and moved nothing.';
comment on column charges.asset_id is 'The asset of the cashout, which is what is charged.';
comment on column charges.amount is 'What is charged, in that asset.';
comment on column charges.raw_native is 'What of the fee it stands for, native units.';
comment on column charges.asset_price_usd is 'Price of the asset it was converted at; null where the ratio of the lock was used, or nothing was to be converted.';
comment on column charges.native_price_usd is 'The same of the native coin.';
comment on column charges.at is 'Service time it was charged.';
create index charges_gateway on charges (gateway_id, at);
create index charges_settlement on charges (settlement_id);
create trigger charges_append_only before update or delete on charges for each row execute function refuse_change();

create table charge_draws (
  id bigint generated always as identity primary key,
  gateway_id uuid not null references gateways,
  asset_id uuid not null references assets,
  credit_id uuid not null references credits,
  pool text not null check (pool in ('green', 'held')),
  amount unsigned_amount not null check (amount > 0),
  at timestamptz not null default sluice_now()
);
comment on table charge_draws is 'Append-only: which credits paid for the charges of their gateway. What is not paid yet is the gateway''s owed account.';
comment on column charge_draws.id is 'Order.';
comment on column charge_draws.gateway_id is 'The gateway.';
comment on column charge_draws.asset_id is 'The asset.';
comment on column charge_draws.credit_id is 'The credit.';
comment on column charge_draws.pool is 'The pool the credit was in then.';
comment on column charge_draws.amount is 'How much of it.';
comment on column charge_draws.at is 'Service time.';
create index charge_draws_credit on charge_draws (credit_id);
create trigger charge_draws_append_only before update or delete on charge_draws for each row execute function refuse_change();
