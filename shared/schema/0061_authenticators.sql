-- The other way to sign in to the console: a mailed link together with an authenticator's code, or one of ten codes on paper.
-- older builds: read none of the new tables.

create table authenticators (
  id uuid primary key,
  person_id uuid not null references people,
  sealed bytea not null,
  sealed_under text,
  created_at timestamptz not null default sluice_now(),
  confirmed_at timestamptz,
  ended_at timestamptz,
  last_step bigint not null default 0,
  failures int not null default 0 check (failures >= 0),
  locked_until timestamptz
);
comment on table authenticators is 'Authenticators of people (RFC 6238): one that counts and one that waits for its first code; ended ones stay, and never count again.';
comment on column authenticators.id is 'Row id; part of the encryption''s associated data, so a sealed value cannot be moved to another row.';
comment on column authenticators.person_id is 'Whose.';
comment on column authenticators.sealed is 'The seed: version, wrapped data key, nonce, ciphertext and tag.';
comment on column authenticators.sealed_under is 'Id of the master key it is sealed under.';
comment on column authenticators.created_at is 'Service time.';
comment on column authenticators.confirmed_at is 'Service time of its first code, from which it counts; null before.';
comment on column authenticators.ended_at is 'Service time at which it was removed, or gave way to another one.';
comment on column authenticators.last_step is 'Time step of the last code that counted: an older one, or the same one again, does not.';
comment on column authenticators.failures is 'Wrong codes since the last right one, or since the last lock ended.';
comment on column authenticators.locked_until is 'Service time until which no code is looked at.';
create index authenticators_sealed_under on authenticators (sealed_under);
create unique index authenticators_of_person on authenticators (person_id, (confirmed_at is null)) where ended_at is null;

create table recovery_codes (
  authenticator_id uuid not null references authenticators,
  code_hash text not null check (code_hash ~ '^[0-9a-f]{64}$'),
  used_at timestamptz,
  primary key (authenticator_id, code_hash)
);
comment on table recovery_codes is 'Codes on paper, each of which stands in for a code of its authenticator once.';
comment on column recovery_codes.authenticator_id is 'Made with this one, and gone with it.';
comment on column recovery_codes.code_hash is 'SHA-256 of the code''s 80 random bits as people read them, in hex.';
comment on column recovery_codes.used_at is 'Service time at which it was used; null while it can be.';

create table sign_in_links (
  token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
  person_id uuid not null references people,
  created_at timestamptz not null default sluice_now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);
comment on table sign_in_links is 'Links that were mailed to people; each lets whoever has their authenticator in once.';
comment on column sign_in_links.token_hash is 'SHA-256 of the link''s 256 random bits, in hex.';
comment on column sign_in_links.person_id is 'To whom.';
comment on column sign_in_links.created_at is 'Service time.';
comment on column sign_in_links.expires_at is 'Service time from which it does not work.';
comment on column sign_in_links.ended_at is 'Service time at which it was used.';
create index sign_in_links_of_person on sign_in_links (person_id, created_at desc);
create index sign_in_links_old on sign_in_links (expires_at);
