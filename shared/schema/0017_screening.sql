-- Screening: what is bought from a provider, with which credits, and what a developer set it to say.

create table screening_credits (
  gateway_id uuid primary key references gateways,
  credits bigint not null default 0 check (credits >= 0),
  granted bigint not null default 0
);
comment on table screening_credits is 'How many verdicts each gateway may still buy. Its row also serialises the purchases of a gateway.';
comment on column screening_credits.gateway_id is 'The gateway.';
comment on column screening_credits.credits is 'Verdicts left. A purchase takes one before it asks, and gives it back when no verdict came.';
comment on column screening_credits.granted is 'All that was ever given: granted - credits = the screenings that hold or spent a credit.';

insert into screening_credits (gateway_id, credits, granted)
select id, coalesce((settings #>> '{screening,credits}')::bigint, 0), coalesce((settings #>> '{screening,credits}')::bigint, 0) from gateways;
update gateways set settings = settings #- '{screening,credits}';

create table screenings (
  id uuid primary key,
  gateway_id uuid not null references screening_credits,
  network_id uuid not null references networks,
  kind text not null check (kind in ('destination', 'deposit')),
  address text not null,
  deposit_id uuid references deposits,
  state text not null check (state in ('asking', 'pending', 'verdict', 'failed')),
  attempt int not null default 1,
  credit boolean not null,
  leased_until timestamptz,
  source text not null,
  provider_ref text,
  score int check (score between 0 and 100),
  sanctioned boolean not null default false,
  categories text[] not null default '{}',
  problem text,
  asked_at timestamptz not null default sluice_now(),
  decided_at timestamptz,
  check ((kind = 'deposit') = (deposit_id is not null)),
  check ((state = 'verdict') = (score is not null)),
  check ((state = 'verdict') = (decided_at is not null)),
  check (credit or state in ('verdict', 'failed')),
  check (state <> 'failed' or not credit)
);
comment on table screenings is 'Questions to the sanctions list and the screening provider, each bought once, and their verdicts (decisions 10).';
comment on column screenings.id is 'Row id; also the key a provider recognises a repeated question by, where it offers that.';
comment on column screenings.gateway_id is 'Whose credit pays for it.';
comment on column screenings.network_id is 'The network it was asked for; a destination''s verdict counts on all networks of its family.';
comment on column screenings.kind is 'Where money is to go, or where it came from.';
comment on column screenings.address is 'Canonical: the destination, or the address a deposit arrived at.';
comment on column screenings.deposit_id is 'The deposit; null for a destination.';
comment on column screenings.state is 'asking: a process asks, or died asking; pending: the provider works on it; verdict: decided for good; failed: no verdict came.';
comment on column screenings.attempt is 'Counts who holds it: a process that was thought dead can no longer give its credit back.';
comment on column screenings.credit is 'Whether it holds or has spent a credit; the sanctions list costs none.';
comment on column screenings.leased_until is 'Wall time until which the process that asks is believed alive; null while none asks.';
comment on column screenings.source is 'Provider that was asked, or `sanctions`.';
comment on column screenings.provider_ref is 'The provider''s own id of the check, by which it is asked again.';
comment on column screenings.score is 'Risk from 0 to 100; null without a verdict.';
comment on column screenings.sanctioned is 'Whether the address is on a sanctions list, ours or the provider''s.';
comment on column screenings.categories is 'What the provider found, the largest share first.';
comment on column screenings.problem is 'Why no verdict came, the last time; null when all went well.';
comment on column screenings.asked_at is 'Service time it was first asked.';
comment on column screenings.decided_at is 'Service time of the verdict.';

-- One purchase at a time; a failed one is taken up again rather than bought anew.
create unique index screenings_destination_unfinished on screenings (gateway_id, address) where kind = 'destination' and state <> 'verdict';
create unique index screenings_deposit on screenings (deposit_id) where kind = 'deposit';
create index screenings_destination_verdicts on screenings (gateway_id, address, decided_at) where kind = 'destination' and state = 'verdict';
create index screenings_open on screenings (leased_until) where state in ('asking', 'pending');

create table screening_scores (
  address text primary key,
  score int check (score between 0 and 100),
  set_at timestamptz not null default sluice_now()
);
comment on table screening_scores is 'What the development source says about an address; one that is missing scores 0.';
comment on column screening_scores.address is 'Canonical address.';
comment on column screening_scores.score is 'Score to answer; null plays a provider that is down.';
comment on column screening_scores.set_at is 'Service time it was set.';
