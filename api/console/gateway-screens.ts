import type { Echoed, Screen } from '#api/console/page/model.ts';
import type { Section } from '#api/console/page/sections.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { explainPayment } from '#api/payments/explain.ts';
import { listPayments } from '#api/payments/list-payments.ts';
import { readPayment } from '#api/payments/read-payment.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { getSettlement, listSettlements } from '#api/settlements/view.ts';
import { SentJson, withSent } from '#shared/core/sent-json.ts';

/** What a request for a page of a gateway asks for. */
interface Asked {
  gateway: Gateway;
  /** Of the path, where it names something; empty otherwise. */
  id: string;
  query: URLSearchParams;
}

/** A page of a gateway: where it is, which part of the console it belongs to, and what is on it. */
export interface GatewayScreen {
  /** Behind the gateway's own path; `{id}` stands for an id. */
  path: string;
  section: Section;
  read(deps: Deps, asked: Asked): Promise<Screen>;
}

/** Every page of a gateway. Each is drawn of what the merchant operation of the same name answers, by the same code (console 5). */
export const GATEWAY_SCREENS: readonly GatewayScreen[] = [
  { path: '/payments', section: 'payments', read: payments },
  { path: '/payments/{id}', section: 'payments', read: payment },
  { path: '/balances', section: 'balances', read: balances },
  { path: '/cashouts', section: 'cashouts', read: cashouts },
  { path: '/cashouts/{id}', section: 'cashouts', read: cashout },
];

async function payments(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const status = text(query, 'status');
  const { items, pagination } = await listPayments(deps, { gateway, status, after: text(query, 'after') });
  return { kind: 'payments', items: answered(items), total: pagination.total, next: pagination.nextCursor, status: status ?? null, later: query.has('after') };
}

async function payment(deps: Deps, { gateway, id }: Asked): Promise<Screen> {
  const [record, explanation] = await Promise.all([readPayment(deps, { gateway, paymentId: id }), explainPayment(deps, { gateway, paymentId: id })]);
  const { callbackParams, webhookParams } = record.outcome;
  return { kind: 'payment', record: answered(record), explanation, echoed: [...echoed('callback', callbackParams), ...echoed('webhook', webhookParams)] };
}

async function balances(deps: Deps, { gateway }: Asked): Promise<Screen> {
  return { kind: 'balances', items: (await listBalances(deps, { gateway })).items };
}

async function cashouts(deps: Deps, { gateway, query }: Asked): Promise<Screen> {
  const status = text(query, 'status');
  const { items, pagination } = await listSettlements(deps, { gateway, status, after: text(query, 'after') });
  return { kind: 'cashouts', items: answered(items), total: pagination.total, next: pagination.nextCursor, status: status ?? null, later: query.has('after') };
}

async function cashout(deps: Deps, { gateway, id }: Asked): Promise<Screen> {
  const found = await getSettlement(deps, { gateway, id });
  return { kind: 'cashout', item: answered(found), echoed: echoed('metadata', found.metadata) };
}

/** An empty field of a form asks for nothing. */
function text(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** An answer as a merchant's server gets it. */
function answered<T>(answer: unknown): T {
  return JSON.parse(withSent(JSON.stringify(answer))) as T;
}

/** What the merchant stored, member by member, each value as it was sent. */
function echoed(kind: Echoed['kind'], sent: unknown): Echoed[] {
  return sent instanceof SentJson && sent.text.startsWith('{') ? sent.members().map(([name, value]) => ({ kind, name, value })) : [];
}
