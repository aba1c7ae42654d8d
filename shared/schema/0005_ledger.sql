-- Append-only double entry. Every transaction sums to zero per asset; gateway balances can never go below zero.

create table ledger_accounts (
  id bigint generated always as identity primary key,
  gateway_id uuid references gateways,
  asset_id uuid not null references assets,
  kind text not null check (kind in (
    'pending', 'available', 'heldPending', 'held', 'reserved', 'withheld',
    'networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'unallocated', 'loss', 'chain')),
  settlement_id uuid,
  balance ledger_amount not null default 0,
  unique nulls not distinct (asset_id, kind, gateway_id, settlement_id),
  check ((gateway_id is not null) = (kind in ('pending', 'available', 'heldPending', 'held', 'reserved', 'withheld'))),
  check ((settlement_id is not null) = (kind = 'reserved')),
  check (balance >= 0 or kind in ('networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'loss', 'chain'))
);
comment on table ledger_accounts is 'Running balances; locked in id order before anything is posted to them.';
comment on column ledger_accounts.id is 'Lock order.';
comment on column ledger_accounts.gateway_id is 'Owner; null for the accounts of the deployment.';
comment on column ledger_accounts.asset_id is 'The asset; accounts never mix two.';
comment on column ledger_accounts.kind is 'Which account (architecture 2, Ledger). chain is the outside: its balance is minus what we hold.';
comment on column ledger_accounts.settlement_id is 'The settlement a reservation belongs to.';
comment on column ledger_accounts.balance is 'Sum of its entries.';

create table ledger_transactions (
  id bigint generated always as identity primary key,
  source_key text not null unique,
  kind text not null,
  at timestamptz not null default sluice_now()
);
comment on table ledger_transactions is 'One balanced set of entries with one cause.';
comment on column ledger_transactions.id is 'Order.';
comment on column ledger_transactions.source_key is 'Names the cause (deposit:<id>, settlement:<id>:reserve); posting it twice is impossible.';
comment on column ledger_transactions.kind is 'Which posting made it: credit, mature, reserve, settle, release, gas, fund, unallocated.';
comment on column ledger_transactions.at is 'Service time.';

create table ledger_entries (
  transaction_id bigint not null references ledger_transactions,
  account_id bigint not null references ledger_accounts,
  asset_id uuid not null references assets,
  amount ledger_amount not null check (amount <> 0),
  primary key (transaction_id, account_id)
);
comment on table ledger_entries is 'What a transaction adds to each account; corrections are new transactions.';
comment on column ledger_entries.transaction_id is 'The transaction.';
comment on column ledger_entries.account_id is 'The account.';
comment on column ledger_entries.asset_id is 'The account''s asset, repeated for the zero-sum check.';
comment on column ledger_entries.amount is 'Signed amount added to the account.';
create index ledger_entries_account on ledger_entries (account_id);

create function ledger_entry_fits() returns trigger language plpgsql as $$
begin
  if (select asset_id from ledger_accounts where id = new.account_id) <> new.asset_id then
    raise exception 'ledger entry of asset % on an account of another asset', new.asset_id using errcode = 'check_violation';
  end if;
  return new;
end $$;
comment on function ledger_entry_fits() is 'Refuses an entry whose asset is not its account''s.';
create trigger ledger_entries_fit before insert on ledger_entries for each row execute function ledger_entry_fits();

create function ledger_zero_sum() returns trigger language plpgsql as $$
begin
  if exists (select 1 from ledger_entries where transaction_id = new.transaction_id group by asset_id having sum(amount) <> 0) then
    raise exception 'ledger transaction % does not sum to zero', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $$;
comment on function ledger_zero_sum() is 'Refuses a commit whose ledger transaction does not sum to zero per asset.';
create constraint trigger ledger_entries_zero_sum after insert on ledger_entries
  deferrable initially deferred for each row execute function ledger_zero_sum();
create trigger ledger_entries_append_only before update or delete on ledger_entries for each row execute function refuse_change();
create trigger ledger_transactions_append_only before update or delete on ledger_transactions for each row execute function refuse_change();

create table credits (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  asset_id uuid not null references assets,
  payment_id uuid not null references payments,
  pool text not null check (pool in ('green', 'held')),
  gross unsigned_amount not null,
  network_fee unsigned_amount not null,
  commission unsigned_amount not null,
  net unsigned_amount not null,
  remaining unsigned_amount not null,
  credited_at timestamptz not null,
  matures_at timestamptz not null,
  mature_height bigint,
  network_id uuid not null references networks,
  matured_at timestamptz,
  check (remaining <= net)
);
comment on table credits is 'What each deposit added to a balance; cashouts draw matured credits first in, first out (decisions 10).';
comment on column credits.id is 'Id of the deposit it came from (the first one when a block''s transfers were summed).';
comment on column credits.gateway_id is 'Owner.';
comment on column credits.asset_id is 'The asset that arrived.';
comment on column credits.payment_id is 'The payment.';
comment on column credits.pool is 'green, or held when screening flagged it.';
comment on column credits.gross is 'Received on chain.';
comment on column credits.network_fee is 'Network fee taken from it.';
comment on column credits.commission is 'Commission taken from it.';
comment on column credits.net is 'Credited: gross minus both.';
comment on column credits.remaining is 'Not yet drawn by a cashout.';
comment on column credits.credited_at is 'Service time of the credit.';
comment on column credits.matures_at is 'Earliest service time it can be withdrawn.';
comment on column credits.mature_height is 'Block that must be final (by the maturity rule of decisions 5) before it can be withdrawn.';
comment on column credits.network_id is 'The network whose finality it waits for.';
comment on column credits.matured_at is 'When it became withdrawable; null while maturing.';
create index credits_drawable on credits (gateway_id, asset_id, pool, matured_at, id) where remaining > 0;
create index credits_maturing on credits (matures_at) where matured_at is null;

create table credit_draws (
  settlement_id uuid not null,
  credit_id uuid not null references credits,
  amount unsigned_amount not null check (amount > 0),
  state text not null check (state in ('reserved', 'spent', 'released')),
  primary key (settlement_id, credit_id)
);
comment on table credit_draws is 'Which credits a settlement was paid from.';
comment on column credit_draws.settlement_id is 'The settlement.';
comment on column credit_draws.credit_id is 'The credit.';
comment on column credit_draws.amount is 'How much of it.';
comment on column credit_draws.state is 'reserved until the settlement ends; then spent, or released back.';
create index credit_draws_credit on credit_draws (credit_id);
