-- What lets one of its users harm the others gets its own place in the books: a gateway answers for what its destinations cost, coins can
-- lie in cold storage, and coins kept from a gateway have a way out.
-- older builds: sign nothing for a purpose they do not know, and post to no account they do not know; what they write fits the wider lists.

alter table payouts drop constraint payouts_purpose_check;
alter table payouts add constraint payouts_purpose_check
  check (purpose in ('settlement', 'refund', 'sweep', 'top_up', 'held_release', 'close', 'consolidation', 'withheld', 'cold')) not valid;
comment on column payouts.purpose is 'Why it is sent. settlement: pays a cashout; refund: pays coins of a held payment back; sweep: from a deposit address to the wallet of its payment''s pool; top_up: gas from the funding wallet; held_release: between the hot and the held wallet, because a payment changed its pool; consolidation: many small outputs of a pool into one; withheld: coins kept from a gateway, to where the operator decided; cold: what a hot wallet has above its ceiling, to cold storage; close: never stored, a family is closed by an attempt of its own.';

alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts drop constraint ledger_accounts_owner_check;
alter table ledger_accounts drop constraint ledger_accounts_balance_check;
alter table ledger_accounts
  add constraint ledger_accounts_kind_check check (kind in (
    'pending', 'available', 'heldPending', 'held', 'reserved', 'withheld', 'refunding', 'owed',
    'networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'unallocated', 'loss', 'chain', 'cold')) not valid,
  add constraint ledger_accounts_owner_check
    check ((gateway_id is not null) = (kind in ('pending', 'available', 'heldPending', 'held', 'reserved', 'withheld', 'refunding', 'owed'))) not valid,
  add constraint ledger_accounts_balance_check check (case
    when kind in ('networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'loss', 'chain', 'cold') then true
    when kind = 'owed' then balance <= 0
    else balance >= 0 end) not valid;
comment on column ledger_accounts.kind is 'Which account (architecture 2, Ledger). chain is the outside: its balance is minus what our wallets hold; cold is the same for cold storage. refunding: ordered back to a payer and not paid yet. owed: what a gateway''s destinations cost beyond its balance, below zero until its next credits have paid it.';
