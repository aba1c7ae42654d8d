-- Effects that leave the process: rows written in the transaction that decided them, claimed by state and due time.

create table outbox (
  id uuid primary key,
  topic text not null,
  ref_id uuid not null,
  state text not null default 'due' check (state in ('due', 'done', 'dead')),
  due_at timestamptz not null,
  claims int not null default 0,
  failures int not null default 0,
  handed_until timestamptz,
  claimed_until timestamptz,
  last_error text,
  trace_context text,
  created_at timestamptz not null default sluice_now()
);
comment on table outbox is 'Work to do: which job, on which row, from when. Redis only wakes workers up; this table is the queue.';
comment on column outbox.id is 'Job id.';
comment on column outbox.topic is 'Which job: webhook.deliver, settlement.dispatch, payout.broadcast.';
comment on column outbox.ref_id is 'The row the job works on; everything else is read under that row''s lock.';
comment on column outbox.state is 'due until done; dead when it was given up and needs an operator.';
comment on column outbox.due_at is 'Service time from which it may run.';
comment on column outbox.claims is 'How often it was started; also the fencing number of the run, so that one that lost its claim cannot write its result.';
comment on column outbox.failures is 'Starts since the last one that ended well; a crash counts, and too many make the row dead.';
comment on column outbox.handed_until is 'Wall-clock time until which the relay waits for a worker to start it before handing it over again.';
comment on column outbox.claimed_until is 'Wall-clock end of the current claim; another worker may take it after that.';
comment on column outbox.last_error is 'What the last failed run said.';
comment on column outbox.trace_context is 'W3C trace context of the cause.';
comment on column outbox.created_at is 'Service time.';
create index outbox_due on outbox (topic, due_at) where state = 'due';
create index outbox_done on outbox (due_at) where state = 'done';
create index outbox_ref on outbox (ref_id);

create table webhook_events (
  id uuid primary key,
  payment_id uuid not null references payments,
  gateway_id uuid not null references gateways,
  seq bigint generated always as identity,
  status text not null,
  url text not null,
  body text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'exhausted', 'stopped')),
  attempts int not null default 0,
  next_attempt_at timestamptz not null,
  created_at timestamptz not null default sluice_now(),
  delivered_at timestamptz,
  unique (payment_id, status)
);
comment on table webhook_events is 'One webhook per payment and resting status; the body is stored so that every attempt sends the same bytes.';
comment on column webhook_events.id is 'Sent as webhook-id.';
comment on column webhook_events.payment_id is 'The payment.';
comment on column webhook_events.gateway_id is 'Whose secret signs it.';
comment on column webhook_events.seq is 'Order of one payment''s events: taken while its row is locked, which a start-of-transaction time is not.';
comment on column webhook_events.status is 'The status it reports.';
comment on column webhook_events.url is 'Where it goes.';
comment on column webhook_events.body is 'The exact body.';
comment on column webhook_events.state is 'pending until delivered, exhausted (six attempts) or stopped (the receiver said 410).';
comment on column webhook_events.attempts is 'Finished attempts of the schedule.';
comment on column webhook_events.next_attempt_at is 'Service time the next one is due.';
comment on column webhook_events.created_at is 'Service time.';
comment on column webhook_events.delivered_at is 'When a 2xx came back.';

create table webhook_attempts (
  id uuid primary key,
  event_id uuid not null references webhook_events,
  number int not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  result text,
  http_status int,
  duration_ms int,
  manual boolean not null default false
);
comment on table webhook_attempts is 'Every delivery attempt, recorded when it starts and when it ends.';
comment on column webhook_attempts.id is 'Attempt id.';
comment on column webhook_attempts.event_id is 'The webhook.';
comment on column webhook_attempts.number is 'Counts from 1.';
comment on column webhook_attempts.started_at is 'Service time it was sent.';
comment on column webhook_attempts.finished_at is 'When its outcome was known; null for one cut off by a crash, which does not count.';
comment on column webhook_attempts.result is '2xx, 3xx, 4xx, 5xx, timeout, dns, tls, refused or blocked.';
comment on column webhook_attempts.http_status is 'Status code, when there was one.';
comment on column webhook_attempts.duration_ms is 'How long it took.';
comment on column webhook_attempts.manual is 'True for a resend, which does not count towards the schedule.';
create index webhook_attempts_event on webhook_attempts (event_id, number);
