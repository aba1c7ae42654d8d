-- The minute's audit looks at what changed since it was last clean, so it must not miss a change: triggers write down every row it asks about
-- that is written, whoever writes it, in the transaction that does (decision 0054).
-- older builds: know none of this, are written down all the same, and audit everything every minute. Their logins need no right to the new tables:
-- the triggers run with the rights of whoever owns them.

create table audit_changes (
  xid xid8 not null default pg_current_xact_id(),
  subject text not null,
  id uuid,
  number bigint,
  at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(id, number) = 1)
);
comment on table audit_changes is 'What was written since the audit last looked, by what it is about. Written by triggers alone; a row is given up once no mark needs it, and never before a day is over.';
comment on column audit_changes.xid is 'The transaction that wrote it. Its snapshot, and no clock, says whether an audit has seen it.';
comment on column audit_changes.subject is 'What sort of thing changed: payment, credit, settlement, payout, wallet, accrual, invoice or reply by id; ledger or sighting by number.';
comment on column audit_changes.id is 'Its id.';
comment on column audit_changes.number is 'Its id where that is a number.';
comment on column audit_changes.at is 'When, by the database clock: what is younger than a day stays.';
create unique index audit_changes_once on audit_changes (xid, subject, id, number) nulls not distinct;

create table audit_moves (
  xid xid8 not null default pg_current_xact_id(),
  account_id bigint not null,
  amount ledger_amount not null,
  at timestamptz not null default clock_timestamp()
);
comment on table audit_moves is 'Every change of a balance, and against it every entry that was posted to its account: of any transaction they sum to zero, account by account. Written by triggers alone.';
comment on column audit_moves.xid is 'The transaction that wrote it.';
comment on column audit_moves.account_id is 'The ledger account.';
comment on column audit_moves.amount is 'What its balance grew by; below zero what an entry says it should.';
comment on column audit_moves.at is 'When, by the database clock: what is younger than a day stays.';
create index audit_moves_xid on audit_moves (xid);

create table audit_marks (
  check_name text primary key,
  since xid8 not null,
  whole_at timestamptz not null,
  fingerprint text not null,
  history text not null,
  mac bytea not null
);
comment on table audit_marks is 'From which transaction on each check of the audit has yet to look: everything before was found clean.';
comment on column audit_marks.check_name is 'Its short name, such as A4.';
comment on column audit_marks.since is 'Every transaction before it had ended when the check last ran, and what it wrote was looked at.';
comment on column audit_marks.whole_at is 'When it last looked at everything and found it clean, wall time.';
comment on column audit_marks.fingerprint is 'Hash of what the check asks: a release that asks otherwise looks at everything again.';
comment on column audit_marks.history is 'Which history of the database it was true in: a restored one is looked at as a whole.';
comment on column audit_marks.mac is 'Keyed hash of all of it, so that a login that can write here can move no mark forward by itself.';

create function keep_for_a_day() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < clock_timestamp() - interval '1 day' then return old; end if;
  raise exception '% keeps what is younger than a day', tg_table_name using errcode = 'restrict_violation';
end $$;
comment on function keep_for_a_day() is 'Trigger body of what the audit looks at: nobody takes a change back, or makes it disappear before every mark has passed it.';
create trigger audit_changes_kept before update or delete on audit_changes for each row execute function keep_for_a_day();
create trigger audit_changes_never_emptied before truncate on audit_changes for each statement execute function keep_for_a_day();
create trigger audit_moves_kept before update or delete on audit_moves for each row execute function keep_for_a_day();
create trigger audit_moves_never_emptied before truncate on audit_moves for each statement execute function keep_for_a_day();

-- One function for each column that may name what a row is about; its argument is the subject. What a row said before a change counts too.
do $$
declare
  name text;
begin
  foreach name in array array['id', 'payment_id', 'credit_id', 'settlement_id', 'payout_id', 'wallet_id', 'invoice_id', 'resource_id'] loop
    execute format($f$
      create function note_change_of_%1$s() returns trigger language plpgsql security definer as $body$
      begin
        if tg_op <> 'DELETE' and new.%1$I is not null then
          insert into audit_changes (subject, id) values (tg_argv[0], new.%1$I) on conflict do nothing;
        end if;
        if tg_op = 'DELETE' or tg_op = 'UPDATE' and old.%1$I is distinct from new.%1$I then
          insert into audit_changes (subject, id) select tg_argv[0], old.%1$I where old.%1$I is not null on conflict do nothing;
        end if;
        return null;
      end $body$;
      comment on function note_change_of_%1$s() is 'Trigger body: writes down that something is to be audited again, by %1$s.'$f$, name);
  end loop;
end $$;

create function note_sighting() returns trigger language plpgsql security definer as $$
begin
  insert into audit_changes (subject, number) values ('sighting', case tg_op when 'DELETE' then old.id else new.id end) on conflict do nothing;
  return null;
end $$;
comment on function note_sighting() is 'Trigger body: writes down a sighting that changed.';

-- A transfer that nobody of us sent is audited with the deposit that is made of it, which is written down itself.
create function note_new_sightings() returns trigger language plpgsql security definer as $$
begin
  insert into audit_changes (subject, number)
  select 'sighting', s.id from added s where s.kind = 'sent' or exists (select 1 from payout_attempts a where a.txid = s.txid) on conflict do nothing;
  return null;
end $$;
comment on function note_new_sightings() is 'Trigger body: writes down sightings of what was sent from addresses of ours.';

create function note_spends() returns trigger language plpgsql security definer as $$
begin
  insert into audit_changes (subject, number) select distinct 'sighting', s.sighting_id from added s on conflict do nothing;
  return null;
end $$;
comment on function note_spends() is 'Trigger body: writes down sightings whose spent outputs are told.';

create function note_ledger() returns trigger language plpgsql security definer as $$
begin
  insert into audit_changes (subject, number) select 'ledger', t.id from added t on conflict do nothing;
  return null;
end $$;
comment on function note_ledger() is 'Trigger body: writes down new ledger transactions.';

create function note_entries() returns trigger language plpgsql security definer as $$
begin
  insert into audit_changes (subject, number) select distinct 'ledger', e.transaction_id from added e on conflict do nothing;
  insert into audit_moves (account_id, amount) select e.account_id, -e.amount from added e;
  return null;
end $$;
comment on function note_entries() is 'Trigger body: writes down the transaction of new entries, and what each says of its balance.';

create function note_balances() returns trigger language plpgsql security definer as $$
begin
  insert into audit_moves (account_id, amount)
  select coalesce(a.id, b.id), coalesce(a.balance, 0) - coalesce(b.balance, 0) from after a full join before b on b.id = a.id
  where coalesce(a.balance, 0) <> coalesce(b.balance, 0);
  return null;
end $$;
comment on function note_balances() is 'Trigger body: writes down by how much balances changed.';

create function note_account() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then insert into audit_moves (account_id, amount) values (new.id, new.balance);
  else insert into audit_moves (account_id, amount) values (old.id, -old.balance);
  end if;
  return null;
end $$;
comment on function note_account() is 'Trigger body: writes down the balance of an account that begins with one, or ends.';

-- They run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
declare
  body regprocedure;
begin
  for body in select p.oid from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname like 'note\_%' and p.prosecdef loop
    execute format('alter function %s set search_path = %I, pg_temp', body, current_schema());
  end loop;
end $$;

-- A payment that is only asked for breaks nothing, and most of what is written is that.
create trigger payments_noted_new after insert on payments for each row when (new.status <> 'PENDING' or new.aml_state is not null) execute function note_change_of_id('payment');
create trigger payments_noted after update or delete on payments for each row execute function note_change_of_id('payment');
create trigger deposits_noted after insert or update or delete on deposits for each row execute function note_change_of_payment_id('payment');
create trigger credits_noted after insert or update or delete on credits for each row execute function note_change_of_payment_id('payment');
create trigger credit_draws_noted after insert or update or delete on credit_draws for each row execute function note_change_of_credit_id('credit');
create trigger credit_draws_noted_cashout after insert or update or delete on credit_draws for each row execute function note_change_of_settlement_id('settlement');
create trigger charge_draws_noted after insert or update or delete on charge_draws for each row execute function note_change_of_credit_id('credit');
create trigger withheld_transfer_credits_noted after insert or update or delete on withheld_transfer_credits for each row execute function note_change_of_credit_id('credit');
create trigger aml_events_noted after insert or update or delete on aml_events for each row execute function note_change_of_payment_id('payment');
create trigger aml_refunds_noted after insert or update or delete on aml_refunds for each row execute function note_change_of_payment_id('payment');
create trigger aml_refund_credits_noted after insert or update or delete on aml_refund_credits for each row execute function note_change_of_credit_id('credit');
create trigger pool_moves_noted after update or delete on pool_moves for each row execute function note_change_of_payment_id('payment');
create trigger payment_events_noted after update or delete on payment_events for each row execute function note_change_of_payment_id('payment');
create trigger webhook_events_noted_new after insert or delete on webhook_events for each row execute function note_change_of_payment_id('payment');
create trigger webhook_events_noted after update on webhook_events for each row
  when ((old.payment_id, old.status) is distinct from (new.payment_id, new.status)) execute function note_change_of_payment_id('payment');
create trigger settlements_noted after insert or update or delete on settlements for each row execute function note_change_of_id('settlement');
create trigger settlement_fees_noted after insert or update or delete on settlement_fees for each row execute function note_change_of_settlement_id('settlement');
create trigger adopted_transactions_noted after insert or update or delete on adopted_transactions for each row execute function note_change_of_settlement_id('settlement');
create trigger accruals_noted after insert or update or delete on accruals for each row execute function note_change_of_id('accrual');
create trigger accruals_noted_credit after insert or update or delete on accruals for each row execute function note_change_of_credit_id('credit');
create trigger accruals_noted_cashout after insert or update or delete on accruals for each row execute function note_change_of_settlement_id('settlement');
create trigger invoices_noted after insert or update or delete on invoices for each row execute function note_change_of_id('invoice');
create trigger invoice_lines_noted after insert or update or delete on invoice_lines for each row execute function note_change_of_invoice_id('invoice');
create trigger payouts_noted after insert or update or delete on payouts for each row execute function note_change_of_id('payout');
-- A nonce, once given, stays: where one does not, all of its wallet are looked at.
create trigger payouts_noted_wallet after update on payouts for each row
  when (old.nonce is not null and (old.wallet_id, old.nonce) is distinct from (new.wallet_id, new.nonce)) execute function note_change_of_wallet_id('wallet');
create trigger payouts_noted_gone after delete on payouts for each row execute function note_change_of_wallet_id('wallet');
create trigger payout_attempts_noted after insert or update or delete on payout_attempts for each row execute function note_change_of_payout_id('payout');
create trigger payout_events_noted after update or delete on payout_events for each row execute function note_change_of_payout_id('payout');
create trigger output_locks_noted after insert or update or delete on output_locks for each row execute function note_change_of_payout_id('payout');
create trigger wallets_noted after update on wallets for each row
  when (new.next_nonce < old.next_nonce or (old.network_id, old.role, old.address, old.halted_reason) is distinct from (new.network_id, new.role, new.address, new.halted_reason))
  execute function note_change_of_id('wallet');
create trigger wallets_noted_gone after delete on wallets for each row execute function note_change_of_id('wallet');
create trigger idempotency_keys_noted after insert on idempotency_keys for each row when (new.resource_id is not null) execute function note_change_of_resource_id('reply');
create trigger idempotency_keys_noted_change after update on idempotency_keys for each row
  when (old.resource_id is distinct from new.resource_id) execute function note_change_of_resource_id('reply');
create trigger sightings_noted_new after insert on sightings referencing new table as added for each statement execute function note_new_sightings();
create trigger sightings_noted_gone after delete on sightings for each row execute function note_sighting();
create trigger sightings_noted after update on sightings for each row
  when ((old.network_id, old.kind, old.txid, old.ordinal, old.height, old.block_hash, old.sender, old.recipient, old.contract, old.raw_amount, old.nonce, old.raw_fee, old.canonical)
    is distinct from (new.network_id, new.kind, new.txid, new.ordinal, new.height, new.block_hash, new.sender, new.recipient, new.contract, new.raw_amount, new.nonce, new.raw_fee, new.canonical))
  execute function note_sighting();
create trigger spent_outputs_noted after insert on spent_outputs referencing new table as added for each statement execute function note_spends();
create trigger ledger_transactions_noted after insert on ledger_transactions referencing new table as added for each statement execute function note_ledger();
create trigger ledger_entries_noted after insert on ledger_entries referencing new table as added for each statement execute function note_entries();
create trigger ledger_accounts_noted after update on ledger_accounts referencing old table as before new table as after for each statement execute function note_balances();
create trigger ledger_accounts_noted_new after insert on ledger_accounts for each row when (new.balance <> 0) execute function note_account();
create trigger ledger_accounts_noted_gone after delete on ledger_accounts for each row execute function note_account();

-- By which the audit finds few among many. Building them reads the tables once, and none is written to by requests that cannot wait a second.
create index ledger_accounts_settlement on ledger_accounts (settlement_id) where settlement_id is not null;
create index ledger_accounts_standing on ledger_accounts (kind, gateway_id) where kind <> 'reserved';
create index payouts_rare on payouts (purpose, asset_id) where purpose in ('refund', 'withheld', 'cold', 'consolidation');
create index deposits_summed on deposits (final_at) where parts is not null;
