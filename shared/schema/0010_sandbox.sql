-- Deposits that were simulated: beside the real ones, so that nothing that counts money can meet them.

create table sandbox_deposits (
  id uuid primary key,
  payment_id uuid not null references payments,
  asset_id uuid not null references assets,
  scenario text not null,
  txid text not null unique,
  amount unsigned_amount not null check (amount > 0),
  state text not null check (state in ('seen', 'credited', 'dust')),
  first_seen_at timestamptz not null,
  confirms_at timestamptz,
  final_at timestamptz,
  confirmations int not null default 0,
  usd_price unsigned_amount,
  path text check (path in ('standard', 'late_confirmation', 'late_capture', 'manual_inquiry')),
  network_fee unsigned_amount,
  commission unsigned_amount,
  net unsigned_amount,
  check ((state = 'seen') = (confirms_at is not null and final_at is null)),
  check ((state = 'credited') = (path is not null and network_fee is not null and commission is not null and net is not null))
);
comment on table sandbox_deposits is 'What arrived for a sandbox payment, as simulated. No row here ever has a ledger posting, a credit or a deposit behind it (decisions 9).';
comment on column sandbox_deposits.id is 'Row id; the payment names it as the one that decided.';
comment on column sandbox_deposits.payment_id is 'The sandbox payment.';
comment on column sandbox_deposits.asset_id is 'The asset that arrives.';
comment on column sandbox_deposits.scenario is 'The scenario that made it.';
comment on column sandbox_deposits.txid is 'Stands for a transaction id; no chain has one like it.';
comment on column sandbox_deposits.amount is 'Asset units.';
comment on column sandbox_deposits.state is 'seen: waits for its confirmation; credited: decided the payment; dust: too small to decide anything.';
comment on column sandbox_deposits.first_seen_at is 'Service time it was seen; decides locked or market price (decisions 3).';
comment on column sandbox_deposits.confirms_at is 'Service time from which it counts as final; null once it is.';
comment on column sandbox_deposits.final_at is 'Service time it was judged or set aside.';
comment on column sandbox_deposits.confirmations is 'How deep it counts as confirmed.';
comment on column sandbox_deposits.usd_price is 'Market price at confirmation, when one was at hand.';
comment on column sandbox_deposits.path is 'How it got here (decisions 4).';
comment on column sandbox_deposits.network_fee is 'Network fee that a real deposit would have been charged.';
comment on column sandbox_deposits.commission is 'Commission likewise.';
comment on column sandbox_deposits.net is 'What would have been credited.';
create index sandbox_deposits_payment on sandbox_deposits (payment_id);
create unique index sandbox_deposits_deciding on sandbox_deposits (payment_id) where state <> 'dust';
create index sandbox_deposits_due on sandbox_deposits (confirms_at) where state = 'seen';
