-- When the database was backed up, so that whoever asks how a deployment is learns how much it could lose.

create table backups (
  manifest_sha256 text primary key check (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  taken_at timestamptz not null,
  completed_at timestamptz not null default now(),
  rows bigint not null check (rows >= 0),
  verified_at timestamptz
);
comment on table backups is 'Backups that `sluice backup create` completed, written by the login that made them; what other tools make is not here. Nothing is decided by it (decision 0043).';
comment on column backups.manifest_sha256 is 'SHA-256 of its manifest, which stands for every row of it.';
comment on column backups.taken_at is 'Moment of its snapshot, by the database''s clock: what came later is not in it.';
comment on column backups.completed_at is 'When it was on its disk whole, by the database''s clock.';
comment on column backups.rows is 'How many rows it holds, of all tables.';
comment on column backups.verified_at is 'When `sluice backup verify` last read it and found every row as it was written; null while nobody did.';
