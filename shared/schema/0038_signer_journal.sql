-- The signer remembers what it signed outside of Postgres; here stands how far its memory went, so that neither can go back unnoticed.
-- older builds: know neither table, and their signers leave both as they are; what they sign has to be told to the journal before a newer
-- signer goes on (ops/docs/upgrading.md).

create table signer_journal (
  one boolean primary key default true check (one),
  journal_id uuid not null,
  seq bigint not null check (seq >= 0),
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  moved_at timestamptz not null default sluice_now()
);
comment on table signer_journal is 'One row: the end of the signer''s journal when it last stored signed bytes, moved in the transaction that stores them and only from where it stood (decision 0037).';
comment on column signer_journal.one is 'Always true: there is one journal.';
comment on column signer_journal.journal_id is 'Which journal; another one takes its place only by what two people agreed on.';
comment on column signer_journal.seq is 'How many signatures it held.';
comment on column signer_journal.hash is 'Hash of its chain there, which stands for every one of them.';
comment on column signer_journal.moved_at is 'Service time.';

create table signer_reports (
  one boolean primary key default true check (one),
  state text not null check (length(state) between 1 and 40),
  reason text not null,
  unknown bigint not null check (unknown >= 0),
  reported_at timestamptz not null default sluice_now()
);
comment on table signer_reports is 'One row: what the signer says of its journal, for operators; nothing is decided by it.';
comment on column signer_reports.one is 'Always true: one signer signs.';
comment on column signer_reports.state is 'open while it signs; otherwise what is wrong, such as missing, shorter or forked.';
comment on column signer_reports.reason is 'The same in words; empty while it signs.';
comment on column signer_reports.unknown is 'Signatures of the last day that the journal holds and Postgres does not.';
comment on column signer_reports.reported_at is 'Service time at which it said so.';
