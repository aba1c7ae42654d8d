-- Wrong codes are counted by person, whichever authenticator they were for; what ended of signing in is found by its age and forgotten.
-- older builds: count wrong codes at each authenticator, which the new rights refuse them: they let nobody in by a code. Passkeys work.

create table code_guards (
  person_id uuid primary key references people,
  failures int not null default 0 check (failures >= 0),
  locked_until timestamptz
);
comment on table code_guards is 'What stands between a person''s codes and whoever guesses them.';
comment on column code_guards.person_id is 'Whose.';
comment on column code_guards.failures is 'Wrong codes since the last right one, or since the last lock ended.';
comment on column code_guards.locked_until is 'Service time until which no code is looked at.';
comment on column authenticators.failures is 'Not counted any more: code_guards does, by person.';
comment on column authenticators.locked_until is 'Not set any more: code_guards holds it, by person.';

create index authenticators_old on authenticators (ended_at) where ended_at is not null;
create index authenticators_waiting on authenticators (created_at) where ended_at is null and confirmed_at is null;
create index recovery_codes_old on recovery_codes (used_at) where used_at is not null;
create index sessions_old on sessions (created_at);
create index invitations_old on invitations (created_at);

create table person_notices (
  id uuid primary key,
  person_id uuid not null references people,
  what text not null,
  address text,
  at timestamptz not null default sluice_now()
);
comment on table person_notices is 'What people are told by mail of their own way in: each is sent by a job, and forgotten with what else ended of signing in.';
comment on column person_notices.id is 'Notice id; the job''s reference.';
comment on column person_notices.person_id is 'Who is told.';
comment on column person_notices.what is 'What happened, by the name of the act: passkey.add.';
comment on column person_notices.address is 'Where it came from; null where it is not known.';
comment on column person_notices.at is 'Service time at which it happened.';
create index person_notices_old on person_notices (at);
