-- How people sign in to the console, and what a browser that did holds.
-- older builds: read none of the new tables.

create table passkeys (
  id text primary key check (length(id) between 16 and 1400),
  person_id uuid not null references people,
  public_key text not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  created_at timestamptz not null default sluice_now(),
  used_at timestamptz,
  removed_at timestamptz
);
comment on table passkeys is 'Public halves of the keys that people sign in with (WebAuthn); removed ones stay, and never work again.';
comment on column passkeys.id is 'Credential id, in base64url, as the authenticator chose it.';
comment on column passkeys.person_id is 'Whose.';
comment on column passkeys.public_key is 'COSE key, in base64url.';
comment on column passkeys.counter is 'Signatures that the authenticator says it made; one that goes back was copied. 0 where it does not count.';
comment on column passkeys.transports is 'How browsers reach it, for the next time it is asked for.';
comment on column passkeys.created_at is 'Service time.';
comment on column passkeys.used_at is 'Service time of the last sign-in.';
comment on column passkeys.removed_at is 'Service time from which it does not work.';
create index passkeys_of_person on passkeys (person_id) where removed_at is null;

create table passkey_challenges (
  hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
  purpose text not null check (purpose in ('sign-in', 'invitation', 'passkey', 'act')),
  subject text not null,
  expires_at timestamptz not null
);
comment on table passkey_challenges is 'What authenticators are asked to sign; taken out by the answer, so that none is good twice.';
comment on column passkey_challenges.hash is 'SHA-256 of the 256 random bits, in hex.';
comment on column passkey_challenges.purpose is 'What the answer is good for, and nothing else.';
comment on column passkey_challenges.subject is 'For whom: hash of an invitation''s token, person id, session and hash of an act, or nothing for a sign-in, which asks who it is.';
comment on column passkey_challenges.expires_at is 'Service time from which no answer counts.';
create index passkey_challenges_old on passkey_challenges (expires_at);

create table sessions (
  id uuid primary key,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  person_id uuid not null references people,
  address text not null,
  browser text not null check (length(browser) <= 200),
  created_at timestamptz not null default sluice_now(),
  seen_at timestamptz not null default sluice_now(),
  ended_at timestamptz
);
comment on table sessions is 'Browsers that are signed in, and those that were.';
comment on column sessions.id is 'Session id, which opens nothing.';
comment on column sessions.token_hash is 'SHA-256 of the cookie''s 256 random bits, in hex.';
comment on column sessions.person_id is 'Who signed in.';
comment on column sessions.address is 'Source address of the sign-in.';
comment on column sessions.browser is 'What the browser called itself.';
comment on column sessions.created_at is 'Service time of the sign-in; a session ends some days after it whatever happens.';
comment on column sessions.seen_at is 'Service time of about the last request; a session ends some hours after it.';
comment on column sessions.ended_at is 'Service time at which it was signed out or revoked.';
create index sessions_of_person on sessions (person_id, created_at desc) where ended_at is null;
