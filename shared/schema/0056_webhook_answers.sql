-- How receivers of webhooks answered, for whoever mends one of them: the first kilobyte of each answer, for thirty days.
-- older builds: keep none of what they send; their attempts show no answer.

create table webhook_answers (
  attempt_id uuid primary key references webhook_attempts,
  gateway_id uuid not null,
  number bigint not null,
  at timestamptz not null,
  body text not null check (length(body) <= 1024),
  content_type text check (length(content_type) <= 200),
  retry_after text check (length(retry_after) <= 200)
);
comment on table webhook_answers is 'The beginning of what came back of each attempt: the newest of a gateway, so many and for so long.';
comment on column webhook_answers.attempt_id is 'The attempt that was answered.';
comment on column webhook_answers.gateway_id is 'Whose webhook it was; its answers push out its own older ones and nobody else''s.';
comment on column webhook_answers.number is 'Counts the answers of a gateway; those that are written at once may share one.';
comment on column webhook_answers.at is 'Service time it was written.';
comment on column webhook_answers.body is 'Printable text; what was none is U+FFFD.';
comment on column webhook_answers.content_type is 'Its header Content-Type, as printable text.';
comment on column webhook_answers.retry_after is 'Its header Retry-After, as printable text.';
create index webhook_answers_gateway on webhook_answers (gateway_id, number);
create index webhook_answers_at on webhook_answers (at);
