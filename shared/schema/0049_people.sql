-- People who use the console: who they are, what they may do where, how they are invited, and what they did.
-- older builds: read none of the new tables.

create table roles (
  name text primary key check (name ~ '^[a-z]{3,20}$'),
  operates boolean not null,
  permissions text[] not null
);
comment on table roles is 'What a person may do, by the name of the role that a membership gives (decision 0062).';
comment on column roles.name is 'Such as owner.';
comment on column roles.operates is 'Whether it is a role of the deployment; otherwise one of a gateway.';
comment on column roles.permissions is 'As the contract and the operator API call them.';
insert into roles (name, operates, permissions) values
  ('owner', false, '{payment:create,payment:read,settlement:create,settlement:read,settlement:approve,refund:create,refund:approve,webhook:resend,key:manage,secret:roll,settings:write,team:manage,report:export,link:manage,pos:use,aml:read}'),
  ('finance', false, '{payment:read,settlement:create,settlement:read,refund:create,report:export,aml:read}'),
  ('approver', false, '{payment:read,settlement:read,settlement:approve,refund:approve,aml:read}'),
  ('developer', false, '{payment:create,payment:read,settlement:read,webhook:resend,key:manage,secret:roll}'),
  ('support', false, '{payment:read,webhook:resend,aml:read}'),
  ('cashier', false, '{payment:create,pos:use}'),
  ('operator', true, '{gateway:provision,aml:decide,settlement:reject,deposit:allocate,network:operate,job:operate,freeze:operate,audit:read}'),
  ('auditor', true, '{audit:read}');

create table people (
  id uuid primary key,
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  created_at timestamptz not null default sluice_now()
);
comment on table people is 'Whoever accepted an invitation: one row per person, whatever they may do and where.';
comment on column people.id is 'Person id.';
comment on column people.email is 'Where mail to them goes, in lower case; nobody signs in by knowing it.';
comment on column people.created_at is 'Service time at which the first invitation was accepted.';

create table memberships (
  id uuid primary key,
  person_id uuid not null references people,
  gateway_id uuid references gateways,
  role text not null references roles,
  began_at timestamptz not null default sluice_now(),
  ended_at timestamptz,
  check (ended_at >= began_at)
);
comment on table memberships is 'What a person may do at a gateway, or for the deployment; ended ones stay.';
comment on column memberships.id is 'Membership id.';
comment on column memberships.person_id is 'Whose.';
comment on column memberships.gateway_id is 'Where; null for the deployment itself.';
comment on column memberships.role is 'As what.';
comment on column memberships.began_at is 'Service time at which its invitation was accepted.';
comment on column memberships.ended_at is 'Service time at which it was revoked, or gave way to another role.';
create unique index memberships_one_role on memberships (person_id, gateway_id) nulls not distinct where ended_at is null;
create index memberships_of_gateway on memberships (gateway_id) where ended_at is null;

create table invitations (
  id uuid primary key,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  email text not null check (email = lower(email) and length(email) between 3 and 254),
  recovers uuid references people,
  gateway_id uuid references gateways,
  role text references roles,
  created_at timestamptz not null default sluice_now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  outcome text check (outcome in ('accepted', 'replaced', 'revoked')),
  check (expires_at > created_at),
  check ((recovers is null) = (role is not null)),
  check (recovers is null or gateway_id is null),
  check ((ended_at is null) = (outcome is null))
);
comment on table invitations is 'Links that make somebody a member, or give a person who lost every way to sign in a new one; each works once.';
comment on column invitations.id is 'Invitation id.';
comment on column invitations.token_hash is 'SHA-256 of the link''s 256 random bits, in hex; the link itself is kept nowhere.';
comment on column invitations.email is 'Whom it is for.';
comment on column invitations.recovers is 'The person who is given a new way to sign in; null where it makes a member.';
comment on column invitations.gateway_id is 'Where it makes a member; null for the deployment itself.';
comment on column invitations.role is 'As what it makes a member.';
comment on column invitations.created_at is 'Service time.';
comment on column invitations.expires_at is 'Service time from which it does not work.';
comment on column invitations.ended_at is 'Service time at which it was accepted, replaced by a newer one, or revoked.';
comment on column invitations.outcome is 'Which of them.';
create unique index invitations_open on invitations (email, gateway_id, recovers) nulls not distinct where ended_at is null;

create table console_actions (
  seq bigint primary key,
  at timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('person', 'key', 'token', 'command', 'service')),
  actor text not null check (length(actor) between 1 and 320),
  person_id uuid references people,
  gateway_id uuid references gateways,
  act text not null check (act ~ '^[a-z-]+\.[a-z-]+$'),
  target text not null,
  before jsonb,
  after jsonb,
  reason text,
  address text,
  previous text not null,
  hash text not null unique,
  check ((actor_kind = 'person') = (person_id is not null))
);
comment on table console_actions is 'Append-only: every change that a person made, or that was made of people; a chain, each row holding the hash of the one before it (decision 0063).';
comment on column console_actions.seq is 'Place in the chain, from 1, without a gap; given by the trigger.';
comment on column console_actions.at is 'When, by the database clock.';
comment on column console_actions.actor_kind is 'What made it: a person in the console, an API key, an operator token, a command on a host, or the service by itself.';
comment on column console_actions.actor is 'Who: e-mail address, key id, name of the token, or user and host.';
comment on column console_actions.person_id is 'The person; null for everything else.';
comment on column console_actions.gateway_id is 'Which gateway it concerns; null for the deployment.';
comment on column console_actions.act is 'What was done, as noun.verb: person.invite.';
comment on column console_actions.target is 'Id or name of what it was done to.';
comment on column console_actions.before is 'What it was, without secrets.';
comment on column console_actions.after is 'What it became, without secrets.';
comment on column console_actions.reason is 'Why, where somebody said so.';
comment on column console_actions.address is 'Source address of the request.';
comment on column console_actions.previous is 'Hash of the row before it; 64 zeros for the first.';
comment on column console_actions.hash is 'SHA-256, in hex, over the previous hash and everything in this row (console_action_hash).';
create index console_actions_gateway on console_actions (gateway_id, seq desc);
create index console_actions_target on console_actions (target, seq desc);
create trigger console_actions_append_only before update or delete on console_actions for each row execute function refuse_change();
create trigger console_actions_never_emptied before truncate on console_actions for each statement execute function refuse_change();

create function console_action_hash(a console_actions) returns text language sql stable as
  $$ select encode(sha256(convert_to(jsonb_build_array(a.previous, a.seq, extract(epoch from a.at), a.actor_kind, a.actor, a.person_id, a.gateway_id, a.act, a.target,
    a.before, a.after, a.reason, a.address)::text, 'UTF8')), 'hex') $$;
comment on function console_action_hash(console_actions) is 'What the hash of a row has to be; no setting of a session changes it.';

create function chain_console_action() returns trigger language plpgsql as $$
  declare last console_actions;
  begin
    -- One at a time: the next one sees this row, or that it never was.
    perform pg_advisory_xact_lock(7582005);
    select * into last from console_actions order by seq desc limit 1;
    new.seq := coalesce(last.seq, 0) + 1;
    new.previous := coalesce(last.hash, repeat('0', 64));
    new.at := now();
    new.hash := console_action_hash(new);
    return new;
  end $$;
comment on function chain_console_action() is 'Puts a row behind the last one. Whoever inserts chooses neither its place, nor its time, nor its hash.';
create trigger console_actions_chain before insert on console_actions for each row execute function chain_console_action();
