-- no-transaction
-- A gateway's payments by their amount (decision 0065). By the gateway first: the payments of one that all have one amount must not be what another one's search reads.
create index concurrently if not exists payments_gateway_amount on payments (gateway_id, amount, created_at desc, id desc);
