-- Payouts whose bytes are replaced by others of the same family: fee bumps and closes on chains with nonces, new bytes for
-- expired ones on chains without.

alter table payouts drop constraint payouts_status_check;
alter table payouts add constraint payouts_status_check
  check (status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED', 'CONFIRMED', 'FAILED', 'CANCELLED'));
comment on column payouts.plan is 'What the next bytes of the family are to be: fee fields, when they were quoted, when they expire, and whether they close the family.';

alter table payout_attempts
  add column kind text not null default 'transfer' check (kind in ('transfer', 'close')),
  add column expires_at timestamptz,
  add column tip_height bigint;
comment on column payout_attempts.kind is 'transfer: does what the payout is for. close: uses its nonce up by sending nothing to ourselves, when the transfer cannot be sent any more.';
comment on column payout_attempts.expires_at is 'Chain time from which no block takes the bytes any more, as the bytes say; null on chains where bytes never expire.';
comment on column payout_attempts.tip_height is 'Height our own scan had reached when they were signed: no block up to it can hold them. Null when nothing was scanned yet.';
