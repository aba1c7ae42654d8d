import type { Screen } from '#api/console/page/model.ts';
import type * as model from '#api/console/page/operator-model.ts';
import type { OperatorSection } from '#api/console/page/operator-sections.ts';
import { brokenLinksOfNewest, NEWEST } from '#api/audit/console-checks.ts';
import type { components } from '#api/contract/operator-types.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { showAuditLog } from '#api/operator/audit-log.ts';
import type { OperatorCall } from '#api/operator/deps.ts';
import { showFreezes } from '#api/operator/freeze.ts';
import { showGateway, showGateways } from '#api/operator/gateways.ts';
import { showExpenses, showInvoices } from '#api/operator/invoices.ts';
import { showDeposits, showJobs, showPayments, showSettlements } from '#api/operator/lists.ts';
import { showNetworks } from '#api/operator/networks.ts';
import { showUnknownOutgoing } from '#api/operator/outgoing.ts';
import { showPrices } from '#api/operator/prices.ts';
import { showProcesses } from '#api/operator/processes.ts';
import { showProposals } from '#api/operator/proposals.ts';
import { showRescans } from '#api/operator/rescan.ts';
import { search } from '#api/operator/search.ts';
import { showPayment, showSettlement } from '#api/operator/timelines.ts';
import { showWithheld } from '#api/operator/withheld.ts';
import { readPayment } from '#api/payments/read-payment.ts';
import { listAmlEventDetails } from '#api/store/aml.ts';
import { listLastClean } from '#api/store/audit-marks.ts';
import type { Marked } from '#api/store/change-marks.ts';
import { readClock } from '#api/store/clock.ts';
import { writtenTerms } from '#api/gateways/operator-terms.ts';
import { listCreditAsks } from '#api/store/credit-asks.ts';
import { listConsoleActions } from '#api/store/console-actions.ts';
import { findGateway, listGatewayNames } from '#api/store/gateways.ts';
import type { ListedDeposit, ListedJob, ListedPayment, ListedSettlement } from '#api/store/operator-lists.ts';
import { countFailedOutbox } from '#api/store/outbox.ts';
import { listCreditDetails } from '#api/store/operator-timelines.ts';
import { listLastSeen, listPeople } from '#api/store/people.ts';
import { readCanaryState } from '#api/store/processes.ts';
import { listPositions } from '#api/store/reconciliations.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { answered, echoed } from './answered.ts';
import { afterOf, filterOf } from './list-query.ts';
import { onlyHit, pathOfHit } from './operator-hits.ts';
import { type Counted, needsOf } from './operator-needs.ts';
import { personPlace, readPersonPlace } from './person-place.ts';

type Schemas = components['schemas'];

/** What a request for a page of the deployment asks for. */
interface Asked {
  /** Of the path, where it names something; empty otherwise. */
  id: string;
  query: URLSearchParams;
  /** Address of whoever asks. */
  you: string;
}

/** A page of the deployment: where it is, which part of the console it belongs to, and what is on it. */
export interface OperatorPage {
  /** Behind the operators' own path; `{id}` stands for an id, or a name. */
  path: string;
  section: OperatorSection;
  /** What it shows and follows while it is open. */
  follows?: Marked;
  /** What is on it, or the path behind the operators' own where what was asked for is. */
  read(deps: Deps, asked: Asked): Promise<Screen | { to: string }>;
}

/** Every page of the deployment. Each is drawn of what the operator's operation of the same name answers, by the same code (console 4). */
export const OPERATOR_PAGES: readonly OperatorPage[] = [
  { path: '/overview', section: 'overview', read: overview },
  { path: '/search', section: 'overview', read: searchEverywhere },
  { path: '/payments', section: 'payments', read: payments },
  { path: '/payments/{id}', section: 'payments', follows: 'payment', read: payment },
  { path: '/deposits', section: 'deposits', read: deposits },
  { path: '/cashouts', section: 'cashouts', read: cashouts },
  { path: '/cashouts/outgoing', section: 'cashouts', read: outgoing },
  { path: '/cashouts/{id}', section: 'cashouts', follows: 'cashout', read: cashout },
  { path: '/screening', section: 'screening', read: screening },
  { path: '/networks', section: 'networks', read: networks },
  { path: '/networks/{id}', section: 'networks', read: network },
  { path: '/jobs', section: 'jobs', read: jobs },
  { path: '/money', section: 'money', read: money },
  { path: '/money/invoices', section: 'money', read: invoices },
  { path: '/money/expenses', section: 'money', read: expenses },
  { path: '/gateways', section: 'gateways', read: gateways },
  { path: '/gateways/{id}', section: 'gateways', read: gateway },
  { path: '/prices', section: 'prices', read: prices },
  { path: '/audit', section: 'audit', read: audit },
  { path: '/audit/acts', section: 'audit', read: acts },
  { path: '/people', section: 'people', read: people },
];

type Operation = (deps: Deps, call: OperatorCall) => Promise<Reply>;

/** What an operation of the operator API answers, as a client of it gets it. */
async function told<T>(deps: Deps, operation: Operation, { id = '', query = {} }: { id?: string; query?: Record<string, unknown> } = {}): Promise<T> {
  const { data } = await operation(deps, { params: { id, network: id }, query, body: undefined });
  return answered<T>(data);
}

/** How rows of the store are told: what is a moment there is its text. */
type Told<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] };

/** A page of an operator's list, gone through by its cursor, newest first unless it has a direction of its own. */
async function listed<Row extends object>(
  deps: Deps,
  operation: Operation,
  { query, names, more = { sort: 'newest' } }: { query: URLSearchParams; names: readonly string[]; more?: Record<string, unknown> },
) {
  const filter = filterOf(query, names);
  const { items, pagination } = await told<{ items: Row[]; pagination: Schemas['Pagination'] }>(deps, operation, {
    query: { ...more, ...filter, ...afterOf(query) },
  });
  const page = { total: null, atLeast: false, next: pagination.nextCursor ?? null, filter: filter as Record<string, string>, later: query.has('after') };
  return { items, ...page };
}

/** What the gateways are called that rows are about. */
async function namesOf(deps: Deps, rows: readonly { gatewayId: string | null }[]): Promise<model.GatewayNames> {
  const ids = [...new Set(rows.flatMap(({ gatewayId }) => gatewayId ?? []))];
  return Object.fromEntries(await listGatewayNames(deps.db.sql, ids));
}

/** As many as a page of 100 tells without counting. */
async function counted(deps: Deps, operation: Operation, query: Record<string, unknown>): Promise<Counted> {
  const { items, pagination } = await told<{ items: object[]; pagination: Schemas['Pagination'] }>(deps, operation, {
    query: { sort: 'newest', limit: POLICY.listLimitMaximum, ...query },
  });
  return { count: items.length, more: pagination.hasMore };
}

/** Cashouts are counted as they are written. */
async function cashoutsThat(deps: Deps, status: string): Promise<Counted> {
  const { pagination } = await told<{ pagination: Schemas['Pagination'] }>(deps, showSettlements, { query: { status, limit: 1 } });
  return { count: pagination.total ?? 0, more: false };
}

async function now(deps: Deps): Promise<string> {
  return (await readClock(deps.db.sql)).now.toISOString();
}

async function overview(deps: Deps): Promise<model.OverviewScreen> {
  const { sql } = deps.db;
  const [at, { items: networks }, freezes, priced, canary, checks, due] = await Promise.all([
    now(deps),
    told<Schemas['NetworkList']>(deps, showNetworks),
    told<Schemas['Freezes']>(deps, showFreezes),
    told<Schemas['Prices']>(deps, showPrices),
    readCanaryState(sql),
    listLastClean(sql),
    told<{ items: Told<ListedJob>[] }>(deps, showJobs, { query: { state: 'due', limit: 1 } }),
  ]);
  const ages = priced.items.flatMap(({ ageSeconds }) => ageSeconds ?? []);
  const facts = {
    now: at,
    chains: networks.map(chainOf),
    freezes,
    audited:
      checks.length === 0 ? null : { oldest: new Date(Math.min(...checks.map(({ wholeAt }) => wholeAt.getTime()))).toISOString(), checks: checks.length },
    prices: {
      mode: priced.mode,
      count: priced.items.length,
      // What never had a price, such as a currency that nobody asks in, needs nobody.
      unusable: priced.items.filter(({ usd, usable }) => usd !== null && !usable).map(({ symbol }) => symbol),
      oldestSeconds: ages.length === 0 ? null : Math.max(...ages),
    },
    canary: canary === undefined ? null : answered<Exclude<model.OverviewScreen['canary'], null>>(canary),
    oldestDue: due.items[0]?.dueAt ?? null,
  };
  const needs = needsOf({
    ...facts,
    wallNow: new Date(deps.wallClock()).toISOString(),
    held: await counted(deps, showPayments, { amlState: 'HELD' }),
    proposals: await counted(deps, showProposals, { status: 'open' }),
    pendingApproval: await cashoutsThat(deps, 'PENDING_APPROVAL'),
    underfunded: await cashoutsThat(deps, 'UNDERFUNDED'),
    waitingScreening: await cashoutsThat(deps, 'WAITING_AML_CREDIT'),
    creditAsks: await listCreditAsks(sql),
    deadJobs: await counted(deps, showJobs, { state: 'dead' }),
    unallocated: await counted(deps, showDeposits, { state: 'unallocated' }),
    unexplained: await counted(deps, showDeposits, { state: 'unexplained' }),
  });
  return { kind: 'ops-overview', needs, ...facts };
}

/** What is kept of a network. */
function chainOf(one: Schemas['NetworkList']['items'][number]): model.ChainLine {
  const { name, headHeight, tipHeight, finalHeight, appliedAt, caughtUpAt, pausedAt, indexed } = one;
  return {
    name,
    head: headHeight,
    applied: tipHeight,
    final: finalHeight,
    appliedAt: appliedAt ?? null,
    caughtUpAt: caughtUpAt ?? null,
    pausedAt,
    led: indexed,
  };
}

/** Opens the one thing that is known by exactly this, or lists what is. */
async function searchEverywhere(deps: Deps, { query }: Asked): Promise<model.OpsSearchScreen | { to: string }> {
  const { q } = filterOf(query, ['q']);
  if (q === undefined) return { kind: 'ops-search', q: '', hits: [], more: false };
  const { items, more } = await told<Schemas['SearchAnswer']>(deps, search, { query: { q } });
  const only = onlyHit(items, more);
  const path = only === undefined ? null : pathOfHit(only, q);
  return path !== null ? { to: path } : { kind: 'ops-search', q, hits: items.map((hit) => ({ ...hit, path: pathOfHit(hit, q) })), more };
}

const WALK = ['q', 'txHash', 'address', 'from', 'to', 'sort'] as const;

async function payments(deps: Deps, { query }: Asked): Promise<Screen> {
  const list = await listed<Told<ListedPayment>>(deps, showPayments, { query, names: ['status', 'amlState', 'gatewayId', ...WALK] });
  return { kind: 'ops-payments', ...list, gateways: await namesOf(deps, list.items) };
}

async function payment(deps: Deps, { id }: Asked): Promise<Screen> {
  const found = await told<Schemas['PaymentTimeline']>(deps, showPayment, { id });
  const { gatewayId, amlState } = found.payment as unknown as { gatewayId: string; amlState: string | null };
  const of = await findGateway(deps.db.sql, gatewayId);
  if (of === undefined) throw new ServiceError('not_found');
  const record = await readPayment(deps, { gateway: of, paymentId: id.toLowerCase() });
  const { callbackParams, webhookParams } = record.outcome;
  const { steps, deposits, credits, aml, misplaced } = found;
  return {
    kind: 'ops-payment',
    payment: {
      kind: 'payment',
      record: answered(record),
      explanation: { steps } as never,
      echoed: [...echoed('callback', callbackParams), ...echoed('webhook', webhookParams)],
      scenarios: [],
    },
    gateway: { id: of.id, name: of.name },
    amlState,
    deposits: deposits as unknown as model.DepositLine[],
    credits: credits as unknown as model.CreditLine[],
    aml: { events: aml.events as unknown as model.HistoryLine[], refunds: aml.refunds },
    misplaced,
  };
}

async function deposits(deps: Deps, { query }: Asked): Promise<Screen> {
  const list = await listed<Told<ListedDeposit>>(deps, showDeposits, { query, names: ['state', 'gatewayId', ...WALK] });
  return { kind: 'ops-deposits', ...list, gateways: await namesOf(deps, list.items) };
}

async function cashouts(deps: Deps, { query }: Asked): Promise<Screen> {
  const list = await listed<Told<ListedSettlement>>(deps, showSettlements, { query, names: ['status', 'gatewayId', ...WALK] });
  return { kind: 'ops-cashouts', ...list, gateways: await namesOf(deps, list.items) };
}

async function cashout(deps: Deps, { id }: Asked): Promise<Screen> {
  const found = await told<Schemas['SettlementTimeline'] & { metadata: { key: string; value: string }[] }>(deps, showSettlement, { id });
  const item = found.settlement as unknown as model.OpsCashoutScreen['item'];
  const [names, { items }] = await Promise.all([namesOf(deps, [item]), told<Schemas['NetworkList']>(deps, showNetworks)]);
  const chain = items.find(({ name }) => name === item.network);
  return {
    kind: 'ops-cashout',
    gateway: { id: item.gatewayId, name: names[item.gatewayId] ?? item.gatewayId },
    item,
    metadata: found.metadata,
    fee: found.fee,
    charges: found.charges,
    events: found.events as unknown as model.HistoryLine[],
    payouts: found.payouts as unknown as model.PayoutLine[],
    chain: chain === undefined || chain.tipHeight === null || chain.finalHeight === null ? null : { tip: chain.tipHeight, final: chain.finalHeight },
  };
}

async function outgoing(deps: Deps): Promise<Screen> {
  return { kind: 'ops-outgoing', ...(await told<{ items: Schemas['UnknownOutgoing'][] }>(deps, showUnknownOutgoing)) };
}

/** Held payments on one page: each is shown with everything that was decided about it. */
const QUEUE = 10;

async function screening(deps: Deps, { query, you }: Asked): Promise<Screen> {
  const more = { amlState: 'HELD', limit: QUEUE, sort: 'oldest' };
  const list = await listed<Told<ListedPayment>>(deps, showPayments, { query, names: ['gatewayId', 'q'], more });
  const { sql } = deps.db;
  const items = await Promise.all(
    list.items.map(async (one) => ({
      ...one,
      ...answered<Pick<model.QueueRow, 'credits' | 'events'>>({
        credits: await listCreditDetails(sql, one.id),
        events: await listAmlEventDetails(sql, one.id),
      }),
    })),
  );
  const open = await told<Schemas['ProposalList']>(deps, showProposals, { query: { status: 'open', sort: 'oldest' } });
  return {
    kind: 'ops-screening',
    ...list,
    items,
    gateways: await namesOf(deps, items),
    proposals: open.items,
    moreProposals: open.pagination.hasMore,
    you,
  };
}

async function followed(deps: Deps): Promise<model.NetworksScreen> {
  const [at, { items }, processes] = await Promise.all([
    now(deps),
    told<Schemas['NetworkList']>(deps, showNetworks),
    told<Schemas['ProcessList']>(deps, showProcesses),
  ]);
  return {
    kind: 'ops-networks',
    now: at,
    items: items.map((one) => ({
      ...chainOf(one),
      family: one.family,
      chainId: one.chainId,
      nativeSymbol: one.nativeSymbol,
      epoch: one.epoch ?? 0,
      warnings: one.warnings ?? [],
      leaders: processes.items.flatMap(({ role, network: of, processes: those }) => (role === 'indexer' && of === one.name ? those : [])),
    })),
  };
}

async function networks(deps: Deps): Promise<Screen> {
  return followed(deps);
}

async function network(deps: Deps, { id }: Asked): Promise<Screen> {
  const { items: rescans } = await told<{ items: Schemas['Rescan'][] }>(deps, showRescans, { id });
  const { now: at, items } = await followed(deps);
  const item = items.find(({ name }) => name === id);
  if (item === undefined) throw new ServiceError('not_found');
  return { kind: 'ops-network', now: at, item, rescans };
}

async function jobs(deps: Deps, { query }: Asked): Promise<Screen> {
  // Work has a direction of its own: what has been due the longest comes first.
  const list = await listed<Schemas['Job']>(deps, showJobs, { query, names: ['state', 'topic', ...WALK], more: { sort: 'oldest' } });
  const failed = await countFailedOutbox(deps.db.sql);
  return { kind: 'ops-jobs', ...list, gateways: await namesOf(deps, list.items), failed, most: POLICY.jobsRetriedAtOnce };
}

async function money(deps: Deps): Promise<Screen> {
  const { sql } = deps.db;
  const [positions, checks, freezes] = await Promise.all([listPositions(sql), listLastClean(sql), told<Schemas['Freezes']>(deps, showFreezes)]);
  return { kind: 'ops-money', positions: answered(positions), checks: answered(checks), freezes };
}

async function invoices(deps: Deps, { query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['month', 'gatewayId']);
  const { items, pagination } = await told<Schemas['InvoiceList']>(deps, showInvoices, { query: filter });
  return { kind: 'ops-invoices', items, filter, more: pagination.hasMore };
}

async function expenses(deps: Deps, { query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['month', 'billing', 'gatewayId']);
  const { items, pagination } = await told<Schemas['ExpenseList']>(deps, showExpenses, { query: { limit: POLICY.listLimitMaximum, ...filter } });
  return { kind: 'ops-expenses', items, filter, more: pagination.hasMore };
}

async function gateways(deps: Deps, { query }: Asked): Promise<Screen> {
  return { kind: 'ops-gateways', ...(await listed<Schemas['Gateway']>(deps, showGateways, { query, names: ['q', 'from', 'to', 'sort'] })) };
}

async function gateway(deps: Deps, { id }: Asked): Promise<Screen> {
  const found = await told<Schemas['GatewayWithKeys']>(deps, showGateway, { id });
  const [[ask], { items, transfers }] = await Promise.all([
    listCreditAsks(deps.db.sql, { gatewayId: found.gateway.id }),
    told<Schemas['WithheldShown']>(deps, showWithheld, { id }),
  ]);
  const creditAsked = ask === undefined ? null : { by: ask.by, at: ask.at.toISOString() };
  return { kind: 'ops-gateway', ...found, terms: writtenTerms(found.gateway), creditAsked, withheld: { items, transfers } };
}

async function prices(deps: Deps): Promise<Screen> {
  return { kind: 'ops-prices', ...(await told<Schemas['Prices']>(deps, showPrices)) };
}

async function audit(deps: Deps, { query }: Asked): Promise<Screen> {
  const names = ['action', 'target', 'q', 'from', 'to', 'sort'];
  return { kind: 'ops-audit', ...(await listed<Schemas['ActionList']['items'][number]>(deps, showAuditLog, { query, names })) };
}

async function acts(deps: Deps, { query }: Asked): Promise<Screen> {
  const { sql } = deps.db;
  const after = afterOf(query).after ?? null;
  if (after !== null && !/^[1-9]\d{0,14}$/.test(after)) throw invalid('after', 'is no place in this list');
  const [rows, broken] = await Promise.all([
    listConsoleActions(sql, { before: after === null ? null : Number(after), limit: POLICY.listLimit + 1 }),
    sql.unsafe<{ id: string; problem: string }[]>(brokenLinksOfNewest()),
  ]);
  const items = answered<model.ActRow[]>(rows.slice(0, POLICY.listLimit));
  return {
    kind: 'ops-acts',
    items,
    total: null,
    atLeast: false,
    next: rows.length > POLICY.listLimit ? String(items.at(-1)?.seq) : null,
    filter: {},
    later: after !== null,
    gateways: await namesOf(deps, items),
    broken: broken.map(({ id, problem }) => ({ id: Number(id), problem })),
    looked: Math.min(NEWEST, rows[0]?.seq ?? 0),
  };
}

async function people(deps: Deps, { query }: Asked): Promise<Screen> {
  const { sql } = deps.db;
  const filter = filterOf(query, ['gatewayId']);
  if (filter.gatewayId !== undefined && !isUuid(filter.gatewayId)) throw invalid('gatewayId', 'must be an id');
  const after = readPersonPlace(afterOf(query).after);
  const rows = await listPeople(sql, { gatewayId: filter.gatewayId ?? null, after, limit: POLICY.listLimit + 1 });
  const shown = rows.slice(0, POLICY.listLimit);
  const [seen, names] = await Promise.all([
    listLastSeen(
      sql,
      shown.map(({ email }) => email),
    ),
    namesOf(deps, shown),
  ]);
  const last = shown.at(-1);
  return {
    kind: 'ops-people',
    items: answered(shown.map((one) => ({ ...one, seenAt: seen.get(one.email) ?? null }))),
    total: null,
    atLeast: false,
    next: rows.length > POLICY.listLimit && last !== undefined ? personPlace(last) : null,
    filter,
    later: after !== null,
    gateways: names,
  };
}
