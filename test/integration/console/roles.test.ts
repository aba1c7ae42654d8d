import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { parse } from 'yaml';
import { GATEWAY_SCREENS } from '#api/console/gateway-screens.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMember, serveConsole } from '#test/harness/console-stage.ts';

/** The one list: what each role may do, at a gateway or for the deployment. Whoever changes it in the schema changes it here. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  owner: [
    ...[
      'payment:create',
      'payment:read',
      'payment:inquire',
      'settlement:create',
      'settlement:read',
      'settlement:approve',
      'refund:create',
      'refund:approve',
      'webhook:resend',
    ],
    ...['key:manage', 'secret:roll', 'settings:write', 'team:manage', 'report:export', 'link:manage', 'pos:use', 'aml:read'],
  ],
  finance: ['payment:read', 'settlement:create', 'settlement:read', 'refund:create', 'report:export', 'aml:read'],
  approver: ['payment:read', 'settlement:read', 'settlement:approve', 'refund:approve', 'aml:read'],
  developer: ['payment:create', 'payment:read', 'payment:inquire', 'settlement:read', 'webhook:resend', 'key:manage', 'secret:roll'],
  support: ['payment:read', 'payment:inquire', 'webhook:resend', 'aml:read'],
  cashier: ['payment:create', 'pos:use'],
  operator: [],
  auditor: [],
};
/** Roles of the deployment, which are members of no gateway. */
const OPERATES = ['operator', 'auditor'];

/** What each page of a gateway asks for, by its path. */
const PAGES: Readonly<Record<string, string>> = {
  '/home': 'payment:read',
  '/search': 'payment:read',
  '/payments': 'payment:read',
  '/payments/{id}': 'payment:read',
  '/balances': 'settlement:read',
  '/credits': 'payment:read',
  '/ledger': 'settlement:read',
  '/cashouts': 'settlement:read',
  '/cashouts/new': 'settlement:create',
  '/cashouts/{id}': 'settlement:read',
  '/addresses': 'settlement:read',
  '/policies': 'settings:write',
  '/screening': 'aml:read',
  '/webhooks': 'payment:read',
  '/reports': 'report:export',
  '/statements/{id}': 'settlement:read',
  '/requests': 'key:manage',
  '/sandbox': 'payment:create',
  '/keys': 'key:manage',
  '/allowlists': 'settings:write',
  '/settings': 'settings:write',
  '/team': 'team:manage',
};

interface Described {
  operationId: string;
  security?: Record<string, string[]>[];
}

const { paths } = parse(readFileSync('api/contract/openapi.yaml', 'utf8')) as { paths: Record<string, Record<string, Described>> };
/** Every operation that takes a key, which a session may stand in for where it only reads. */
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method, { security }]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method) && security?.length !== 0)
    .map(([method, { operationId, security }]) => ({
      method: method.toUpperCase(),
      path,
      operationId,
      permission: Object.values(security?.[0] ?? {})[0]?.[0] ?? '',
    })),
);

let service: Service;
let shop: Shop;
let stranger: Shop;
let served: Awaited<ReturnType<typeof serveConsole>>;
/** By the name of a parameter, what there is at each of the two gateways. */
let own: Readonly<Record<string, string>>;
let foreign: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await aService();
  served = await serveConsole(service.deps, service.world.database);
  [shop, stranger] = [await service.aShop({}, ['report:export']), await service.aShop({}, ['report:export'])];
  [own, foreign] = [await things(shop), await things(stranger)];
});
afterAll(async () => {
  await served?.stop();
  await service?.stop();
});

async function things(at: Shop): Promise<Record<string, string>> {
  await at.fund('USDT', '100');
  const body = { assetId: service.world.assets.USDT?.id, amount: '10', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
  const { data } = await at.signed('POST', '/merchant/settlements', { body });
  const asked = await at.signed('POST', '/exports', { body: { kind: 'payments' } });
  while (await makeNextPart(service.worker));
  return {
    paymentId: (await at.payment()).paymentUid,
    settlementId: String(data.id),
    exportId: String(asked.data.exportId),
    month: new Date().toISOString().slice(0, 7),
  };
}
const filled = (path: string, ids: Readonly<Record<string, string>>) => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? randomUUID());
const member = (role: string) =>
  aMember(service.world.database, { email: `${role}-${randomUUID()}@example.com`, gatewayId: OPERATES.includes(role) ? null : shop.id, role });

interface Answer {
  status: number;
  text: string;
}
async function ask(path: string, session: string, { method = 'GET', api = true } = {}): Promise<Answer> {
  const answer = await fetch(`${served.origin}${api ? '/api/v1' : `/g/${shop.id}`}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      cookie: `__Host-sluice=${session}`,
      'sec-fetch-site': 'same-origin',
      ...(api && { 'x-gateway': shop.id }),
      ...(method !== 'GET' && { origin: served.origin, 'content-type': 'application/json' }),
    },
    ...(method !== 'GET' && method !== 'DELETE' && { body: '{}' }),
  });
  return { status: answer.status, text: await answer.text() };
}

it('the list of permissions is that of the schema, and has a role and a permission for everything that is asked for', async () => {
  const rows = await service.world.database.sql<{ name: string; permissions: string[]; operates: boolean }[]>`select name, permissions, operates from roles`;
  expect(Object.fromEntries(rows.map(({ name, permissions, operates }) => [name, operates ? [] : permissions.toSorted()]))).toEqual(
    Object.fromEntries(Object.entries(ROLES).map(([name, permissions]) => [name, permissions.toSorted()])),
  );
  expect(Object.keys(PAGES)).toEqual(GATEWAY_SCREENS.map(({ path }) => path));
  for (const { operationId, permission, method } of operations)
    if (method === 'GET') expect([operationId, ROLES.owner?.includes(permission)]).toEqual([operationId, true]);
});

describe.each(Object.keys(ROLES))('%s', (role) => {
  const may = (permission: string) => ROLES[role]?.includes(permission) === true;
  let session: string;
  beforeAll(async () => {
    session = await member(role);
  });

  it.each(operations.filter(({ method }) => method === 'GET').map((one) => [one.operationId, one] as const))(
    '%s is answered or refused by the list',
    async (_, { path, permission }) => {
      const { status, text } = await ask(filled(path, own), session);
      expect([status, text]).toEqual([OPERATES.includes(role) ? 404 : may(permission) ? 200 : 403, expect.any(String)]);
    },
  );

  it('changes nothing by a session, whatever the role', async () => {
    for (const { method, path, operationId } of operations.filter(({ method }) => method !== 'GET'))
      expect([operationId, [404, 405]]).toEqual([operationId, expect.arrayContaining([(await ask(filled(path, own), session, { method })).status])]);
  });

  it.each(Object.entries(PAGES))('the page %s is shown or refused by the list', async (path, permission) => {
    const id = path.startsWith('/cashouts') ? own.settlementId : path.startsWith('/statements') ? new Date().toISOString().slice(0, 7) : own.paymentId;
    const { status } = await ask(path.replace('{id}', id ?? ''), session, { api: false });
    expect(status).toBe(OPERATES.includes(role) ? 404 : !may(permission) ? 403 : path === '/search' ? 303 : 200);
  });
});

describe('what belongs to another gateway', () => {
  const withIds = operations.filter(({ method, path }) => method === 'GET' && /\{\w+Id\}/.test(path));
  /** Filters that name something. */
  const named = [
    ['/webhooks?payment=', 'paymentId'],
    ['/credits?payment=', 'paymentId'],
    ['/ledger?payment=', 'paymentId'],
    ['/payments?q=', 'paymentId'],
  ] as const;
  const same = (text: string) => text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id');

  it.each(withIds.map((one) => [one.operationId, one] as const))('answers %s with the bytes of what there is none of', async (operationId, { path }) => {
    const session = await member('owner');
    const [theirs, none] = [await ask(filled(path, foreign), session), await ask(filled(path, {}), session)];
    expect([operationId, theirs]).toEqual([operationId, none]);
    expect(theirs.status).toBe(404);
  });

  it.each(named)('is not found by %s', async (path, name) => {
    const session = await member('owner');
    const [theirs, none] = [await ask(`${path}${foreign[name]}`, session), await ask(`${path}${randomUUID()}`, session)];
    expect({ ...theirs, text: same(theirs.text) }).toEqual({ ...none, text: same(none.text) });
  });

  it.each([
    ['/payments/{id}', 'paymentId'],
    ['/cashouts/{id}', 'settlementId'],
  ] as const)('is no page at %s', async (path, name) => {
    const session = await member('owner');
    const page = async (id: string) => {
      const { status, text } = await ask(path.replace('{id}', id), session, { api: false });
      return { status, text: same(text) };
    };
    const theirs = await page(foreign[name] as string);
    expect(theirs).toEqual(await page(randomUUID()));
    expect(theirs.status).toBe(404);
  });
});
