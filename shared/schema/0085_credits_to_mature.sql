-- no-transaction
-- Credits that time alone makes available, which each applied block asks about: without those that wait for a verdict or were given back, which may be many and never mature.
create index concurrently if not exists credits_to_mature on credits (matures_at) where matured_at is null and taken is null and screening <> 'waiting';
