-- Which person made a key and which key asked for a cashout, so that nobody approves what their own key asked for; changes of who approves and who owns, which wait for another
-- owner; and what a mail about a gateway's people is about (decision 0081).
-- older builds: note neither key nor maker, make such changes with one owner, and try to mail what a newer build noted of them until that does. Keys and cashouts from before have no row.

create table api_key_makers (
  key_id text primary key references api_keys,
  person_id uuid not null references people
);
comment on table api_key_makers is 'Who made a key in the console, and so has seen its text; a key that a key makes has the same maker.';
comment on column api_key_makers.key_id is 'The key.';
comment on column api_key_makers.person_id is 'Who.';

create table settlement_keys (
  settlement_id uuid primary key references settlements,
  key_id text not null references api_keys
);
comment on table settlement_keys is 'The key that asked for a cashout; none for what a person asked for in the console.';
comment on column settlement_keys.settlement_id is 'The cashout.';
comment on column settlement_keys.key_id is 'The key.';

create table member_proposals (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  email text not null check (email = lower(email) and length(email) between 3 and 254),
  role text references roles,
  state text not null default 'waiting' check (state in ('waiting', 'confirmed', 'withdrawn', 'replaced')),
  proposed_by uuid not null references people,
  proposed_at timestamptz not null default sluice_now(),
  decided_by uuid references people,
  decided_at timestamptz,
  check ((state = 'waiting') = (decided_at is null)),
  check ((decided_by is null) = (decided_at is null))
);
comment on table member_proposals is 'Changes of who approves cashouts or owns a gateway, which one owner wants and another has to confirm.';
comment on column member_proposals.id is 'Proposal id.';
comment on column member_proposals.gateway_id is 'Where.';
comment on column member_proposals.email is 'Who would be invited, or removed.';
comment on column member_proposals.role is 'As what they would be invited; null to remove them.';
comment on column member_proposals.state is 'waiting; confirmed by another owner; withdrawn by whoever made it, or declined; replaced by a later change for the same address.';
comment on column member_proposals.proposed_by is 'The owner who wants it.';
comment on column member_proposals.proposed_at is 'Service time.';
comment on column member_proposals.decided_by is 'Who confirmed it, withdrew it, or replaced it.';
comment on column member_proposals.decided_at is 'Service time of that.';
create unique index member_proposals_waiting on member_proposals (gateway_id, email) where state = 'waiting';

alter table person_notices add column about text check (length(about) <= 1000);
comment on column person_notices.about is 'Of a change of a gateway''s people: the gateway, the address and the role; null otherwise.';
