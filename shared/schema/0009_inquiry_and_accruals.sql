-- What a person matched by hand, what waits for a price, and what the platform bears of each credit.

alter table deposits
  add column waits_since timestamptz,
  add column claimed_by text check (claimed_by in ('inquiry', 'operator'));
comment on column deposits.waits_since is 'Since when a final deposit waits for a fresh price; null while it is not final or needs none (decisions 3).';
comment on column deposits.claimed_by is 'Who matched it to its payment by hand; then neither its network nor the grace period keeps it from being credited. Null for what the stream found.';
comment on column deposits.payment_id is 'The payment it belongs to: the owner of the address, unless an operator allocated it to another one.';
comment on column deposits.state is 'seen: to be decided about; dropped: orphaned before it was booked; the others are final outcomes, of which a claim takes back dust and unallocated.';
comment on table sightings is 'Everything an indexer or an inquiry saw at our addresses: evidence. A row changes only its canonical flag and booked_at.';
comment on column sightings.booked_at is 'When its effect reached the books (credited, unallocated, funding, payout outcome, or nothing to book); null until final, and again while a claimed deposit is not credited yet.';

create table accruals (
  credit_id uuid primary key references credits,
  gateway_id uuid not null references gateways,
  payment_id uuid not null references payments,
  asset_id uuid not null references assets,
  coins unsigned_amount not null check (coins > 0),
  price_usd unsigned_amount not null,
  usd unsigned_amount not null,
  at timestamptz not null default sluice_now()
);
comment on table accruals is 'Fees of credits that the platform bears instead of the gateway or the payer, one row per credit (decisions 11).';
comment on column accruals.credit_id is 'The credit.';
comment on column accruals.gateway_id is 'The gateway whose arrangement it is.';
comment on column accruals.payment_id is 'The payment.';
comment on column accruals.asset_id is 'The asset the fees are in.';
comment on column accruals.coins is 'Network fee and commission the platform bears, asset units.';
comment on column accruals.price_usd is 'The price that judged the deposit.';
comment on column accruals.usd is 'The same in US dollars at that price.';
comment on column accruals.at is 'Service time of the credit.';
create index accruals_gateway on accruals (gateway_id, at);
create trigger accruals_append_only before update or delete on accruals for each row execute function refuse_change();

-- Credits of before, at the price that judged them: the offer's where its asset was selected and paid in time, else the market's.
insert into accruals (credit_id, gateway_id, payment_id, asset_id, coins, price_usd, usd, at)
select c.id, c.gateway_id, c.payment_id, c.asset_id, -e.amount, price.usd, round(-e.amount * price.usd, 18), c.credited_at
from credits c
join payments p on p.id = c.payment_id
join ledger_transactions t on t.source_key = 'deposit:' || c.id
join ledger_entries e on e.transaction_id = t.id
join ledger_accounts a on a.id = e.account_id and a.kind = 'platformExpense'
join deposits d on d.id = c.id
left join payment_offers o on o.payment_id = c.payment_id and o.asset_id = c.asset_id and o.selected_at is not null and d.first_seen_at < p.expires_at
cross join lateral (select coalesce(o.price_usd, d.usd_price, 0) as usd) price;
