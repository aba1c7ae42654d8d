-- What each person wants to be mailed about a gateway, and what they were (decision 0086).
-- older builds: mail none of it; building the index of webhooks reads them once and finds few.

create table notification_choices (
  person_id uuid not null references people,
  gateway_id uuid not null references gateways,
  kind text not null check (kind in ('approval', 'parked', 'rejected', 'held', 'webhook', 'credits')),
  since timestamptz not null default sluice_now(),
  primary key (person_id, gateway_id, kind)
);
comment on table notification_choices is 'What a person wants to be mailed about a gateway; no row is no mail.';
comment on column notification_choices.person_id is 'Who.';
comment on column notification_choices.gateway_id is 'About which gateway.';
comment on column notification_choices.kind is 'What: a cashout that waits for approval, is parked or was rejected; a payment that screening holds; a webhook that was given up; screening credits that run out.';
comment on column notification_choices.since is 'What happened before is not told.';
create index notification_choices_gateway on notification_choices (gateway_id, kind);

create table notifications (
  id uuid primary key,
  person_id uuid not null references people,
  gateway_id uuid not null references gateways,
  kind text not null,
  subject text not null,
  at timestamptz not null,
  mail_id uuid,
  taken_at timestamptz,
  sent_at timestamptz,
  unique (person_id, gateway_id, kind, subject),
  check ((mail_id is null) = (taken_at is null)),
  check (sent_at is null or mail_id is not null)
);
comment on table notifications is 'What a person is to be mailed and was, each once; kept as long as what happened could be found again.';
comment on column notifications.id is 'Row id.';
comment on column notifications.person_id is 'Who is told.';
comment on column notifications.gateway_id is 'About which gateway.';
comment on column notifications.kind is 'What, as in notification_choices.';
comment on column notifications.subject is 'Id of what it is about.';
comment on column notifications.at is 'When it happened, service time.';
comment on column notifications.mail_id is 'The mail that tells it; several share one.';
comment on column notifications.taken_at is 'When it was put into that mail, service time.';
comment on column notifications.sent_at is 'When the mail server took it, service time; null until then.';
create index notifications_unsent on notifications (person_id) where sent_at is null;
create index notifications_taken on notifications (person_id, taken_at) where taken_at is not null;
create index notifications_at on notifications (at);

create table notification_marks (
  name text primary key,
  place bigint not null
);
comment on table notification_marks is 'How far each history was looked through for what people are told of.';
comment on column notification_marks.name is 'Which: settlement_events or aml_events.';
comment on column notification_marks.place is 'Id of the last row that was looked at.';

create index webhook_events_exhausted on webhook_events (created_at) where state = 'exhausted';
