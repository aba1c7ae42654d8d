-- Columns that a person chose for an export, for the next time (decision 0093).
-- older builds: ask for every column, and neither read these rows nor write any.

create table export_columns (
  person_id uuid not null references people,
  gateway_id uuid not null references gateways,
  kind text not null check (kind in ('payments', 'settlements', 'ledger', 'credits', 'audit')),
  columns text[] not null check (cardinality(columns) > 0),
  primary key (person_id, gateway_id, kind)
);
comment on table export_columns is 'Columns that a person chose when they last asked for an export of this kind; no row is all of them, also those that come to be later.';
comment on column export_columns.person_id is 'Who chose.';
comment on column export_columns.gateway_id is 'Whose rows.';
comment on column export_columns.kind is 'Which list, as in exports.';
comment on column export_columns.columns is 'Names of fields; one that there is no more is passed over.';
create index export_columns_gateway on export_columns (gateway_id);
