-- no-transaction
-- What cashouts cost of whose native asset no price was known when they settled: the few that may wait to be accrued, among all there ever were.
-- older builds: use it where it helps them, and need it for nothing.
create index concurrently if not exists settlement_fees_unpriced on settlement_fees (native_asset_id) where native_price_usd is null;
