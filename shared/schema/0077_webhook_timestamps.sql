-- What an attempt was sent with beside what is kept of the webhook itself. Null for older ones, and those of a release before.
alter table webhook_attempts add column signed_seconds bigint;
comment on column webhook_attempts.signed_seconds is 'The webhook-timestamp that it was sent and signed with, Unix seconds; null for one whose was not kept.';
