-- Resends: asked for by the merchant or an operator, sent by a job of their own, beside the schedule of six.

alter table webhook_events add column resend_requested_at timestamptz;
comment on column webhook_events.resend_requested_at is 'Service time a resend was asked for that has not started yet; while it is set, asking again changes nothing.';
comment on column webhook_events.state is 'pending until delivered (by an attempt of the schedule or by a resend), exhausted (six attempts) or stopped (the receiver said 410).';
comment on column webhook_attempts.number is 'Counts from 1, attempts of the schedule and resends each by themselves.';
comment on column webhook_attempts.result is '2xx, 3xx, 4xx, 5xx, timeout, dns, tls, blocked, or refused: no connection, one that broke off, or an answer that is not HTTP.';
comment on column outbox.topic is 'Which job: webhook.deliver, webhook.resend, settlement.dispatch, payout.broadcast.';
create index webhook_events_created on webhook_events (created_at, seq);
