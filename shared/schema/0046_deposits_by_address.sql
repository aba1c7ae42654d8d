-- no-transaction
-- What came to one address: asked before each sweep, and by the audit of each sweep that changed (decision 0055).
create index concurrently if not exists deposits_address on deposits (address_id);
