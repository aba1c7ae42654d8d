-- no-transaction
-- What gateways have open, read from the index alone: a row of the table for each of them is a page for each (decision 0083).
create index concurrently if not exists credits_open on credits (gateway_id, asset_id, pool, taken, matured_at, payment_id, remaining) where remaining > 0;
