-- no-transaction
-- What addresses of ours sent and is not final yet, among all that is not: deposits wait there by the ten thousand while a chain finalises slowly.
-- older builds: use it where it helps them, and need it for nothing.
create index concurrently if not exists sightings_sent on sightings (network_id) where canonical and booked_at is null and kind = 'sent';
