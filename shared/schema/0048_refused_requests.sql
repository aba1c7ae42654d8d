-- Requests that a gateway's own rules refused, for those who wonder why a server is not let in (decision 0061).

create table refused_requests (
  gateway_id uuid not null,
  hour timestamptz not null,
  operation text not null,
  reason text not null,
  address text not null,
  count bigint not null,
  last_at timestamptz not null,
  primary key (gateway_id, hour, operation, reason, address)
);
comment on table refused_requests is 'What was refused in each hour, for seven days: at most so many rows for a gateway, hour and operation, and one for all that is beyond them.';
comment on column refused_requests.gateway_id is 'Whose key or payment was named; no reference, so that a note never waits for a change of the gateway.';
comment on column refused_requests.hour is 'The hour (UTC) of the database''s own clock in which they came.';
comment on column refused_requests.operation is 'operationId of the contract.';
comment on column refused_requests.reason is 'Which rule refused them; empty in the row of all that is beyond the limit.';
comment on column refused_requests.address is 'Canonical source address; empty in the row of all that is beyond the limit.';
comment on column refused_requests.count is 'How many there were.';
comment on column refused_requests.last_at is 'When the last of them was noted.';
create index refused_requests_hour on refused_requests (hour);
