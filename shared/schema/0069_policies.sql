-- Rules of a gateway about its cashouts, and who of its people approved which (decision 0079).
-- older builds: decide cashouts as if there were no policies, and approve with one person what the console of this release has two approve; their console shows none of it.

create table policy_versions (
  gateway_id uuid not null references gateways,
  version int not null check (version > 0),
  policies jsonb not null check (jsonb_typeof(policies) = 'array'),
  cap_usd unsigned_amount,
  state text not null check (state in ('proposed', 'in_force', 'replaced', 'declined')),
  proposed_by uuid not null references people,
  proposed_at timestamptz not null default sluice_now(),
  decided_by uuid references people,
  decided_at timestamptz,
  primary key (gateway_id, version),
  check ((state = 'proposed') = (decided_at is null)),
  check ((decided_by is null) = (decided_at is null))
);
comment on table policy_versions is 'What a gateway asks of its cashouts, every version that somebody wanted; the one in force is the last that was agreed to.';
comment on column policy_versions.gateway_id is 'Whose.';
comment on column policy_versions.version is 'Counted from 1.';
comment on column policy_versions.policies is 'The policies in their order: the first that is about a cashout decides.';
comment on column policy_versions.cap_usd is 'Above this, what no policy is about needs one person; null for no cap. Once in force, the gateway''s settings have it.';
comment on column policy_versions.state is 'proposed: waits for another owner; in_force; replaced by a later one, also one that was never agreed to; declined.';
comment on column policy_versions.proposed_by is 'Who made it.';
comment on column policy_versions.proposed_at is 'Service time.';
comment on column policy_versions.decided_by is 'Who agreed to it, declined it, or replaced it while it waited; whoever made it, where one owner is enough.';
comment on column policy_versions.decided_at is 'Service time of that; of a replaced one, when it came into force or was replaced while it waited.';
create unique index policy_versions_in_force on policy_versions (gateway_id) where state = 'in_force';
create unique index policy_versions_proposed on policy_versions (gateway_id) where state = 'proposed';

create table settlement_policies (
  settlement_id uuid primary key references settlements,
  policy int check (policy > 0),
  people int not null check (people > 0)
);
comment on table settlement_policies is 'Cashouts that more than one person has to approve, or that a policy held.';
comment on column settlement_policies.settlement_id is 'The cashout.';
comment on column settlement_policies.policy is 'Place of the policy that decided, counted from 1; null when it was the cap, or a screening.';
comment on column settlement_policies.people is 'How many people have to approve it.';

create table settlement_approvals (
  settlement_id uuid not null references settlements,
  person_id uuid not null references people,
  at timestamptz not null default sluice_now(),
  primary key (settlement_id, person_id)
);
comment on table settlement_approvals is 'People who approved a cashout in the console, each once.';
comment on column settlement_approvals.settlement_id is 'The cashout.';
comment on column settlement_approvals.person_id is 'Who; never whoever created it.';
comment on column settlement_approvals.at is 'Service time.';
