-- What no root covers, and what two people say of header fields that no release knows yet (decision 0039).

alter table sightings add column unproven boolean not null default false;
comment on column sightings.unproven is 'No root in its block''s header covers it: the block holds something of a form that nobody here knows.';

alter table deposits add column unproven boolean not null default false;
comment on column deposits.unproven is 'No root in its block''s header covers it: never credited on one provider''s word, whatever its amount.';

create table accepted_header_fields (
  network_id uuid not null references networks (id),
  field text not null check (field ~ '^[A-Za-z][A-Za-z0-9]{0,63}$'),
  proposal_id uuid not null,
  accepted_by text not null,
  accepted_at timestamptz not null default sluice_now(),
  primary key (network_id, field)
);
comment on table accepted_header_fields is 'Header fields that two people accept although nobody here can hash them: until a release knows them, the hash of a header that has them is believed as told.';
comment on column accepted_header_fields.network_id is 'Whose headers.';
comment on column accepted_header_fields.field is 'As nodes name it.';
comment on column accepted_header_fields.proposal_id is 'What was proposed and confirmed.';
comment on column accepted_header_fields.accepted_by is 'Who proposed it and who confirmed it.';
comment on column accepted_header_fields.accepted_at is 'When the second person confirmed it.';
