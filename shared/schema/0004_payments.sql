-- Payments, their offers, addresses, deposits and events.

create table payments (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  status text not null check (status in ('PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED')),
  checkout_mode text not null check (checkout_mode in ('HOSTED', 'API')),
  type text not null check (type in ('DIRECT', 'PAYLINK')),
  paylink_id uuid,
  open_amount boolean not null default false,
  sandbox boolean not null default false,
  currency_code text not null references currencies,
  amount text not null,
  amount_usd unsigned_amount not null,
  minimum_usd unsigned_amount,
  tx_fee_payer text not null check (tx_fee_payer in ('MERCHANT', 'CUSTOMER', 'PLATFORM')),
  commission_fee_payer text not null check (commission_fee_payer in ('MERCHANT', 'CUSTOMER', 'PLATFORM')),
  commission_bps int not null,
  commission_minimum_usd unsigned_amount not null,
  over_tolerance ledger_amount not null,
  under_tolerance ledger_amount not null,
  tolerance_kind text not null check (tolerance_kind in ('ABSOLUTE', 'PERCENTAGE')),
  check_amount_deviation boolean not null,
  callback_url text,
  callback_params jsonb,
  webhook_url text,
  webhook_params jsonb,
  language text,
  timeout_seconds bigint not null,
  grace_seconds bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  selected_offer_id uuid,
  is_verified boolean not null default false,
  verified_at timestamptz,
  resolved_at timestamptz,
  deciding_deposit_id uuid,
  judging_offer_id uuid,
  received_asset_id uuid references assets,
  received_amount unsigned_amount,
  received_amount_usd unsigned_amount,
  expected_usd unsigned_amount,
  deviation_usd ledger_amount,
  deposit_path text check (deposit_path in ('standard', 'late_confirmation', 'late_capture', 'manual_inquiry')),
  aml_state text check (aml_state in ('HELD', 'RELEASED', 'REFUNDED', 'WITHHELD')),
  inquiry_attempts int not null default 0,
  check ((status in ('SUCCESS', 'ACCEPTABLE', 'MISMATCH') and not sandbox) <= (deciding_deposit_id is not null))
);
comment on table payments is 'One payment, from creation to its resting status; status is written only by the advance function (architecture 2).';
comment on column payments.id is 'Contract paymentUid: the credential of the public endpoints, so it comes from a secure source.';
comment on column payments.gateway_id is 'Owner.';
comment on column payments.status is 'Record machine state (contract 3.1).';
comment on column payments.checkout_mode is 'HOSTED or API.';
comment on column payments.type is 'DIRECT or PAYLINK.';
comment on column payments.paylink_id is 'The saved link it came from.';
comment on column payments.open_amount is 'The payer chooses the amount.';
comment on column payments.sandbox is 'Simulated: no real address, no ledger.';
comment on column payments.currency_code is 'Invoice currency.';
comment on column payments.amount is 'Invoice amount exactly as sent.';
comment on column payments.amount_usd is 'Its US dollar value at creation, unrounded.';
comment on column payments.minimum_usd is 'Open-amount minimum in US dollars.';
comment on column payments.tx_fee_payer is 'Who bears the network fee.';
comment on column payments.commission_fee_payer is 'Who bears the commission.';
comment on column payments.commission_bps is 'Commission rate locked at creation, basis points.';
comment on column payments.commission_minimum_usd is 'Least commission locked at creation.';
comment on column payments.over_tolerance is 'Overpayment tolerance as given (dollars or percent).';
comment on column payments.under_tolerance is 'Underpayment tolerance as given.';
comment on column payments.tolerance_kind is 'How both are read.';
comment on column payments.check_amount_deviation is 'False: any amount is SUCCESS.';
comment on column payments.callback_url is 'Where the browser goes after the result.';
comment on column payments.callback_params is 'Echoed in the callback query.';
comment on column payments.webhook_url is 'Where webhooks go.';
comment on column payments.webhook_params is 'Stored for the merchant.';
comment on column payments.language is 'Display-language hint.';
comment on column payments.timeout_seconds is 'Validity window.';
comment on column payments.grace_seconds is 'How long after expiry a deposit still resolves it, locked at creation.';
comment on column payments.created_at is 'Service time of creation.';
comment on column payments.expires_at is 'Authoritative deadline, saturated at the end of year 9999.';
comment on column payments.selected_offer_id is 'The offer last selected.';
comment on column payments.is_verified is 'Whether verify was called on the resting payment.';
comment on column payments.verified_at is 'When it first was.';
comment on column payments.resolved_at is 'When it last reached a resting status.';
comment on column payments.deciding_deposit_id is 'The deposit that decided it.';
comment on column payments.judging_offer_id is 'The offer whose figures judged it (decisions 3).';
comment on column payments.received_asset_id is 'What actually arrived.';
comment on column payments.received_amount is 'How much, in that asset; transfers of one block are summed.';
comment on column payments.received_amount_usd is 'Its market value at confirmation, in cents.';
comment on column payments.expected_usd is 'What it was judged against, in cents.';
comment on column payments.deviation_usd is 'Received minus expected, in cents; null when none was computed.';
comment on column payments.deposit_path is 'How the deposit got here (decisions 4).';
comment on column payments.aml_state is 'Set only on payments screening flagged.';
comment on column payments.inquiry_attempts is 'Inquiry attempts used.';
create index payments_gateway on payments (gateway_id, created_at desc, id desc);
create index payments_due on payments (expires_at) where status = 'PENDING';

create table payment_offers (
  id uuid primary key,
  payment_id uuid not null references payments,
  asset_id uuid not null references assets,
  rank int not null,
  price_usd unsigned_amount not null check (price_usd > 0),
  price_source text not null,
  amount unsigned_amount not null,
  tx_fee unsigned_amount not null,
  commission_fee unsigned_amount not null,
  total_value unsigned_amount not null,
  network_fee unsigned_amount not null,
  selected_at timestamptz,
  unique (payment_id, asset_id)
);
comment on table payment_offers is 'The assets a payment can be paid in, at prices locked when it was created.';
comment on column payment_offers.id is 'Contract offer id.';
comment on column payment_offers.payment_id is 'The payment.';
comment on column payment_offers.asset_id is 'The asset.';
comment on column payment_offers.rank is 'Order in which offers are listed.';
comment on column payment_offers.price_usd is 'Locked price.';
comment on column payment_offers.price_source is 'Where it came from, or `merchant` for an override.';
comment on column payment_offers.amount is 'Invoice principal in the asset.';
comment on column payment_offers.tx_fee is 'Network fee the customer pays on top; 0 when somebody else does.';
comment on column payment_offers.commission_fee is 'Commission the customer pays on top; 0 when somebody else does.';
comment on column payment_offers.total_value is 'Exactly what the customer must send.';
comment on column payment_offers.network_fee is 'The asset''s network fee locked at creation, whoever bears it.';
comment on column payment_offers.selected_at is 'When select was last called for it; null while never selected.';

create table deposit_addresses (
  id uuid primary key,
  payment_id uuid not null references payments,
  network_id uuid not null references networks,
  family text not null,
  derivation_index bigint not null,
  address text not null,
  created_at timestamptz not null,
  unique (payment_id, network_id),
  unique (network_id, address),
  unique (family, derivation_index)
);
comment on table deposit_addresses is 'One address per payment and network, derived from the account xpub.';
comment on column deposit_addresses.id is 'Row id.';
comment on column deposit_addresses.payment_id is 'The payment.';
comment on column deposit_addresses.network_id is 'The network it was selected on.';
comment on column deposit_addresses.family is 'Family whose xpub and sequence it comes from.';
comment on column deposit_addresses.derivation_index is 'Index below the xpub; never reused.';
comment on column deposit_addresses.address is 'Canonical address.';
comment on column deposit_addresses.created_at is 'Service time of assignment.';
create index deposit_addresses_address on deposit_addresses (address);

create table deposits (
  id uuid primary key,
  network_id uuid not null references networks,
  txid text not null,
  kind text not null check (kind in ('native', 'token')),
  ordinal int not null,
  address_id uuid not null references deposit_addresses,
  payment_id uuid not null references payments,
  asset_id uuid not null references assets,
  sender text not null,
  raw_amount raw_units not null,
  amount unsigned_amount not null,
  height bigint not null,
  block_hash text not null,
  position int not null,
  block_time timestamptz not null,
  first_seen_at timestamptz not null,
  state text not null check (state in ('seen', 'dropped', 'credited', 'dust', 'unallocated')),
  final_at timestamptz,
  usd_price unsigned_amount,
  path text check (path in ('standard', 'late_confirmation', 'late_capture', 'manual_inquiry')),
  lost_at timestamptz,
  unique (network_id, txid, kind, ordinal)
);
comment on table deposits is 'A sighting recorded for a payment; credited at most once, by its position inside the transaction.';
comment on column deposits.id is 'Row id.';
comment on column deposits.network_id is 'The network.';
comment on column deposits.txid is 'Transaction id.';
comment on column deposits.kind is 'Native coin or token.';
comment on column deposits.ordinal is 'Position inside the transaction.';
comment on column deposits.address_id is 'The address it arrived at.';
comment on column deposits.payment_id is 'The payment that owns the address.';
comment on column deposits.asset_id is 'The asset that arrived.';
comment on column deposits.sender is 'Where it came from.';
comment on column deposits.raw_amount is 'Chain units.';
comment on column deposits.amount is 'The same in asset units.';
comment on column deposits.height is 'Height of the block it is in, the latest seen.';
comment on column deposits.block_hash is 'Hash of that block.';
comment on column deposits.position is 'Position of the transaction in the block.';
comment on column deposits.block_time is 'Time of that block.';
comment on column deposits.first_seen_at is 'Block time or mempool sighting, whichever came first; decides locked or market price (decisions 3).';
comment on column deposits.state is 'seen: in a block, not final; dropped: orphaned; the others are final outcomes.';
comment on column deposits.final_at is 'Service time it was credited or set aside.';
comment on column deposits.usd_price is 'Market price used at confirmation.';
comment on column deposits.path is 'How it got here (decisions 4).';
comment on column deposits.lost_at is 'When a reorganisation deeper than finality took it away after it was booked; null again once it is re-mined (decisions 5).';
create index deposits_open on deposits (network_id, height) where state = 'seen';
create index deposits_payment on deposits (payment_id);

create table payment_events (
  id bigint generated always as identity primary key,
  payment_id uuid not null references payments,
  event text not null,
  from_status text,
  to_status text not null,
  facts jsonb not null default '{}',
  actor text not null,
  at timestamptz not null default sluice_now()
);
comment on table payment_events is 'Append-only history of every payment: what happened, and the facts the decision saw.';
comment on column payment_events.id is 'Order.';
comment on column payment_events.payment_id is 'The payment.';
comment on column payment_events.event is 'Machine event.';
comment on column payment_events.from_status is 'Status before; null at creation.';
comment on column payment_events.to_status is 'Status after.';
comment on column payment_events.facts is 'What the guards saw.';
comment on column payment_events.actor is 'Who caused it: merchant, payer, chain, sweeper, operator.';
comment on column payment_events.at is 'Service time.';
create index payment_events_payment on payment_events (payment_id, id);
create trigger payment_events_append_only before update or delete on payment_events for each row execute function refuse_change();
