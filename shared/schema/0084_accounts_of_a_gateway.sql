-- no-transaction
-- What a gateway has in its own accounts, found without the empty account that each cashout leaves behind.
create index concurrently if not exists ledger_accounts_gateway on ledger_accounts (gateway_id) where kind <> 'reserved';
