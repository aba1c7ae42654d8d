-- no-transaction
-- The largest deposits that nobody owns yet, about which the chain is asked each minute, however many small ones there are (decision 0104).
create index concurrently if not exists deposits_largest_unallocated on deposits (asset_id, raw_amount desc) where state = 'unallocated';
