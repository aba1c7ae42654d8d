-- Gateways, their keys and secrets; networks, assets and prices.

create table networks (
  id uuid primary key,
  name text not null unique,
  family text not null check (family in ('evm', 'tron', 'bitcoin')),
  chain_id text not null,
  genesis_hash text,
  native_symbol text not null,
  paused_at timestamptz
);
comment on table networks is 'The chains this deployment serves; one row per configured network, kept in step with the networks file at start.';
comment on column networks.id is 'Contract networkId.';
comment on column networks.name is 'Name used in configuration, streams, metrics and the API.';
comment on column networks.family is 'Which adapter reads and pays on it.';
comment on column networks.chain_id is 'EIP-155 chain id for EVM, the network''s own name elsewhere.';
comment on column networks.genesis_hash is 'Hash of block 0, stored at first contact; another chain under the same name is refused.';
comment on column networks.native_symbol is 'Ticker of the native coin.';
comment on column networks.paused_at is 'When an operator paused new addresses and dispatch on it; null when running.';

create table assets (
  id uuid primary key,
  network_id uuid not null references networks,
  symbol text not null,
  name text not null,
  type text not null check (type in ('NATIVE', 'ERC20', 'TRC20', 'BEP20')),
  contract text,
  decimals int not null check (decimals between 0 and 18),
  network_fee unsigned_amount not null default 0,
  dust_floor unsigned_amount not null default 0,
  minimum_settlement unsigned_amount,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  check ((type = 'NATIVE') = (contract is null)),
  unique nulls not distinct (network_id, contract)
);
comment on table assets is 'The coins and tokens this deployment accepts. Decimals and contract come from configuration, never from the chain.';
comment on column assets.id is 'Contract assetId.';
comment on column assets.network_id is 'The chain it lives on.';
comment on column assets.symbol is 'Ticker; also the name its price is looked up by.';
comment on column assets.name is 'Name for people.';
comment on column assets.type is 'Token standard (contract 2.9).';
comment on column assets.contract is 'Token contract in canonical form; null for the native coin.';
comment on column assets.decimals is 'Decimal places of one unit on chain.';
comment on column assets.network_fee is 'What a payment pays for the network, in asset units (decisions 2, 11).';
comment on column assets.dust_floor is 'A transfer below this is recorded and resolves nothing (decisions 3).';
comment on column assets.minimum_settlement is 'Smallest cashout in asset units; null means the equivalent of 1 USD (decisions 10).';
comment on column assets.active is 'Whether new offers may use it; deposits are always credited.';
comment on column assets.created_at is 'When it was added.';

create table prices (
  symbol text primary key,
  usd unsigned_amount not null check (usd > 0),
  source text not null,
  at timestamptz not null
);
comment on table prices is 'The latest accepted US dollar price per ticker or fiat code.';
comment on column prices.symbol is 'Asset ticker, or `fiat:<CODE>` for a currency.';
comment on column prices.usd is 'US dollars for one unit.';
comment on column prices.source is 'Where it came from: `static`, or the sources whose median it is.';
comment on column prices.at is 'Service time the price was taken; offers refuse one that is too old.';

create table currencies (
  code text primary key check (code = upper(code)),
  active boolean not null default true
);
comment on table currencies is 'The invoice currencies payments may be priced in.';
comment on column currencies.code is 'ISO-style code, upper case.';
comment on column currencies.active is 'Whether new payments may use it.';

create table gateways (
  id uuid primary key,
  name text not null,
  status text not null check (status in ('PENDING', 'VERIFIED', 'SUSPENDED')),
  billing text not null check (billing in ('STANDARD', 'MONTHLY', 'PLATFORM')),
  settings jsonb not null,
  created_at timestamptz not null default now()
);
comment on table gateways is 'Merchant integrations; each owns its payments, balances, keys and settings.';
comment on column gateways.id is 'Gateway id.';
comment on column gateways.name is 'Name for operators.';
comment on column gateways.status is 'Only VERIFIED gateways are served (contract 5.2).';
comment on column gateways.billing is 'Billing arrangement (contract 1).';
comment on column gateways.settings is 'Everything the operator API lets one set (operability 3), complete with defaults, validated before it is written.';
comment on column gateways.created_at is 'When it was created.';

create table api_keys (
  id text primary key,
  gateway_id uuid not null references gateways,
  secret_hash bytea not null,
  permissions text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
comment on table api_keys is 'API keys; only a peppered hash of the secret half is kept, so a copy of this table opens nothing.';
comment on column api_keys.id is 'Public half of the key, by which it is looked up.';
comment on column api_keys.gateway_id is 'The one gateway it belongs to.';
comment on column api_keys.secret_hash is 'HMAC-SHA256 of the secret half, keyed with the pepper outside the database.';
comment on column api_keys.permissions is 'What it may call (decisions 8).';
comment on column api_keys.created_at is 'When it was made.';
comment on column api_keys.last_used_at is 'Last accepted use, to the minute.';
comment on column api_keys.revoked_at is 'When it was revoked; null while it works.';
create index api_keys_gateway on api_keys (gateway_id);

create table gateway_secrets (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  kind text not null check (kind in ('webhook', 'cashout', 'totp')),
  sealed bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
comment on table gateway_secrets is 'Secrets the service must be able to read back, envelope-encrypted under the master key and bound to their row.';
comment on column gateway_secrets.id is 'Row id; part of the encryption''s associated data, so a sealed value cannot be moved to another row.';
comment on column gateway_secrets.gateway_id is 'Owner.';
comment on column gateway_secrets.kind is 'webhook signing secret, cashout signing secret or authenticator seed.';
comment on column gateway_secrets.sealed is 'Version, wrapped data key, nonce, ciphertext and tag.';
comment on column gateway_secrets.created_at is 'When it was made; the newest is the current one.';
comment on column gateway_secrets.expires_at is 'End of the overlap after a rotation; null for the current one.';
create index gateway_secrets_gateway on gateway_secrets (gateway_id, kind);

create table idempotency_keys (
  gateway_id uuid not null references gateways,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  status int,
  body text,
  resource_id uuid,
  created_at timestamptz not null default now(),
  primary key (gateway_id, operation, key)
);
comment on table idempotency_keys is 'One row per accepted Idempotency-Key; written in the transaction of its effect, so either both exist or neither (decisions 8).';
comment on column idempotency_keys.gateway_id is 'Scope: the gateway.';
comment on column idempotency_keys.operation is 'Scope: the operationId; each has its own namespace.';
comment on column idempotency_keys.key is 'The header''s value.';
comment on column idempotency_keys.fingerprint is 'SHA-256 of method, path and raw body; another one under the same key is a conflict.';
comment on column idempotency_keys.status is 'HTTP status of the stored 2xx response; null only inside the transaction that is creating it.';
comment on column idempotency_keys.body is 'The stored response, byte for byte.';
comment on column idempotency_keys.resource_id is 'What it created, for the audit.';
comment on column idempotency_keys.created_at is 'Kept 90 days from here.';
create index idempotency_keys_age on idempotency_keys (created_at);
