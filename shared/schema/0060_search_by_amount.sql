-- What an operator is told as a sum is found by it: an amount asked for, one that came, one that is cashed out (decision 0069).
-- older builds: write these rows as before; the indexes keep their writers out while they are built.

create index payments_amount on payments (amount, created_at desc, id desc);
create index deposits_amount on deposits (amount, first_seen_at desc, id desc);
create index settlements_amount on settlements (amount, created_at desc, id desc);
create index payouts_repaid on payouts (recipient, created_at desc, id desc) where purpose in ('refund', 'withheld');
