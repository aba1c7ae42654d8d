-- That receipts were asked for by mail, for a day, so that nobody's mailbox is filled (decision 0087). No address is in it.
-- older builds: mail no receipts.

create table receipt_mails (
  id uuid primary key,
  payment_id uuid not null references payments,
  gateway_id uuid not null references gateways,
  address_hash bytea not null check (octet_length(address_hash) = 32),
  sent boolean not null,
  at timestamptz not null default sluice_now()
);
comment on table receipt_mails is 'That receipts were asked for by mail: how many of a payment, to one address, of a gateway. Rows are forgotten after a day.';
comment on column receipt_mails.id is 'Id of the mail.';
comment on column receipt_mails.payment_id is 'Whose receipt.';
comment on column receipt_mails.gateway_id is 'Whose payment.';
comment on column receipt_mails.address_hash is 'Keyed hash of the mailbox; what it was made of is kept nowhere.';
comment on column receipt_mails.sent is 'False where the mailbox had had its share: nothing was mailed, and nobody was told.';
comment on column receipt_mails.at is 'Service time.';
create index receipt_mails_payment on receipt_mails (payment_id, at);
create index receipt_mails_address on receipt_mails (address_hash, at);
create index receipt_mails_gateway on receipt_mails (gateway_id, at);
create index receipt_mails_old on receipt_mails (at);
