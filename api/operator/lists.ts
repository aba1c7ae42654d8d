import type { Deps, Reply } from '#api/deps.ts';
import {
  type Listed,
  type ListFilter,
  listDepositsForOperator,
  listJobsForOperator,
  listPaymentsForOperator,
  listSettlementsForOperator,
  listUnexplainedForOperator,
  listWebhooksForOperator,
} from '#api/store/operator-lists.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';
import type { OperatorCall } from './deps.ts';
import { listReply, readFilter, readIdFilter, readPage } from './input.ts';

const DEPOSIT_STATES = ['seen', 'dropped', 'credited', 'dust', 'unallocated', 'unexplained'] as const;
const WEBHOOK_STATES = ['pending', 'delivered', 'exhausted', 'stopped'] as const;

/** GET /payments. */
export async function showPayments(deps: Deps, call: OperatorCall): Promise<Reply> {
  return filtered(deps, call, readFilter(call.query, 'status', payment.statuses), listPaymentsForOperator);
}

/** GET /settlements. */
export async function showSettlements(deps: Deps, call: OperatorCall): Promise<Reply> {
  return filtered(deps, call, readFilter(call.query, 'status', settlement.statuses), listSettlementsForOperator);
}

/** GET /deposits, such as `?state=unallocated`; `unexplained` ones are coins without any deposit. */
export async function showDeposits(deps: Deps, call: OperatorCall): Promise<Reply> {
  const state = readFilter(call.query, 'state', DEPOSIT_STATES);
  return state === 'unexplained' ? filtered(deps, call, state, listUnexplainedForOperator) : filtered(deps, call, state, listDepositsForOperator);
}

/** GET /webhooks, such as `?state=exhausted`, or those of one payment. */
export async function showWebhooks(deps: Deps, call: OperatorCall): Promise<Reply> {
  const paymentId = readIdFilter(call.query, 'paymentId') ?? null;
  return filtered(deps, call, readFilter(call.query, 'state', WEBHOOK_STATES), (sql, filter) => listWebhooksForOperator(sql, { ...filter, paymentId }));
}

/** GET /jobs: work that is due, retrying, scheduled or dead. */
export async function showJobs(deps: Deps, call: OperatorCall): Promise<Reply> {
  const page = readPage(call.query);
  const { items, total } = await listJobsForOperator(deps.db.sql, page);
  return listReply(items, total, page);
}

async function filtered<T>(
  deps: Deps,
  call: OperatorCall,
  status: string | undefined,
  list: (sql: Reads, filter: ListFilter) => Promise<Listed<T>>,
): Promise<Reply> {
  const page = readPage(call.query);
  const gatewayId = readIdFilter(call.query, 'gatewayId') ?? null;
  const { items, total } = await list(deps.db.sql, { limit: page.limit, offset: page.offset, gatewayId, status: status ?? null });
  return listReply(items, total, page);
}
