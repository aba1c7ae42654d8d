-- Coins follow pools: refunds are paid from the held wallet, and coins of a payment that changed its pool follow it from one
-- wallet to the other.

alter table payouts
  add column refund_id uuid references aml_refunds,
  add column payment_id uuid references payments;
alter table payouts
  add check ((purpose = 'refund') = (refund_id is not null)),
  add check ((purpose = 'held_release') = (payment_id is not null));
comment on column payouts.purpose is 'Why it is sent. settlement: pays a cashout; refund: pays coins of a held payment back; sweep: from a deposit address to the wallet of its payment''s pool; top_up: gas from the funding wallet; held_release: between the hot and the held wallet, because a payment changed its pool; close: never stored, a family is closed by an attempt of its own.';
comment on column payouts.refund_id is 'The refund it pays; null for every other purpose.';
comment on column payouts.payment_id is 'The payment whose coins follow it into another pool; null for every other purpose.';
create unique index payouts_one_live_per_refund on payouts (refund_id) where refund_id is not null and status not in ('FAILED', 'CANCELLED');
create unique index payouts_one_live_per_move on payouts (payment_id, asset_id)
  where payment_id is not null and status not in ('CONFIRMED', 'FAILED', 'CANCELLED');
create index payouts_payment on payouts (payment_id) where payment_id is not null;
