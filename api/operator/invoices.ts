import type { Deps, Reply } from '#api/deps.ts';
import { listCharges } from '#api/store/charges.ts';
import { findInvoice, listExpensesForOperator, listInvoiceLines, listInvoicesForOperator } from '#api/store/invoices.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall } from './deps.ts';
import { listReply, readFilter, readId, readIdFilter, readPage } from './input.ts';

/** Lines shown with each invoice of the list; an invoice read by itself pages through all of them. */
const LINES_IN_LIST = 100;

/** GET /invoices: what monthly-billed gateways owe, the last closed first, each with its first lines (decisions 11). */
export async function showInvoices(deps: Deps, call: OperatorCall): Promise<Reply> {
  const page = readPage(call.query);
  const gatewayId = readIdFilter(call.query, 'gatewayId') ?? null;
  const { items, total } = await listInvoicesForOperator(deps.db.sql, { gatewayId, month: readMonth(call.query), limit: page.limit, offset: page.offset });
  const shown = await Promise.all(
    items.map(async (invoice) => ({ ...invoice, lines: await listInvoiceLines(deps.db.sql, invoice.id, { limit: LINES_IN_LIST, offset: 0 }) })),
  );
  return listReply(shown, total, page);
}

/** GET /invoices/{id}: one invoice and a page of its lines, the earliest booked first, with what the gateway was charged that month. */
export async function showInvoice(deps: Deps, call: OperatorCall): Promise<Reply> {
  const page = readPage(call.query);
  const invoice = await findInvoice(deps.db.sql, readId(call.params));
  if (invoice === undefined) throw new ServiceError('not_found');
  const lines = await listInvoiceLines(deps.db.sql, invoice.id, page);
  const { data } = listReply(lines, invoice.lineCount, page) as { data: { items: object[]; pagination: object } };
  const charges = await listCharges(deps.db.sql, { gatewayId: invoice.gatewayId, month: `${invoice.month}-01` });
  return { status: 200, data: { invoice: { ...invoice, lines: data.items }, charges, pagination: data.pagination } };
}

/** GET /expenses: what the platform bore, by gateway, month and asset: what will be invoiced, and what platform-billed gateways cost. */
export async function showExpenses(deps: Deps, call: OperatorCall): Promise<Reply> {
  const page = readPage(call.query);
  const { items, total } = await listExpensesForOperator(deps.db.sql, {
    gatewayId: readIdFilter(call.query, 'gatewayId') ?? null,
    billing: readFilter(call.query, 'billing', ['MONTHLY', 'PLATFORM']) ?? null,
    month: readMonth(call.query),
    limit: page.limit,
    offset: page.offset,
  });
  return listReply(items, total, page);
}

/** A month filter such as `2026-10` as the first day of it, or null when it is absent. @throws validation_error */
function readMonth(query: Readonly<Record<string, unknown>>): string | null {
  const { month } = query;
  if (month === undefined) return null;
  if (typeof month !== 'string' || !/^[1-9]\d{3}-(0[1-9]|1[0-2])$/.test(month)) throw invalid('month', 'must be a month such as 2026-10');
  return `${month}-01`;
}
