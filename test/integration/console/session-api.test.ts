import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMember, serveConsole } from '#test/harness/console-stage.ts';

const ROLES = ['owner', 'finance', 'approver', 'developer', 'support', 'cashier'] as const;

interface Described {
  operationId: string;
  security?: Record<string, string[]>[];
}

const { paths } = parse(readFileSync('api/contract/openapi.yaml', 'utf8')) as { paths: Record<string, Record<string, Described>> };
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method, { security }]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method) && security?.length !== 0)
    .map(([method, { operationId, security }]) => ({
      method: method.toUpperCase(),
      path,
      operationId,
      permission: Object.values(security?.[0] ?? {})[0]?.[0],
    })),
);
const reads = operations.filter(({ method }) => method === 'GET');

let service: Service;
let shop: Shop;
let stranger: Shop;
let served: Awaited<ReturnType<typeof serveConsole>>;
let paymentId: string;
let foreignPaymentId: string;

beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  stranger = await service.aShop();
  served = await serveConsole(service.deps, service.world.database);
  paymentId = (await shop.payment()).paymentUid;
  foreignPaymentId = (await stranger.payment()).paymentUid;
});
afterAll(async () => {
  await served?.stop();
  await service?.stop();
});

const member = (role: string, gatewayId: string | null = shop.id) =>
  aMember(service.world.database, { email: `${role}-${randomUUID()}@example.com`, gatewayId, role });

async function ask(path: string, session: string, { gateway = shop.id as string | null, method = 'GET', headers = {} as Record<string, string> } = {}) {
  const answer = await fetch(`${served.origin}/api/v1${path}`, {
    method,
    headers: { cookie: `__Host-sluice=${session}`, ...(gateway !== null && { 'x-gateway': gateway }), ...headers },
  });
  const text = await answer.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as { success: boolean; data?: object; error?: { code: string; message: string } }) : undefined;
  return { status: answer.status, text, body };
}
const filled = (path: string, id = paymentId) => path.replace(/\{\w+\}/g, id);

describe('what keys may read, by a session', () => {
  it('has an operation to read for each of these permissions', () => {
    expect(reads.length).toBeGreaterThan(8);
    expect(reads.every(({ permission }) => permission !== undefined)).toBe(true);
  });

  it.each(ROLES)('is answered to %s exactly where the role has the permission, as it is to a key', async (role) => {
    const session = await member(role);
    const [{ permissions }] = (await service.world.database.sql`select permissions from roles where name = ${role}`) as unknown as [{ permissions: string[] }];
    for (const { path, operationId, permission } of reads) {
      // An id of a payment is none of a cashout or a key: unknown to whoever may ask, and refused to whoever may not.
      const { status, body } = await ask(filled(path), session);
      if (!permissions.includes(permission ?? '')) {
        expect([operationId, status, body?.error?.code]).toEqual([operationId, 403, 'forbidden']);
        expect(body?.error?.message).toBe(`The role ${role} lacks the permission ${permission}.`);
      } else expect([operationId, status]).toEqual([operationId, path.includes('{') && !path.includes('paymentId') ? 404 : 200]);
    }
    if (!permissions.includes('payment:read')) return;
    const byKey = await shop.call('GET', `/payments/${paymentId}`);
    expect((await ask(`/payments/${paymentId}`, session)).body?.data).toEqual(byKey.data);
  });

  it('is all that a session may do there: whatever changes something is not served', async () => {
    const session = await member('owner');
    for (const { method, path, operationId } of operations.filter(({ method }) => method !== 'GET')) {
      const { status } = await ask(filled(path), session, {
        method,
        headers: { origin: served.origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      });
      expect([operationId, [404, 405].includes(status)]).toEqual([operationId, true]);
    }
  });

  it('answers the same bytes for another gateway as for none, and for its payments as for unknown ones', async () => {
    const session = await member('owner');
    const unknown = await ask(`/payments/${paymentId}`, session, { gateway: randomUUID() });
    expect(unknown.status).toBe(404);
    for (const gateway of [stranger.id, '', 'null', null]) {
      const { status, text } = await ask(`/payments/${paymentId}`, session, { gateway });
      expect([gateway, status, text]).toEqual([gateway, 404, unknown.text]);
    }
    expect((await ask(`/payments/${foreignPaymentId}`, session)).text).toBe((await ask(`/payments/${randomUUID()}`, session)).text);
    expect((await ask('/payments', await member('operator', null))).status).toBe(404);
  });

  it('needs a session that has not ended, and no key in its place', async () => {
    const session = await member('owner');
    expect((await ask('/payments', session)).status).toBe(200);
    await service.world.database.sql`update sessions set ended_at = sluice_now()`;
    for (const value of [session, '', 'P'.repeat(43)]) expect(await ask('/payments', value)).toMatchObject({ status: 401, body: { success: false } });
    expect((await ask('/payments', '', { headers: { 'x-api-key': shop.apiKey } })).status).toBe(401);
  });

  it('is refused to a page of another site', async () => {
    const session = await member('owner');
    for (const site of ['cross-site', 'same-site'])
      expect((await ask('/payments', session, { headers: { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' } })).status).toBe(403);
    expect((await ask('/payments', session, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
  });
});
