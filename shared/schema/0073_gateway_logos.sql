-- The logos that owners gave their gateways, beside the settings that name one by its hash (decision 0085).
-- older builds: show the logo of branding.logoUrl, or none, and forget branding.logo when they change a gateway.
create table gateway_logos (
  gateway_id uuid not null references gateways,
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  type text not null check (type in ('image/png', 'image/webp')),
  body bytea not null check (octet_length(body) between 1 and 16384),
  added_at timestamptz not null default now(),
  primary key (gateway_id, hash)
);
comment on table gateway_logos is 'Logos of gateways as they were uploaded; the settings of the gateway name the one that is shown, the one before it stays for pages that are open.';
comment on column gateway_logos.gateway_id is 'Whose logo it is.';
comment on column gateway_logos.hash is 'SHA-256 of the bytes, in hex; part of the path that it is served at.';
comment on column gateway_logos.type is 'What the bytes are by their own signature.';
comment on column gateway_logos.body is 'The image as it was sent.';
comment on column gateway_logos.added_at is 'When it came, by the database clock.';
