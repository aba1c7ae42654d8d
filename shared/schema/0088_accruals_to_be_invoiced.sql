-- What is accrued and on no invoice yet, in a small list: months were found to be closed by reading, each minute, all that was ever accrued (decision 0112). The list only
-- says where to look and may name too much, never too little; what is on an invoice is read from the invoices' lines.
-- older builds: write the list by the triggers all the same, and read all accruals instead. Writers are kept out while it is filled.

create table accruals_to_invoice (
  accrual_id uuid primary key,
  gateway_id uuid not null,
  at timestamptz not null
);
comment on table accruals_to_invoice is 'Accruals of monthly-billed gateways that no invoice has yet.';
comment on column accruals_to_invoice.accrual_id is 'The accrual; no reference, because accruals are never deleted.';
comment on column accruals_to_invoice.gateway_id is 'Its gateway.';
comment on column accruals_to_invoice.at is 'When it was booked, as the accrual says.';
create index accruals_to_invoice_month on accruals_to_invoice (at);
create index accruals_to_invoice_gateway on accruals_to_invoice (gateway_id, at);

create function list_accruals() returns trigger language plpgsql security definer as $$
begin
  insert into accruals_to_invoice (accrual_id, gateway_id, at) select id, gateway_id, at from added where billing = 'MONTHLY';
  return null;
end $$;
comment on function list_accruals() is 'Trigger body: what was just accrued waits for the invoice of its month.';

create function unlist_accruals() returns trigger language plpgsql security definer as $$
begin
  delete from accruals_to_invoice a using added l where a.accrual_id = l.accrual_id;
  return null;
end $$;
comment on function unlist_accruals() is 'Trigger body: what is on an invoice waits for none.';

-- Both run with their owner's rights, and must find the owner's tables: never a temporary one that whoever is connected made first.
do $$
begin
  execute format('alter function list_accruals() set search_path = %I, pg_temp', current_schema());
  execute format('alter function unlist_accruals() set search_path = %I, pg_temp', current_schema());
end $$;

create trigger accruals_to_be_invoiced after insert on accruals referencing new table as added for each statement execute function list_accruals();
create trigger invoice_lines_end_waiting after insert on invoice_lines referencing new table as added for each statement execute function unlist_accruals();

-- The triggers keep writers out until this is committed, so that each accrual is on the list or on an invoice.
insert into accruals_to_invoice (accrual_id, gateway_id, at)
select r.id, r.gateway_id, r.at from accruals r where r.billing = 'MONTHLY' and not exists (select 1 from invoice_lines l where l.accrual_id = r.id);
