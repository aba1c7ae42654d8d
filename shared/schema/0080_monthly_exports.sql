-- Exports that are made on the first day of each month, and the language of people's mail (decision 0082).
-- older builds: make none of these files, and an older worker that finds a note of one passes over it: the file is among the reports all the same.

create table monthly_exports (
  person_id uuid not null references people,
  gateway_id uuid not null references gateways,
  kind text not null check (kind in ('payments', 'settlements', 'ledger', 'credits', 'audit')),
  format text not null check (format in ('csv', 'jsonl')),
  columns text[] not null check (cardinality(columns) > 0),
  since timestamptz not null default sluice_now(),
  primary key (person_id, gateway_id, kind)
);
comment on table monthly_exports is 'Files that a person wants of each month; no row is none. Rows end with what the role of the person allows.';
comment on column monthly_exports.person_id is 'Who is mailed that it is ready.';
comment on column monthly_exports.gateway_id is 'Whose rows.';
comment on column monthly_exports.kind is 'Which list, as in exports.';
comment on column monthly_exports.format is 'As in exports.';
comment on column monthly_exports.columns is 'What each row has, in this order.';
comment on column monthly_exports.since is 'The month that this lies in is the first one.';
create index monthly_exports_gateway on monthly_exports (gateway_id);

create table monthly_export_files (
  person_id uuid not null,
  gateway_id uuid not null,
  kind text not null,
  month date not null,
  export_id uuid not null,
  primary key (person_id, gateway_id, kind, month)
);
comment on table monthly_export_files is 'Which export was asked for, for whom and of which month: once. People who want the same share one.';
comment on column monthly_export_files.person_id is 'For whom.';
comment on column monthly_export_files.gateway_id is 'Whose rows.';
comment on column monthly_export_files.kind is 'Which list.';
comment on column monthly_export_files.month is 'First day of the month.';
comment on column monthly_export_files.export_id is 'The export; no reference, because it is deleted earlier than this.';

create table person_languages (
  person_id uuid primary key references people,
  language text not null check (language ~ '^[A-Za-z-]{2,35}$')
);
comment on table person_languages is 'The language of a person''s mail: that of the page on which they last chose what they are mailed.';
comment on column person_languages.person_id is 'Whose.';
comment on column person_languages.language is 'BCP 47 tag.';
