-- no-transaction
-- Lists of cashouts of one status, newest first: of a gateway's many few are waiting or rejected (decision 0065).
create index concurrently if not exists settlements_gateway_status on settlements (gateway_id, status, created_at desc, id desc);
