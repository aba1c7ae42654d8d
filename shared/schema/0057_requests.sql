-- What the keys of each gateway asked for within seven days, for whoever mends a program that calls.
-- older builds: note none of the requests that they answer.

create table requests (
  gateway_id uuid not null,
  at timestamptz not null,
  request_id uuid not null,
  failed boolean not null generated always as (status >= 400) stored,
  number bigint not null,
  method text not null,
  operation text not null,
  status int not null,
  code text,
  duration_ms int not null,
  key_id text not null,
  address text not null,
  primary key (gateway_id, at, request_id)
);
comment on table requests is 'Requests with a key of the gateway, for seven days: of those that failed and of those that did not the newest, so many of each.';
comment on column requests.gateway_id is 'Whose key it was; no reference, so that a note never waits for a change of the gateway.';
comment on column requests.at is 'When it came, by the clock of the process that answered it.';
comment on column requests.request_id is 'X-Request-Id of the answer.';
comment on column requests.failed is 'Whether it was answered with an error; those that were and those that were not push out their own kind only.';
comment on column requests.number is 'Counts the requests of a gateway of each of the two kinds.';
comment on column requests.method is 'Method of HTTP.';
comment on column requests.operation is 'operationId of the contract; paths and queries, which merchants fill in, are not kept.';
comment on column requests.status is 'Status of the answer; 499 where nobody waited for one any more.';
comment on column requests.code is 'Slug of the error; null where there was none.';
comment on column requests.duration_ms is 'From the first byte to the end of the answer.';
comment on column requests.key_id is 'Id of the key; the key itself is kept nowhere.';
comment on column requests.address is 'Canonical source address.';
create index requests_number on requests (gateway_id, failed, number);
create index requests_at on requests (at);
