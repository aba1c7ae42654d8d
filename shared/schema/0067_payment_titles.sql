-- What a payment is for, in the merchant's words: the payer reads it on the hosted page (decision 0075).
-- older builds: leave both null, and show neither.

alter table payments add column title text check (char_length(title) between 1 and 120);
comment on column payments.title is 'What is paid for, as the merchant named it; null where they named nothing. Shown to the payer.';
alter table payments add column reference text check (char_length(reference) between 1 and 64);
comment on column payments.reference is 'The merchant''s own number for it, such as an order number; null without one. Shown to the payer.';
