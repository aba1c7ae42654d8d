-- Files of what a gateway's lists show, made in the background (decision 0073).
-- older builds: read none of the new tables.

create table exports (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  kind text not null check (kind in ('payments', 'settlements', 'ledger', 'credits')),
  format text not null check (format in ('csv', 'jsonl')),
  columns text[] not null,
  filter jsonb not null,
  from_at timestamptz,
  until timestamptz not null,
  key_id text,
  person_id uuid,
  asked_at timestamptz not null default sluice_now(),
  state text not null default 'making' check (state in ('making', 'ready', 'failed')),
  problem text check (problem in ('too_large', 'internal')),
  place text,
  row_count bigint not null default 0,
  byte_count bigint not null default 0,
  failures int not null default 0,
  worked_at timestamptz,
  ended_at timestamptz
);
comment on table exports is 'Files that were asked for: what is in them, and how far they are made.';
comment on column exports.id is 'Id in the contract.';
comment on column exports.gateway_id is 'Whose rows.';
comment on column exports.kind is 'Which list.';
comment on column exports.format is 'csv (RFC 4180), or jsonl for one JSON object a line.';
comment on column exports.columns is 'What each row has, in this order.';
comment on column exports.filter is 'What the list is narrowed to, by the names of its own filters.';
comment on column exports.from_at is 'Rows made at this time or later; null for all.';
comment on column exports.until is 'Rows made before this time, which is never later than the one it was asked at.';
comment on column exports.key_id is 'API key that asked; null when a person did.';
comment on column exports.person_id is 'Person that asked, in the console; no reference, because it says who, and nothing hangs on it.';
comment on column exports.asked_at is 'Service time.';
comment on column exports.state is 'making until it is ready or was given up.';
comment on column exports.problem is 'Why it was given up.';
comment on column exports.place is 'Names the last row looked at, as a cursor of the list does; null before the first part.';
comment on column exports.row_count is 'Rows written.';
comment on column exports.byte_count is 'Bytes of the file so far, uncompressed.';
comment on column exports.failures is 'Parts that could not be made since the last that was.';
comment on column exports.worked_at is 'When a part was last made or tried, by the database clock: whoever waited longest is next.';
comment on column exports.ended_at is 'Service time at which it became ready or was given up.';
create index exports_newest on exports (gateway_id, asked_at desc, id desc);
create index exports_making on exports (worked_at nulls first, id) where state = 'making';
create index exports_old on exports (asked_at);

create table export_parts (
  export_id uuid not null references exports,
  starts_at bigint not null,
  body bytea not null,
  primary key (export_id, starts_at)
);
comment on table export_parts is 'The files, in parts. Each is written in the transaction that moves its export on.';
comment on column export_parts.export_id is 'Whose part.';
comment on column export_parts.starts_at is 'Which byte of the file it begins with.';
comment on column export_parts.body is 'Its bytes, compressed (gzip).';
