-- Lists of payments of one status: a busy gateway has hundreds of thousands, and few of them are a mismatch.

create index payments_gateway_status on payments (gateway_id, status, created_at desc, id desc);
