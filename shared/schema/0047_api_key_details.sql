-- What a gateway's people need to tell its API keys apart, and what narrows one: a name, an end, addresses (decision 0060).
-- older builds: serve a key that has ended, or is used from elsewhere, until they are replaced; what they write themselves has neither. The index is on a table of some thousand rows.

alter table api_keys add column name text;
alter table api_keys add column last_four text;
alter table api_keys add column last_used_from text;
alter table api_keys add column expires_at timestamptz;
alter table api_keys add column allowlist text[];
alter table api_keys add column created_by text;
comment on column api_keys.name is 'What its gateway calls it; null when whoever made it gave none.';
comment on column api_keys.last_four is 'Last four characters of its text, by which a person tells it from another; null for one made before they were kept.';
comment on column api_keys.last_used_from is 'Address of the use that last_used_at tells of.';
comment on column api_keys.expires_at is 'Service time from which it is as unknown as any other; null for one that works until it is revoked.';
comment on column api_keys.allowlist is 'Addresses and ranges it may be used from; null for one that may be used from anywhere.';
comment on column api_keys.created_by is 'The key of the same gateway that made it; null when an operator did.';
create index api_keys_newest on api_keys (gateway_id, created_at desc, id desc);
