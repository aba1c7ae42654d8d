-- Cashouts that wait: when each is looked at again, and what a claim must never carry while it is not made.

alter table settlements add column check_at timestamptz;
comment on column settlements.check_at is 'Service time from which a parked one may be looked at again; set by whoever looks, so that one that cannot be activated never keeps others waiting. Null once it was never parked.';
alter table settlements add column order_mac bytea;
comment on column settlements.order_mac is 'Authenticates what a parked one asks for, so that its claim can be made of nothing else (reliability D15); null when it was never parked.';
comment on column settlements.wait_reason is 'Why a parked one was not activated, or a REQUESTED one not sent, the last time somebody looked; for the operator.';
comment on column settlements.pool is 'The pool it draws from; null only where a SMART request never got a verdict.';

alter table settlements add check ((status in ('UNDERFUNDED', 'WAITING_AML_CREDIT')) <= (intent_mac is null and dispatch_at is null and check_at is not null and order_mac is not null));
alter table settlements add check (status <> 'UNDERFUNDED' or pool is not null);

create index settlements_parked_check on settlements (created_at, id) where status in ('UNDERFUNDED', 'WAITING_AML_CREDIT');

comment on column outbox.topic is 'Which job: webhook.deliver, webhook.resend, settlement.dispatch, settlement.mail, payout.broadcast.';
