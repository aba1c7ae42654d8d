import type { HomeScreen, Screen } from '#api/console/page/model.ts';
import { CREDIT_STATES } from '#api/console/page/books.tsx';
import { permissionOf, type Section } from '#api/console/page/sections.ts';
import { REQUEST_STATUSES } from '#api/console/page/requests.tsx';
import { WEBHOOK_STATES } from '#api/console/page/webhooks.tsx';
import { approvalView } from './approval-view.ts';
import { answered, echoed } from './answered.ts';
import { afterOf, filterOf } from './list-query.ts';
import { policiesScreen } from './policies-screen.ts';
import { settingsScreen } from './settings-screen.ts';
import { personPlace, readPersonPlace } from './person-place.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import type { Marked } from '#api/store/change-marks.ts';
import { readGatewayFunnel, readSeries } from '#api/gateways/day-figures.ts';
import { listExports, READS_AUDIT } from '#api/exports/exports.ts';
import { readColumnChoices } from '#api/exports/chosen-columns.ts';
import { readMonthlyChoices } from '#api/exports/monthly-exports.ts';
import { readStatement } from '#api/gateways/read-statement.ts';
import { listMonths } from '#api/store/gateway-months.ts';
import { listCredits } from '#api/gateways/list-credits.ts';
import { listLedger } from '#api/gateways/list-ledger.ts';
import { PERMISSIONS } from '#api/gateways/keys.ts';
import { readAllowlists } from '#api/gateways/allowlists.ts';
import { readScreening } from '#api/gateways/read-screening.ts';
import { listRefusals } from '#api/gateways/refusals.ts';
import { listKeys } from '#api/gateways/manage-keys.ts';
import { listCurrencies } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import { listCreditAsks } from '#api/store/credit-asks.ts';
import { listSecretStates } from '#api/store/gateways.ts';
import { listMemberProposals } from '#api/store/member-proposals.ts';
import { countMembersWho, listPeople, listRoles } from '#api/store/people.ts';
import { listRequests } from '#api/gateways/requests.ts';
import { listWebhooks } from '#api/gateways/list-webhooks.ts';
import { explainPayment } from '#api/payments/explain.ts';
import { listPayments } from '#api/payments/list-payments.ts';
import { readPayment } from '#api/payments/read-payment.ts';
import { listAddresses } from '#api/settlements/list-addresses.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { getSettlement, listSettlements } from '#api/settlements/view.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { amount, formatAmount, formatCents, parseTrusted } from '#shared/core/money.ts';
import { scenariosLeft } from '#state-machines/payment/scenario.ts';
import type { Pagination } from '#shared/platform/page.ts';

/** What a request for a page of a gateway asks for. */
interface Asked {
  gateway: Gateway;
  /** Beginning of the path of all its pages. */
  href: string;
  permissions: readonly string[];
  /** Whoever asks, and where from. */
  personId: string;
  address: string;
  /** Of the path, where it names something; empty otherwise. */
  id: string;
  query: URLSearchParams;
}

/** A page of a gateway: where it is, which part of the console it belongs to, and what is on it. */
export interface GatewayScreen {
  /** Behind the gateway's own path; `{id}` stands for an id. */
  path: string;
  section: Section;
  /** To open it, where it takes another one than its part does. */
  permission?: string;
  /** What it shows and follows while it is open. */
  follows?: Marked;
  /** What is on it, or the path where what was asked for is. */
  read(deps: Deps, asked: Asked): Promise<Screen | { to: string }>;
}

/** Every page of a gateway. Each is drawn of what the merchant operation of the same name answers, by the same code (console 5). */
export const GATEWAY_SCREENS: readonly GatewayScreen[] = [
  { path: '/home', section: 'home', read: home },
  { path: '/search', section: 'payments', read: search },
  { path: '/payments', section: 'payments', read: payments },
  { path: '/payments/{id}', section: 'payments', follows: 'payment', read: payment },
  { path: '/balances', section: 'balances', read: balances },
  { path: '/credits', section: 'credits', read: credits },
  { path: '/ledger', section: 'ledger', read: ledger },
  { path: '/cashouts', section: 'cashouts', read: cashouts },
  { path: '/cashouts/new', section: 'cashouts', permission: 'settlement:create', read: newCashout },
  { path: '/cashouts/{id}', section: 'cashouts', follows: 'cashout', read: cashout },
  { path: '/addresses', section: 'addresses', read: addresses },
  { path: '/policies', section: 'policies', read: policies },
  { path: '/screening', section: 'screening', read: screening },
  { path: '/webhooks', section: 'webhooks', read: webhooks },
  { path: '/reports', section: 'reports', read: reports },
  { path: '/statements/{id}', section: 'reports', permission: 'settlement:read', read: statement },
  { path: '/requests', section: 'requests', read: requests },
  { path: '/sandbox', section: 'sandbox', read: sandbox },
  { path: '/keys', section: 'keys', read: keys },
  { path: '/allowlists', section: 'allowlists', read: allowlists },
  { path: '/settings', section: 'settings', read: settings },
  { path: '/team', section: 'team', read: team },
];

/** How far a payment comes. */
const STEPS = ['created', 'opened', 'chosen', 'seen', 'paid'] as const;

async function home(deps: Deps, { gateway, permissions }: Asked): Promise<Screen> {
  const [series, funnel, needs] = await Promise.all([
    readSeries(deps, { gateway }),
    readGatewayFunnel(deps, { gateway }),
    needsOf(deps, { gateway, permissions }),
  ]);
  const days = series.items.map(({ day, created, paid, received }) => ({
    day,
    created,
    paid,
    usd: formatAmount(received.reduce((sum, { amountUsd }) => sum + parseTrusted<'usd'>(amountUsd), 0n)),
  }));
  return {
    kind: 'home',
    days,
    // Whose server shows payers the address itself, nobody opens anything.
    steps: STEPS.map((step) => ({ step, count: funnel[step] })).filter(({ step, count }) => step !== 'opened' || count > 0),
    needs,
    receivedUsd: formatCents(amount(days.reduce((sum, { usd }) => sum + parseTrusted<'usd'>(usd), 0n))),
  };
}

/** What a cashout waits for while it has a status. */
const WAITING = { PENDING_APPROVAL: 'approval', UNDERFUNDED: 'balance', WAITING_AML_CREDIT: 'credit' } as const;

/** What waits for somebody; each is read by an index, and counted only where counts are kept. */
async function needsOf(deps: Deps, { gateway, permissions }: Pick<Asked, 'gateway' | 'permissions'>): Promise<HomeScreen['needs']> {
  const needs: HomeScreen['needs'] = [];
  if (permissions.includes(permissionOf('cashouts')))
    for (const status of Object.keys(WAITING) as (keyof typeof WAITING)[]) {
      const { total } = (await listSettlements(deps, { gateway, status, limit: 1 })).pagination;
      if (total > 0) needs.push({ path: `/cashouts?status=${status}`, what: WAITING[status], count: total });
    }
  const { items } = await listWebhooks(deps, { gateway, state: 'exhausted', limit: 1 });
  if (items.length > 0) needs.push({ path: '/webhooks?state=exhausted', what: 'webhooks', count: items.length });
  return needs;
}

const FILTERS = ['status', 'q', 'createdFrom', 'createdTo', 'asset', 'network', 'sandbox', 'verified'] as const;

async function payments(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const filter = filterOf(query, FILTERS);
  const { sandbox, verified, ...texts } = filter;
  const { items, pagination } = await listPayments(deps, {
    gateway,
    byAmount: true,
    ...(texts as object),
    ...(sandbox !== undefined && { sandbox: sandbox === 'true' }),
    ...(verified !== undefined && { verified: verified === 'true' }),
    ...afterOf(query),
  });
  return { kind: 'payments', items: answered(items), filter, ...pageOf(query, pagination) };
}

/** Opens the one payment or cashout that is known by exactly this, or lists the payments that are. */
async function search(deps: Deps, { gateway, query, permissions, href }: Asked): Promise<{ to: string }> {
  const { q } = filterOf(query, ['q']);
  if (q === undefined) return { to: `${href}/payments` };
  const { items } = await listPayments(deps, { gateway, q, byAmount: true, limit: 2 });
  const [first, second] = answered<{ paymentUid: string }[]>(items);
  if (first !== undefined && second === undefined) return { to: `${href}/payments/${first.paymentUid}` };
  const cashout =
    first === undefined && permissions.includes(permissionOf('cashouts')) ? await getSettlement(deps, { gateway, id: q }).catch(notFound) : undefined;
  return { to: cashout === undefined ? `${href}/payments?q=${encodeURIComponent(q)}` : `${href}/cashouts/${cashout.id}` };
}

function notFound(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
}

async function payment(deps: Deps, { gateway, id }: Asked): Promise<Screen> {
  const [record, explanation] = await Promise.all([readPayment(deps, { gateway, paymentId: id }), explainPayment(deps, { gateway, paymentId: id })]);
  const { callbackParams, webhookParams, status } = record.outcome;
  const overdue = record.isSandbox && Date.parse(record.expiresAt) <= (await readClock(deps.db.sql)).now.getTime();
  return {
    kind: 'payment',
    record: answered(record),
    explanation,
    echoed: [...echoed('callback', callbackParams), ...echoed('webhook', webhookParams)],
    scenarios: record.isSandbox ? scenariosLeft({ status, overdue }) : [],
  };
}

async function balances(deps: Deps, { gateway }: Asked): Promise<Screen> {
  return { kind: 'balances', items: (await listBalances(deps, { gateway })).items };
}

async function credits(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['state', 'payment', 'from', 'to', 'asset', 'network']);
  if (filter.state !== undefined && !CREDIT_STATES.some((state) => state === filter.state)) throw invalid('state', 'is none of a credit');
  if (filter.payment !== undefined && !isUuid(filter.payment)) throw invalid('payment', 'must be the id of a payment');
  const { items, pagination } = await listCredits(deps, { gateway, ...(filter as object), ...afterOf(query) });
  return { kind: 'credits', items, filter, ...pageOf(query, { ...pagination, total: null }) };
}

async function ledger(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['from', 'to', 'kind', 'asset', 'network']);
  const { items, pagination } = await listLedger(deps, { gateway, ...filter, ...afterOf(query) });
  return { kind: 'ledger', items, filter, ...pageOf(query, { ...pagination, total: null }) };
}

async function cashouts(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['status']);
  const { items, pagination } = await listSettlements(deps, { gateway, ...(filter as object), ...afterOf(query) });
  return { kind: 'cashouts', items: answered(items), filter, ...pageOf(query, pagination) };
}

/** What is to be filled in for a cashout; what was filled in before comes back. */
/** Entries of the address book that a form offers, the last stored first. */
const BOOK_OFFERED = 100;

async function newCashout(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const [{ items }, book] = await Promise.all([listBalances(deps, { gateway }), listAddresses(deps, { gateway, limit: BOOK_OFFERED })]);
  const assets = items.filter(({ totalAvailable }) => parseTrusted(totalAvailable) > 0n);
  const fields = filterOf(query, ['assetId', 'amount', 'address', 'label']);
  // The network's fee is taken from it, so that all there is can be asked for.
  const all = query.has('max') ? assets.find(({ assetId }) => assetId === fields.assetId)?.totalAvailable : undefined;
  return {
    kind: 'new-cashout',
    enabled: gateway.settings.cashout.enabled,
    assets,
    book: book.items.map(({ label, address }) => ({ label, address })),
    fields: { ...fields, ...(all !== undefined && { amount: all }) },
  };
}

async function cashout(deps: Deps, { gateway, id, personId }: Asked): Promise<Screen> {
  const found = await getSettlement(deps, { gateway, id });
  const approval = found.status === 'PENDING_APPROVAL' ? await approvalView(deps, { gateway, id, personId }) : null;
  return { kind: 'cashout', item: answered(found), approval, echoed: echoed('metadata', found.metadata) };
}

async function screening(deps: Deps, { gateway }: Asked): Promise<Screen> {
  const [found, [ask], parked] = await Promise.all([
    readScreening(deps, { gateway }),
    listCreditAsks(deps.db.sql, { gatewayId: gateway.id }),
    listSettlements(deps, { gateway, status: 'WAITING_AML_CREDIT', limit: 1 }),
  ]);
  return { kind: 'screening', ...found, asked: ask === undefined ? null : { by: ask.by, at: ask.at.toISOString() }, parked: parked.pagination.total };
}

async function webhooks(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['state']);
  if (filter.state !== undefined && !WEBHOOK_STATES.includes(filter.state)) throw invalid('state', 'is none of a webhook');
  const { items, pagination } = await listWebhooks(deps, { gateway, ...(filter as object), ...afterOf(query) });
  return { kind: 'webhooks', items, filter, ...pageOf(query, { ...pagination, total: null }) };
}

async function requests(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const filter = filterOf(query, ['status']);
  if (filter.status !== undefined && !REQUEST_STATUSES.includes(filter.status)) throw invalid('status', 'is no class of a status');
  const { items, pagination } = await listRequests(deps, { gateway, ...(filter as object), ...afterOf(query) });
  return { kind: 'requests', items, filter, ...pageOf(query, { ...pagination, total: null }) };
}

/** How many months a page leads to. */
const MONTHS = 24;

async function reports(deps: Deps, { gateway, query, permissions, personId }: Asked): Promise<Screen> {
  const asked = { personId, gatewayId: gateway.id, permissions };
  const [{ items, pagination }, months, monthly, choices] = await Promise.all([
    listExports(deps, { gateway, audit: permissions.includes(READS_AUDIT), ...afterOf(query) }),
    permissions.includes('settlement:read') ? listMonths(deps.db.sql, gateway.id, MONTHS) : [],
    readMonthlyChoices(deps, asked),
    readColumnChoices(deps, asked),
  ]);
  return { kind: 'reports', items, filter: {}, ...pageOf(query, { ...pagination, total: null }), months, monthly, choices };
}

async function statement(deps: Deps, { gateway, id: month }: Asked): Promise<Screen> {
  if (!/^[1-9]\d{3}-(0[1-9]|1[0-2])$/.test(month)) throw new ServiceError('not_found');
  return { kind: 'statement', statement: await readStatement(deps, { gateway, month }) };
}

async function sandbox(deps: Deps): Promise<Screen> {
  return { kind: 'sandbox', currencies: (await listCurrencies(deps.db.sql)).flatMap(({ code, active }) => (active ? [code] : [])) };
}

async function keys(deps: Deps, { gateway, query, permissions }: Asked): Promise<Screen> {
  const [{ items, pagination }, secrets, { now }] = await Promise.all([
    listKeys(deps, { gateway, ...afterOf(query) }),
    listSecretStates(deps.db.sql, gateway.id),
    readClock(deps.db.sql),
  ]);
  return {
    kind: 'keys',
    items: answered(items),
    filter: askedFor(query, ['revoke', 'change', 'roll', 'end']),
    ...pageOf(query, { ...pagination, total: null }),
    now: now.toISOString(),
    grantable: PERMISSIONS.filter((one) => permissions.includes(one)),
    secrets: secrets.map(({ id, kind, createdAt, expiresAt }) => ({
      id,
      kind,
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
    })),
  };
}

async function addresses(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const { items, pagination } = await listAddresses(deps, { gateway, ...afterOf(query) });
  return { kind: 'addresses', items, filter: askedFor(query, ['rename', 'hide', 'vouch']), ...pageOf(query, { ...pagination, total: null }) };
}

/** Refused requests that a page shows. */
const REFUSED_SHOWN = 20;

async function allowlists(deps: Deps, { gateway, query, address }: Asked): Promise<Screen> {
  const [lists, refused] = await Promise.all([readAllowlists(deps, { gateway }), listRefusals(deps, { gateway, limit: REFUSED_SHOWN })]);
  return {
    kind: 'allowlists',
    lists: { api: lists.api, cashout: lists.cashout.items },
    refused: answered(refused.items),
    you: address,
    filter: askedFor(query, ['list', 'remove', 'add']),
  };
}

function policies(deps: Deps, { gateway, href, personId, query }: Asked): Promise<Screen | { to: string }> {
  return policiesScreen(deps, { gateway, href: `${href}/policies`, personId, query });
}

async function settings(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  return settingsScreen(deps, { gateway, query });
}

const PEOPLE_ON_A_PAGE = 100;

async function team(deps: Deps, { gateway, query, permissions, personId }: Asked): Promise<Screen> {
  const after = readPersonPlace(afterOf(query).after);
  const { sql } = deps.db;
  const [rows, roles, owners, waiting] = await Promise.all([
    listPeople(sql, { gatewayId: gateway.id, after, limit: PEOPLE_ON_A_PAGE + 1 }),
    listRoles(sql),
    countMembersWho(sql, gateway.id, 'team:manage'),
    listMemberProposals(sql, gateway.id),
  ]);
  const shown = rows.slice(0, PEOPLE_ON_A_PAGE);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  return {
    kind: 'team',
    items: shown.map(({ email, role, state, since }) => ({ email, role, state, since: since.toISOString() })),
    filter: askedFor(query, ['remove']),
    ...pageOf(query, { total: null, nextCursor: last === undefined ? null : personPlace(last) }),
    owners,
    waiting: waiting.map(({ id, email, role, proposedBy, proposedByEmail, proposedAt, proposerMay }) => ({
      id,
      email,
      role,
      by: proposedByEmail,
      own: proposedBy === personId,
      at: proposedAt.toISOString(),
      stale: !proposerMay,
    })),
    roles: roles.filter((one) => !one.operates && one.permissions.every((each) => permissions.includes(each))).map(({ name }) => name),
  };
}

/** The same, of what is to be drawn and not narrowed. */
function askedFor(query: URLSearchParams, names: readonly string[]): Record<string, string> {
  return filterOf(query, names) as Record<string, string>;
}

type Counted = Pick<Pagination, 'nextCursor' | 'atLeast'> & { total: number | null };

function pageOf(query: URLSearchParams, { total, atLeast, nextCursor }: Counted) {
  return { total, atLeast: atLeast === true, next: nextCursor, later: query.has('after') };
}
