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
  seekJobs,
  walkDeposits,
  walkFlagged,
  walkJobs,
  walkPayments,
  walkSettlements,
  walkUnexplained,
  walkWebhooks,
} from '#api/store/operator-lists.ts';
import { seekDeposits, seekPayments, seekSettlements, seekWebhooks, type Sought } from '#api/store/operator-seeks.ts';
import type { Place, Placed, Walk, Walked } from '#api/store/operator-walks.ts';
import { TOPICS } from '#api/store/outbox.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';
import type { OperatorCall } from './deps.ts';
import { readFilter, readIdFilter, readPage } from './input.ts';
import { type AskedWalk, countedReply, lastFound, readWalk, walkReply } from './read-walk.ts';

const DEPOSIT_STATES = ['seen', 'dropped', 'credited', 'dust', 'unallocated', 'unexplained'] as const;
const WEBHOOK_STATES = ['pending', 'delivered', 'exhausted', 'stopped'] as const;
/** What screening, and whoever decided about it, may have made of a payment. */
export const AML_STATES = ['HELD', 'RELEASED', 'REFUNDED', 'WITHHELD'] as const;
const JOB_STATES = ['due', 'retrying', 'scheduled', 'dead'] as const;

/** GET /payments: counted, or gone through for what is looked for. @throws validation_error naming what cannot be read */
export async function showPayments(deps: Deps, call: OperatorCall): Promise<Reply> {
  const status = readFilter(call.query, 'status', payment.statuses);
  const amlState = readFilter(call.query, 'amlState', AML_STATES);
  return listed(deps, call, status, {
    count: listPaymentsForOperator,
    seek: seekPayments,
    walk: async (sql, walk) => (amlState === undefined ? { rows: await walkPayments(sql, walk), lastLooked: null } : walkFlagged(sql, { ...walk, amlState })),
    more: ['amlState'],
  });
}

/** GET /settlements: the same. @throws validation_error naming what cannot be read */
export async function showSettlements(deps: Deps, call: OperatorCall): Promise<Reply> {
  const status = readFilter(call.query, 'status', settlement.statuses);
  return listed(deps, call, status, {
    count: listSettlementsForOperator,
    seek: seekSettlements,
    walk: async (sql, walk) => ({ rows: await walkSettlements(sql, walk), lastLooked: null }),
  });
}

/** GET /deposits, such as `?state=unallocated`; `unexplained` ones are coins without any deposit. @throws validation_error naming what cannot be read */
export async function showDeposits(deps: Deps, call: OperatorCall): Promise<Reply> {
  const state = readFilter(call.query, 'state', DEPOSIT_STATES);
  if (state === 'unexplained') return unexplained(deps, call);
  return listed(deps, call, state, {
    count: listDepositsForOperator,
    seek: async (sql, sought, range) => seekDeposits(sql, sought, sought.digest === null ? [] : await paymentsOf(sql, sought), range),
    walk: walkDeposits,
  });
}

/** GET /webhooks, such as `?state=exhausted`, or those of one payment. @throws validation_error naming what cannot be read */
export async function showWebhooks(deps: Deps, call: OperatorCall): Promise<Reply> {
  const paymentId = readIdFilter(call.query, 'paymentId') ?? null;
  return listed(deps, call, readFilter(call.query, 'state', WEBHOOK_STATES), {
    count: (sql, filter) => listWebhooksForOperator(sql, { ...filter, paymentId }),
    seek: async (sql, sought, range) => seekWebhooks(sql, sought, await paymentsOf(sql, sought), range),
    walk: (sql, walk) => walkWebhooks(sql, { ...walk, paymentId }),
  });
}

/** GET /jobs: work that is due, retrying, scheduled or dead, the longest due first. @throws validation_error naming what cannot be read */
export async function showJobs(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const status = readFilter(call.query, 'state', JOB_STATES) ?? null;
  const topic = readFilter(call.query, 'topic', TOPICS) ?? null;
  const asked = readWalk(deps, call.query, { more: ['state', 'topic'], oldestFirst: true });
  if (asked === undefined) {
    const page = readPage(call.query);
    const { items, total } = await listJobsForOperator(sql, page);
    return countedReply(items, total, page);
  }
  const { sought, ...walk } = asked;
  const ids = sought === null ? null : sought.id === null ? [] : await seekJobs(sql, sought.id);
  const { rows, lastLooked } = await walkJobs(sql, { ...walk, gatewayId: null, status, topic, ids });
  return walkReply(rows, walk, lastLooked);
}

/** How a list is counted, what finds its rows, and how they are gone through. */
interface ListParts<T> {
  count(sql: Reads, filter: ListFilter): Promise<Listed<Placed<T>>>;
  seek(sql: Reads, sought: Sought, range: Omit<Walk, 'ids'>): Promise<Place[]>;
  walk(sql: Reads, walk: Walk): Promise<Walked<T>>;
  /** Further filters that only a list that is gone through has. */
  more?: readonly string[];
}

async function listed<T extends { id: string }>(deps: Deps, call: OperatorCall, status: string | undefined, parts: ListParts<T>): Promise<Reply> {
  const { sql } = deps.db;
  const gatewayId = readIdFilter(call.query, 'gatewayId') ?? null;
  const asked = readWalk(deps, call.query, { more: parts.more ?? [] });
  if (asked === undefined) {
    const page = readPage(call.query);
    const { items, total } = await parts.count(sql, { limit: page.limit, offset: page.offset, gatewayId, status: status ?? null });
    return countedReply(items, total, page);
  }
  const { sought, ...walk } = asked;
  const range = { ...walk, gatewayId, status: status ?? null };
  const found = sought === null ? null : await parts.seek(sql, sought, range);
  const { rows, lastLooked } = await parts.walk(sql, { ...range, ids: found === null ? null : found.map(({ id }) => id) });
  return walkReply(rows, walk, found === null ? lastLooked : lastFound(found));
}

async function unexplained(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const gatewayId = readIdFilter(call.query, 'gatewayId') ?? null;
  const asked = readWalk(deps, call.query);
  if (asked === undefined) {
    const page = readPage(call.query);
    const { items, total } = await listUnexplainedForOperator(sql, { limit: page.limit, offset: page.offset, gatewayId, status: null });
    return countedReply(items, total, page);
  }
  const { sought, ...walk }: AskedWalk = asked;
  const found = sought === null ? null : { addresses: sought.addresses, payments: await paymentsOf(sql, sought) };
  const ids = sought?.id === undefined || sought.id === null ? [] : [sought.id];
  const { rows, lastLooked } = await walkUnexplained(sql, { ...walk, gatewayId, status: null, ids }, found);
  return walkReply(rows, walk, lastLooked);
}

/** The newest payments that are known by what somebody looks for. */
async function paymentsOf(sql: Reads, sought: Sought): Promise<string[]> {
  const found = await seekPayments(sql, sought, { gatewayId: null, from: null, to: null, oldest: false, after: null });
  return found.map(({ id }) => id);
}
