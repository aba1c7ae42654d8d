-- What cashouts really cost, and the invoices that what the platform bore for a gateway is closed into (decisions 11).

alter table payments add column billing text not null default 'STANDARD' check (billing in ('STANDARD', 'MONTHLY', 'PLATFORM'));
comment on column payments.billing is 'The gateway''s billing arrangement when it was created, by which it is billed whatever the gateway has by now.';
update payments p set billing = g.billing from gateways g where g.id = p.gateway_id and g.billing <> 'STANDARD';

alter table settlements add column fee_payer text not null default 'MERCHANT' check (fee_payer in ('MERCHANT', 'PLATFORM'));
comment on column settlements.fee_payer is 'Who pays the network: MERCHANT through fee_locked, or PLATFORM, which accrues what it really cost (contract 4.3). Set by the claim.';
update settlements s set fee_payer = 'PLATFORM' from gateways g, assets a
where g.id = s.gateway_id and a.id = s.asset_id and s.fee_locked = 0 and g.billing = 'MONTHLY' and a.contract is not null;

create table settlement_fees (
  settlement_id uuid primary key references settlements,
  native_asset_id uuid not null references assets,
  locked unsigned_amount not null,
  actual unsigned_amount not null,
  asset_price_usd unsigned_amount,
  asset_price_at timestamptz,
  native_price_usd unsigned_amount,
  native_price_at timestamptz,
  at timestamptz not null default sluice_now(),
  check ((asset_price_usd is null) = (asset_price_at is null)),
  check ((native_price_usd is null) = (native_price_at is null))
);
comment on table settlement_fees is 'What each settled cashout locked for the network and what it really cost, with the prices known when it settled.';
comment on column settlement_fees.settlement_id is 'The settlement.';
comment on column settlement_fees.native_asset_id is 'The coin its network charges fees in.';
comment on column settlement_fees.locked is 'Fee locked at the claim, in units of the asset that was paid out.';
comment on column settlement_fees.actual is 'What its transactions cost, failed ones included, in the native asset. Sweeps and top-ups serve the pool and do not count.';
comment on column settlement_fees.asset_price_usd is 'Latest known price of the asset at that moment; null when there was none.';
comment on column settlement_fees.asset_price_at is 'When that price was taken: its age is told, an old one does not keep a cashout from settling.';
comment on column settlement_fees.native_price_usd is 'The same for the native asset.';
comment on column settlement_fees.native_price_at is 'When that price was taken.';
comment on column settlement_fees.at is 'Service time it settled.';
create trigger settlement_fees_append_only before update or delete on settlement_fees for each row execute function refuse_change();
insert into settlement_fees (settlement_id, native_asset_id, locked, actual, at)
select s.id, n.id, s.fee_locked, coalesce((
    select sum(p.raw_fee) from payouts p where p.settlement_id = s.id and p.purpose = 'settlement'), 0) * ('1e-' || n.decimals)::numeric, s.settled_at
from settlements s join assets n on n.network_id = s.network_id and n.contract is null
where s.status = 'SETTLED';

alter table accruals drop constraint accruals_pkey;
alter table accruals alter column credit_id drop not null;
alter table accruals alter column payment_id drop not null;
alter table accruals drop constraint accruals_coins_check;
alter table accruals
  alter column coins type ledger_amount,
  alter column usd type ledger_amount,
  add column id uuid primary key default gen_random_uuid(),
  add column settlement_id uuid references settlements,
  add column reverses uuid unique references accruals,
  add column billing text not null default 'MONTHLY' check (billing in ('MONTHLY', 'PLATFORM')),
  add column price_at timestamptz,
  add constraint accruals_cause check (num_nonnulls(credit_id, settlement_id, reverses) = 1 and num_nonnulls(payment_id, settlement_id) = 1),
  add constraint accruals_coins_check check (case when reverses is null then coins > 0 else coins < 0 end);
create unique index accruals_credit on accruals (credit_id);
create unique index accruals_settlement on accruals (settlement_id);
comment on table accruals is 'Fees of credits and cashouts that the platform bears instead of the gateway or the payer, one row per credit or cashout (decisions 11).';
comment on column accruals.id is 'Row id.';
comment on column accruals.credit_id is 'The credit, for what a deposit cost; null otherwise.';
comment on column accruals.payment_id is 'The payment of that credit; null for a cashout.';
comment on column accruals.settlement_id is 'The cashout, for what its transactions cost; null otherwise.';
comment on column accruals.reverses is 'The accrual this one takes back, in whole or in part; null otherwise.';
comment on column accruals.asset_id is 'The asset the fees are in; of a cashout the native asset of its network.';
comment on column accruals.coins is 'What the platform bears, asset units; below zero where it is taken back.';
comment on column accruals.price_usd is 'The price that judged the deposit, or the latest known one when the cashout settled.';
comment on column accruals.price_at is 'When that price was taken, for a cashout; null for a deposit, whose evidence says so.';
comment on column accruals.billing is 'MONTHLY: closed into an invoice of the gateway. PLATFORM: the platform''s own expense, invoiced to nobody.';
comment on column accruals.at is 'Service time it was booked: the month it belongs to.';
-- Which arrangement a row of before belongs to is what its payment says.
alter table accruals disable trigger accruals_append_only;
update accruals r set billing = 'PLATFORM' from payments p where p.id = r.payment_id and p.billing = 'PLATFORM';
alter table accruals enable trigger accruals_append_only;

create table invoices (
  id uuid primary key,
  gateway_id uuid not null references gateways,
  month date not null check (extract(day from month) = 1),
  line_count int not null check (line_count > 0),
  total_usd ledger_amount not null,
  closed_at timestamptz not null default sluice_now(),
  unique (gateway_id, month)
);
comment on table invoices is 'What a monthly-billed gateway owes for one month; closed once, never changed (decisions 11).';
comment on column invoices.id is 'Invoice id.';
comment on column invoices.gateway_id is 'Who owes it.';
comment on column invoices.month is 'First day of the month, UTC.';
comment on column invoices.line_count is 'How many lines it has.';
comment on column invoices.total_usd is 'Exact sum of its lines.';
comment on column invoices.closed_at is 'Service time it was closed.';
create index invoices_closed on invoices (closed_at desc, id desc);
create trigger invoices_append_only before update or delete on invoices for each row execute function refuse_change();

create table invoice_lines (
  accrual_id uuid primary key references accruals,
  invoice_id uuid not null references invoices
);
comment on table invoice_lines is 'Which accruals an invoice bills; each accrual is billed at most once.';
comment on column invoice_lines.accrual_id is 'The accrual, which has the figures of the line.';
comment on column invoice_lines.invoice_id is 'The invoice.';
create index invoice_lines_invoice on invoice_lines (invoice_id);
create trigger invoice_lines_append_only before update or delete on invoice_lines for each row execute function refuse_change();

create function invoice_adds_up(wanted uuid) returns void language plpgsql as $$
begin
  if exists (
    select 1 from invoices i left join invoice_lines l on l.invoice_id = i.id left join accruals r on r.id = l.accrual_id
    where i.id = wanted group by i.id
    having count(r.id) <> i.line_count or coalesce(sum(r.usd), 0) <> i.total_usd or bool_or(r.gateway_id <> i.gateway_id or r.billing <> 'MONTHLY'))
  then
    raise exception 'invoice % is not the sum of its lines', wanted using errcode = 'check_violation';
  end if;
end $$;
comment on function invoice_adds_up(uuid) is 'Refuses an invoice that differs from its lines.';
create function check_invoice() returns trigger language plpgsql as $$
begin
  perform invoice_adds_up(new.id);
  return null;
end $$;
comment on function check_invoice() is 'Checks a new invoice when its transaction ends.';
create constraint trigger invoices_add_up after insert on invoices deferrable initially deferred for each row execute function check_invoice();
create function check_added_lines() returns trigger language plpgsql as $$
begin
  perform invoice_adds_up(invoice_id) from (select distinct invoice_id from added) touched;
  return null;
end $$;
comment on function check_added_lines() is 'Checks every invoice that a statement added lines to.';
create trigger invoice_lines_add_up after insert on invoice_lines referencing new table as added for each statement execute function check_added_lines();
