-- People who sign in by an OpenID Connect provider, and roles that its claims give.
-- older builds: sign nobody in by a provider, and give roles by invitation alone; recovering by one of them leaves what a provider signs in.

create table identities (
  issuer text not null check (length(issuer) between 8 and 2000),
  subject text not null check (length(subject) between 1 and 255),
  person_id uuid not null references people,
  created_at timestamptz not null default sluice_now(),
  used_at timestamptz not null default sluice_now(),
  primary key (issuer, subject)
);
comment on table identities is 'Who of a provider is which person: by its issuer and subject for ever after, whatever address it tells.';
comment on column identities.issuer is 'Issuer of the ID token.';
comment on column identities.subject is 'Subject at that issuer.';
comment on column identities.person_id is 'Whose.';
comment on column identities.created_at is 'Service time of the first sign-in, or of the step-up that connected it.';
comment on column identities.used_at is 'Service time of the last sign-in.';
create index identities_of_person on identities (person_id);

create table provider_sign_ins (
  state_hash text primary key check (state_hash ~ '^[0-9a-f]{64}$'),
  browser_hash text not null check (browser_hash ~ '^[0-9a-f]{64}$'),
  session_id uuid,
  expires_at timestamptz not null
);
comment on table provider_sign_ins is 'Sign-ins that a provider was asked for; taken out by the first answer in the browser that asked.';
comment on column provider_sign_ins.state_hash is 'SHA-256 of the state''s 256 random bits, in hex.';
comment on column provider_sign_ins.browser_hash is 'The same of what the browser keeps in a cookie; nonce and PKCE verifier are made of both.';
comment on column provider_sign_ins.session_id is 'The session whose person connects the provider to themselves; null for a sign-in.';
comment on column provider_sign_ins.expires_at is 'Service time from which no answer counts.';
create index provider_sign_ins_old on provider_sign_ins (expires_at);

alter table memberships add column by_rule boolean not null default false;
comment on column memberships.by_rule is 'Whether a claim of a provider gave it, which takes it away again; false for what an invitation gave.';
