-- The two pools: verdicts about deposits, what becomes of held payments, refunds, and coins that follow a change of pool (decision 0012).

alter table credits
  add column screening text not null default 'none' check (screening in ('none', 'waiting', 'clean', 'flagged')),
  add column screening_score int check (screening_score between 0 and 100),
  add column taken text check (taken in ('withheld', 'refunding', 'refunded'));
alter table credits
  add check ((screening in ('clean', 'flagged')) = (screening_score is not null)),
  add check ((screening = 'waiting') <= (matured_at is null)),
  add check ((taken is not null) <= (pool = 'held')),
  add check ((taken is not distinct from 'refunded') <= (remaining = 0));
comment on column credits.pool is 'The pool of its payment, which is in one pool as a whole: green, or held from the moment screening flags one of its deposits until an operator releases it.';
comment on column credits.screening is 'none: its gateway did not screen when it was credited, or its payment was withheld already; waiting: no verdict yet, so it cannot mature and its coins stay where they are; else the verdict.';
comment on column credits.screening_score is 'The highest score among its deposits, 0 to 100; null without a verdict.';
comment on column credits.taken is 'Null while its pool can draw it. withheld: an operator keeps it; refunding: a refund of it is on its way; refunded: the refund is final.';
create index credits_payment on credits (payment_id);
create index credits_unscreened on credits (credited_at) where screening = 'waiting';

alter table deposits
  add column credit_id uuid references credits,
  add column screening_score int check (screening_score between 0 and 100),
  add column screening_ref text;
comment on column deposits.credit_id is 'The credit it is part of; null for one that was not credited, or before verdicts existed.';
comment on column deposits.screening_score is 'What screening said of it, 0 to 100; null while it has not, and where it was not asked.';
comment on column deposits.screening_ref is 'The provider''s own name for that verdict.';
create index deposits_credit on deposits (credit_id);

alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts drop constraint ledger_accounts_check;
alter table ledger_accounts drop constraint ledger_accounts_check1;
alter table ledger_accounts drop constraint ledger_accounts_check2;
alter table ledger_accounts
  add constraint ledger_accounts_kind_check check (kind in (
    'pending', 'available', 'heldPending', 'held', 'reserved', 'withheld', 'refunding',
    'networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'unallocated', 'loss', 'chain')),
  add constraint ledger_accounts_owner_check
    check ((gateway_id is not null) = (kind in ('pending', 'available', 'heldPending', 'held', 'reserved', 'withheld', 'refunding'))),
  add constraint ledger_accounts_settlement_check check ((settlement_id is not null) = (kind = 'reserved')),
  add constraint ledger_accounts_balance_check
    check (balance >= 0 or kind in ('networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'loss', 'chain'));
comment on column ledger_accounts.kind is 'Which account (architecture 2, Ledger). chain is the outside: its balance is minus what we hold. refunding: ordered back to a payer and not paid yet.';

create table aml_events (
  id bigint generated always as identity primary key,
  payment_id uuid not null references payments,
  event text not null,
  from_status text,
  to_status text not null,
  facts jsonb not null default '{}',
  actor text not null,
  at timestamptz not null default sluice_now()
);
comment on table aml_events is 'Append-only history of what screening and operators made of a payment; from_status and to_status are its amlState, NONE where it has none.';
comment on column aml_events.id is 'Order.';
comment on column aml_events.payment_id is 'The payment.';
comment on column aml_events.event is 'Machine event.';
comment on column aml_events.from_status is 'amlState before.';
comment on column aml_events.to_status is 'amlState after.';
comment on column aml_events.facts is 'What the decision saw.';
comment on column aml_events.actor is 'Who caused it: screening, chain, operator.';
comment on column aml_events.at is 'Service time.';
create index aml_events_payment on aml_events (payment_id, id);
create trigger aml_events_append_only before update or delete on aml_events for each row execute function refuse_change();

create table aml_refunds (
  id uuid primary key,
  payment_id uuid not null references payments,
  gateway_id uuid not null references gateways,
  asset_id uuid not null references assets,
  network_id uuid not null references networks,
  recipient text not null,
  amount unsigned_amount not null check (amount > 0),
  status text not null check (status in ('ordered', 'paid', 'failed')),
  reason text not null,
  intent_mac bytea not null,
  ordered_at timestamptz not null,
  ended_at timestamptz,
  txid text,
  failure text,
  check ((status = 'ordered') = (ended_at is null)),
  check ((status = 'paid') = (txid is not null)),
  check ((status = 'failed') = (failure is not null))
);
comment on table aml_refunds is 'Coins of a held payment that an operator ordered to be paid back, one row per asset of the payment and order.';
comment on column aml_refunds.id is 'Refund id; payouts of purpose refund carry it out.';
comment on column aml_refunds.payment_id is 'The payment.';
comment on column aml_refunds.gateway_id is 'Its gateway.';
comment on column aml_refunds.asset_id is 'What is paid back.';
comment on column aml_refunds.network_id is 'Where.';
comment on column aml_refunds.recipient is 'Canonical address the operator named.';
comment on column aml_refunds.amount is 'What the recipient gets: gross less the network fee that was taken.';
comment on column aml_refunds.status is 'ordered until its payout is final; paid; failed when it cannot be paid, and the coins are back in the held pool.';
comment on column aml_refunds.reason is 'Why the operator ordered it.';
comment on column aml_refunds.intent_mac is 'HMAC, keyed outside the database, over what was ordered; the signer pays nothing that does not carry it.';
comment on column aml_refunds.ordered_at is 'Service time of the order.';
comment on column aml_refunds.ended_at is 'When it was paid or failed.';
comment on column aml_refunds.txid is 'Transaction that paid it.';
comment on column aml_refunds.failure is 'Why it cannot be paid.';
create unique index aml_refunds_one_open on aml_refunds (payment_id, asset_id) where status = 'ordered';
create index aml_refunds_payment on aml_refunds (payment_id);
create index aml_refunds_open on aml_refunds (network_id, ordered_at) where status = 'ordered';

create table aml_refund_credits (
  refund_id uuid not null references aml_refunds,
  credit_id uuid not null references credits,
  net unsigned_amount not null,
  commission unsigned_amount not null,
  primary key (refund_id, credit_id)
);
comment on table aml_refund_credits is 'What a refund is made of.';
comment on column aml_refund_credits.refund_id is 'The refund.';
comment on column aml_refund_credits.credit_id is 'The credit that is paid back.';
comment on column aml_refund_credits.net is 'What it had credited to the gateway.';
comment on column aml_refund_credits.commission is 'Commission reversed, whoever had borne it; paid back too unless the platform had.';
create index aml_refund_credits_credit on aml_refund_credits (credit_id);

create table pool_moves (
  id uuid primary key,
  payment_id uuid not null references payments,
  asset_id uuid not null references assets,
  network_id uuid not null references networks,
  amount unsigned_amount not null check (amount > 0),
  from_pool text not null check (from_pool in ('green', 'held')),
  to_pool text not null check (to_pool in ('green', 'held')),
  created_at timestamptz not null default sluice_now(),
  check (from_pool <> to_pool)
);
comment on table pool_moves is 'Coins of a payment that changed its pool in the books: what of them is in a wallet by now has to follow from one wallet to the other.';
comment on column pool_moves.id is 'Row id.';
comment on column pool_moves.payment_id is 'The payment.';
comment on column pool_moves.asset_id is 'The asset.';
comment on column pool_moves.network_id is 'The network.';
comment on column pool_moves.amount is 'What the payment had left in the pool it came from.';
comment on column pool_moves.from_pool is 'green: a later deposit was flagged; held: an operator released it.';
comment on column pool_moves.to_pool is 'The other one.';
comment on column pool_moves.created_at is 'Service time.';
create index pool_moves_payment on pool_moves (payment_id);
