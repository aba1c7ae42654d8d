-- No dead ends for coins: what two people decide together, coins kept from a gateway on their way out, one more transfer between pools after
-- two failed, and lost transactions that paid those.
-- older builds: read none of the new tables; what is added to the audit log and to adopted transactions has no default to fill, and no build
-- from before adopts a transaction for withheld coins.

create table operator_proposals (
  id uuid primary key,
  act text not null,
  target text not null,
  content jsonb not null,
  reason text not null,
  proposed_by text not null,
  mac bytea not null,
  status text not null default 'open' check (status in ('open', 'confirmed', 'withdrawn')),
  created_at timestamptz not null default sluice_now(),
  expires_at timestamptz not null,
  decided_by text,
  decided_at timestamptz,
  outcome jsonb,
  check (expires_at > created_at),
  check ((status = 'open') = (decided_by is null)),
  check ((status = 'open') = (decided_at is null)),
  check ((status = 'confirmed') = (outcome is not null)),
  check (status <> 'confirmed' or decided_by <> proposed_by)
);
comment on table operator_proposals is 'Acts that two people have to want: what one of them proposed, to be done exactly once when another one confirms it (decision 0032).';
comment on column operator_proposals.id is 'Proposal id.';
comment on column operator_proposals.act is 'What is to be done, as the operator API calls it, such as withheld.pay.';
comment on column operator_proposals.target is 'Id or name of what it is to be done to.';
comment on column operator_proposals.content is 'Exactly what is to be done; never changed, and shown in full to whoever confirms it.';
comment on column operator_proposals.reason is 'Why, as its proposer said.';
comment on column operator_proposals.proposed_by is 'Name of the person who proposed it, by the token of the call.';
comment on column operator_proposals.mac is 'HMAC, keyed outside the database, over all of that: what was not proposed through the api cannot be confirmed.';
comment on column operator_proposals.status is 'open until somebody decided, also once it has expired; confirmed: it was done; withdrawn: it never will be.';
comment on column operator_proposals.created_at is 'Service time.';
comment on column operator_proposals.expires_at is 'Service time from which nobody can confirm it any more.';
comment on column operator_proposals.decided_by is 'Name of the person who confirmed or withdrew it, by the token of the call; never the proposer, where it was confirmed.';
comment on column operator_proposals.decided_at is 'Service time of that.';
comment on column operator_proposals.outcome is 'What came of it: ids of what was made. Null unless it was confirmed.';
create index operator_proposals_newest on operator_proposals (created_at desc, id desc);

alter table operator_actions add column person text;
comment on column operator_actions.person is 'Who it was, by the token of the call: a name of SLUICE_OPERATOR_TOKENS, or operator for the one that is shared; null for what the service did by itself, and for lines from before.';
comment on column operator_actions.token is 'Which operator token it was made with: current, or previous while it is changed; named for one that belongs to a person.';

create table withheld_transfers (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  asset_id uuid not null references assets,
  network_id uuid not null references networks,
  recipient text not null,
  amount unsigned_amount not null check (amount > 0),
  status text not null default 'ordered' check (status in ('ordered', 'paid', 'failed')),
  reason text not null,
  proposed_by text not null,
  confirmed_by text not null,
  intent_mac bytea not null,
  ordered_at timestamptz not null default sluice_now(),
  ended_at timestamptz,
  txid text,
  failure text,
  check (proposed_by <> confirmed_by),
  check ((status = 'ordered') = (ended_at is null)),
  check ((status = 'paid') = (txid is not null)),
  check ((status = 'failed') = (failure is not null))
);
comment on table withheld_transfers is 'Coins kept from a gateway that two people sent to an address of the deployment''s choosing (decision 0032).';
comment on column withheld_transfers.id is 'Transfer id; payouts of purpose withheld carry it out (withheld_payouts).';
comment on column withheld_transfers.gateway_id is 'The gateway they are kept from.';
comment on column withheld_transfers.asset_id is 'What is sent.';
comment on column withheld_transfers.network_id is 'Where.';
comment on column withheld_transfers.recipient is 'Canonical address.';
comment on column withheld_transfers.amount is 'What the recipient gets; the deployment bears the fee.';
comment on column withheld_transfers.status is 'ordered until its payout is final: as much of the withheld account is spoken for; paid; failed when it cannot be paid, and nothing of the account is spoken for any more.';
comment on column withheld_transfers.reason is 'Why, as its proposer said.';
comment on column withheld_transfers.proposed_by is 'The first person.';
comment on column withheld_transfers.confirmed_by is 'The second person.';
comment on column withheld_transfers.intent_mac is 'HMAC, keyed outside the database, over what was ordered; the signer pays nothing that does not carry it.';
comment on column withheld_transfers.ordered_at is 'Service time of the confirmation.';
comment on column withheld_transfers.ended_at is 'When it was paid or failed.';
comment on column withheld_transfers.txid is 'Transaction that paid it.';
comment on column withheld_transfers.failure is 'Why it cannot be paid.';
create index withheld_transfers_open on withheld_transfers (network_id, ordered_at) where status = 'ordered';
create index withheld_transfers_gateway on withheld_transfers (gateway_id, asset_id);

create table withheld_transfer_credits (
  transfer_id uuid not null references withheld_transfers,
  credit_id uuid not null references credits,
  amount unsigned_amount not null check (amount > 0),
  primary key (transfer_id, credit_id)
);
comment on table withheld_transfer_credits is 'Which withheld credits a transfer was paid out of, written when it is paid; their sum is its amount.';
comment on column withheld_transfer_credits.transfer_id is 'The transfer.';
comment on column withheld_transfer_credits.credit_id is 'The credit.';
comment on column withheld_transfer_credits.amount is 'How much of it left.';
create index withheld_transfer_credits_credit on withheld_transfer_credits (credit_id);

create table withheld_payouts (
  payout_id uuid primary key references payouts,
  transfer_id uuid not null references withheld_transfers
);
comment on table withheld_payouts is 'The payouts made to carry out a transfer of withheld coins. A table of its own, because older builds read payouts whole.';
comment on column withheld_payouts.payout_id is 'The payout, of purpose withheld.';
comment on column withheld_payouts.transfer_id is 'What it carries out.';
create index withheld_payouts_transfer on withheld_payouts (transfer_id);

create table further_transfers (
  payout_id uuid primary key references payouts,
  reason text not null,
  person text not null,
  allowed_at timestamptz not null default sluice_now()
);
comment on table further_transfers is 'Append-only: transfers between the wallets of the pools that an operator allows to be tried once more, though as many failed as are made without asking (decisions 10).';
comment on column further_transfers.payout_id is 'The last one that failed: one more may be made after it.';
comment on column further_transfers.reason is 'Why.';
comment on column further_transfers.person is 'Who allowed it.';
comment on column further_transfers.allowed_at is 'Service time.';
create trigger further_transfers_append_only before update or delete on further_transfers for each row execute function refuse_change();

alter table adopted_transactions add column withheld_id uuid references withheld_transfers;
alter table adopted_transactions drop constraint adopted_transactions_purpose_check;
alter table adopted_transactions
  add constraint adopted_transactions_purpose_check check (purpose in ('settlement', 'refund', 'withheld', 'other')),
  add constraint adopted_transactions_withheld_check check ((purpose = 'withheld') = (withheld_id is not null));
comment on column adopted_transactions.purpose is 'What it was: settlement paid a cashout, refund paid a refund, withheld paid a transfer of withheld coins; other moved coins between our own addresses, used a nonce up, or is accepted as lost.';
comment on column adopted_transactions.withheld_id is 'The transfer of withheld coins it paid.';
create unique index adopted_transactions_withheld on adopted_transactions (withheld_id) where withheld_id is not null;
