-- Settlements, the payouts that carry them out, and treasury transfers, which are payouts without a settlement.

create table address_book (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  network_id uuid not null references networks,
  address text not null,
  label text not null,
  tag text not null,
  created_at timestamptz not null default now(),
  unique (gateway_id, network_id, address)
);
comment on table address_book is 'Destinations a gateway has paid to; stored on first use (contract 4.3).';
comment on column address_book.id is 'Row id.';
comment on column address_book.gateway_id is 'Owner.';
comment on column address_book.network_id is 'The network.';
comment on column address_book.address is 'As matched: EVM in lower case, base58 exact.';
comment on column address_book.label is 'Name given, or `api-` and random letters.';
comment on column address_book.tag is 'Where it came from: API.';
comment on column address_book.created_at is 'First use.';

create table settlements (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  asset_id uuid not null references assets,
  network_id uuid not null references networks,
  status text not null check (status in ('PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED')),
  address_id uuid not null references address_book,
  address text not null,
  amount_text text not null,
  amount unsigned_amount not null check (amount > 0),
  requested_route text not null check (requested_route in ('GREEN', 'AML_HELD', 'SMART')),
  pool text check (pool in ('green', 'held')),
  routed_by_service boolean not null default false,
  destination_risk_score int,
  metadata jsonb,
  fee_locked unsigned_amount,
  net_amount unsigned_amount,
  received_amount unsigned_amount,
  txid text,
  created_at timestamptz not null,
  expires_at timestamptz,
  dispatch_at timestamptz,
  hold_reason text,
  wait_reason text,
  settled_at timestamptz,
  intent_mac bytea,
  check ((status in ('UNDERFUNDED', 'WAITING_AML_CREDIT')) <= (fee_locked is null and net_amount is null and expires_at is not null)),
  check ((status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING', 'SETTLED')) <= (fee_locked is not null and net_amount is not null and pool is not null)),
  check (fee_locked is null or net_amount = amount - fee_locked),
  check ((status = 'SETTLED') = (received_amount is not null and txid is not null))
);
comment on table settlements is 'One cashout; status is written only by the advance function (contract 3.2).';
comment on column settlements.id is 'Contract settlement id.';
comment on column settlements.gateway_id is 'Owner.';
comment on column settlements.asset_id is 'What is paid out.';
comment on column settlements.network_id is 'Where.';
comment on column settlements.status is 'Record machine state.';
comment on column settlements.address_id is 'Its address-book entry.';
comment on column settlements.address is 'Destination as the contract shows it.';
comment on column settlements.amount_text is 'Amount exactly as sent, echoed byte for byte.';
comment on column settlements.amount is 'The same as a number.';
comment on column settlements.requested_route is 'Route asked for.';
comment on column settlements.pool is 'The pool it draws from; null only while a SMART request is parked.';
comment on column settlements.routed_by_service is 'True when SMART picked the pool.';
comment on column settlements.destination_risk_score is 'The verdict SMART routed on.';
comment on column settlements.metadata is 'Echo of the create metadata.';
comment on column settlements.fee_locked is 'Network fee reserved; null while parked.';
comment on column settlements.net_amount is 'amount minus fee_locked; what the destination receives.';
comment on column settlements.received_amount is 'Effect on chain; set when SETTLED.';
comment on column settlements.txid is 'Transaction that paid it; set when SETTLED.';
comment on column settlements.created_at is 'Service time of creation.';
comment on column settlements.expires_at is 'When a parked one is rejected.';
comment on column settlements.dispatch_at is 'From when it may be sent: creation, approval or activation plus the gateway''s delay.';
comment on column settlements.hold_reason is 'Which gate asked for approval.';
comment on column settlements.wait_reason is 'Why a REQUESTED one has not been sent yet, for the operator.';
comment on column settlements.settled_at is 'When it settled.';
comment on column settlements.intent_mac is 'HMAC, keyed outside the database, over what was claimed; the signer pays nothing that does not carry it. Null while parked.';
create index settlements_gateway on settlements (gateway_id, created_at desc, id desc);
create index settlements_dispatch on settlements (dispatch_at, id) where status = 'REQUESTED';
create index settlements_parked on settlements (gateway_id) where status in ('UNDERFUNDED', 'WAITING_AML_CREDIT');

alter table ledger_accounts add foreign key (settlement_id) references settlements deferrable initially deferred;
alter table credit_draws add foreign key (settlement_id) references settlements deferrable initially deferred;

create table settlement_events (
  id bigint generated always as identity primary key,
  settlement_id uuid not null references settlements,
  event text not null,
  from_status text,
  to_status text not null,
  facts jsonb not null default '{}',
  actor text not null,
  at timestamptz not null default sluice_now()
);
comment on table settlement_events is 'Append-only history of every settlement.';
comment on column settlement_events.id is 'Order.';
comment on column settlement_events.settlement_id is 'The settlement.';
comment on column settlement_events.event is 'Machine event.';
comment on column settlement_events.from_status is 'Status before; null at creation.';
comment on column settlement_events.to_status is 'Status after.';
comment on column settlement_events.facts is 'What the decision saw.';
comment on column settlement_events.actor is 'Who caused it.';
comment on column settlement_events.at is 'Service time.';
create index settlement_events_settlement on settlement_events (settlement_id, id);
create trigger settlement_events_append_only before update or delete on settlement_events for each row execute function refuse_change();

create table payouts (
  id uuid primary key,
  network_id uuid not null references networks,
  wallet_id uuid not null references wallets,
  purpose text not null check (purpose in ('settlement', 'refund', 'sweep', 'top_up', 'held_release', 'close')),
  settlement_id uuid references settlements,
  family int not null default 1,
  parent_id uuid references payouts,
  status text not null check (status in ('PLANNED', 'SIGNED', 'BROADCAST', 'INCLUDED', 'CONFIRMED', 'FAILED', 'CANCELLED')),
  asset_id uuid not null references assets,
  recipient text not null,
  raw_amount raw_units not null,
  nonce bigint,
  plan jsonb not null,
  txid text,
  raw_fee raw_units,
  failure text,
  created_at timestamptz not null,
  final_at timestamptz,
  check ((purpose = 'settlement') <= (settlement_id is not null)),
  unique (wallet_id, nonce)
);
comment on table payouts is 'One family of mutually exclusive transactions on one chain: a cashout, a sweep, a gas top-up. At most one of the family can ever take effect.';
comment on column payouts.id is 'Payout id.';
comment on column payouts.network_id is 'The network.';
comment on column payouts.wallet_id is 'The wallet that pays.';
comment on column payouts.purpose is 'Why it is sent.';
comment on column payouts.settlement_id is 'The settlement it pays, or for whose sake a sweep or top-up was made.';
comment on column payouts.family is '1, or 2 when the first family failed for good (decisions 10).';
comment on column payouts.parent_id is 'The payout that waits for this one (a sweep waits for its top-up).';
comment on column payouts.status is 'Record machine state.';
comment on column payouts.asset_id is 'What moves.';
comment on column payouts.recipient is 'Where to.';
comment on column payouts.raw_amount is 'How much, in chain units.';
comment on column payouts.nonce is 'The nonce all attempts share, on chains that have one.';
comment on column payouts.plan is 'Fee limits and whatever else the family needs to build the bytes.';
comment on column payouts.txid is 'Transaction that took effect (or failed) at finality.';
comment on column payouts.raw_fee is 'What it cost, native units, known at finality.';
comment on column payouts.failure is 'Why it failed.';
comment on column payouts.created_at is 'Service time.';
comment on column payouts.final_at is 'When its outcome became final.';
create unique index payouts_one_live_per_settlement on payouts (settlement_id)
  where purpose = 'settlement' and status not in ('FAILED', 'CANCELLED');
create index payouts_open on payouts (network_id, status) where status not in ('CONFIRMED', 'FAILED', 'CANCELLED');
create index payouts_settlement on payouts (settlement_id);

create table payout_attempts (
  id uuid primary key,
  payout_id uuid not null references payouts,
  number int not null,
  txid text not null,
  signed_bytes bytea not null,
  fee_limit raw_units not null,
  created_at timestamptz not null default sluice_now(),
  unique (payout_id, number),
  unique (txid)
);
comment on table payout_attempts is 'Append-only: the exact signed bytes, stored before anything is broadcast.';
comment on column payout_attempts.id is 'The only thing the broadcaster accepts.';
comment on column payout_attempts.payout_id is 'Its family.';
comment on column payout_attempts.number is 'Counts from 1 in the family.';
comment on column payout_attempts.txid is 'Transaction id of the bytes.';
comment on column payout_attempts.signed_bytes is 'The bytes.';
comment on column payout_attempts.fee_limit is 'The most it can cost, native units.';
comment on column payout_attempts.created_at is 'Service time of signing.';
create index payout_attempts_created on payout_attempts (created_at);
create trigger payout_attempts_append_only before update or delete on payout_attempts for each row execute function refuse_change();

create table payout_events (
  id bigint generated always as identity primary key,
  payout_id uuid not null references payouts,
  event text not null,
  from_status text,
  to_status text not null,
  facts jsonb not null default '{}',
  actor text not null,
  at timestamptz not null default sluice_now()
);
comment on table payout_events is 'Append-only history of every payout.';
comment on column payout_events.id is 'Order.';
comment on column payout_events.payout_id is 'The payout.';
comment on column payout_events.event is 'Machine event.';
comment on column payout_events.from_status is 'Status before; null at planning.';
comment on column payout_events.to_status is 'Status after.';
comment on column payout_events.facts is 'What was seen.';
comment on column payout_events.actor is 'Who caused it.';
comment on column payout_events.at is 'Service time.';
create index payout_events_payout on payout_events (payout_id, id);
create trigger payout_events_append_only before update or delete on payout_events for each row execute function refuse_change();
