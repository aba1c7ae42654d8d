-- Where the trace of a payment and of a cashout goes on, and the payment that proves every minute that payments work.

create table trace_contexts (
  subject_id uuid primary key,
  trace_context text not null
);
comment on table trace_contexts is 'The traces that payments, cashouts and payouts belong to; those that were not traced have no row. A table of its own: builds of schema 0026 read the rows of those tables whole.';
comment on column trace_contexts.subject_id is 'Id of a payment, a settlement or a payout.';
comment on column trace_contexts.trace_context is 'W3C traceparent of the request that created it, of a payout that of what planned it; whatever happens to it later joins that trace.';
alter table watches add column trace_context text;
comment on column watches.trace_context is 'W3C traceparent of the payment whose address it is, for the indexer''s reading of the block that pays it; null when it was not traced.';
alter table deposits add column trace_context text;
comment on column deposits.trace_context is 'W3C traceparent of the reading that found it, in the trace of its payment; null when it was not traced.';

create table canary (
  singleton boolean primary key default true check (singleton),
  attempted_at timestamptz not null,
  succeeded_at timestamptz,
  problem text
);
comment on table canary is 'The sandbox payment that one worker takes through the public API every minute. One row, absent where none is configured.';
comment on column canary.singleton is 'There is one row.';
comment on column canary.attempted_at is 'When a worker last began one, by the wall clock; the next one begins a minute later, whoever does it.';
comment on column canary.succeeded_at is 'When the last one that succeeded began, by the wall clock; null for never.';
comment on column canary.problem is 'What went wrong with the last one; null when nothing did.';
