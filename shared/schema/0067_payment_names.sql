-- What a payment is for, in the merchant's words: the payer reads it on the hosted page (decision 0075). A table of its own: processes of the release before this one have
-- statements that give back whole rows of payments, which a further column would break.
-- older builds: name nothing, and show no name.

create table payment_names (
  payment_id uuid primary key references payments,
  title text check (char_length(title) between 1 and 120),
  reference text check (char_length(reference) between 1 and 64),
  check (title is not null or reference is not null)
);
comment on table payment_names is 'What payments are for, where the merchant said so.';
comment on column payment_names.payment_id is 'The payment.';
comment on column payment_names.title is 'What is paid for, as the merchant named it. Shown to the payer.';
comment on column payment_names.reference is 'The merchant''s own number for it, such as an order number. Shown to the payer.';
