import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { withoutNodes } from '#shared/platform/without-nodes.ts';
import { aMember, aConsoleStage, type ConsoleStage } from '#test/harness/console-stage.ts';
import { startApi } from '#test/harness/deployables.ts';
import { aWorld, type World } from '#test/harness/world.ts';

describe('a console process', () => {
  let world: World;
  beforeAll(async () => {
    world = await aWorld();
  });
  afterAll(() => world?.stop());

  it('serves its pages with no secret but the key that it is known by, and signs in by the http role, without which it goes on reading', async () => {
    const [port, internal] = [await freePort(), await freePort()];
    const shared = { SLUICE_CONSOLE_URL: `http://localhost:${port}`, SLUICE_INTERNAL_KEY: randomBytes(32).toString('hex') };
    // The key is being changed: the console still comes with the one before.
    const changing = { SLUICE_INTERNAL_KEY: randomBytes(32).toString('hex'), SLUICE_INTERNAL_KEY_PREVIOUS: shared.SLUICE_INTERNAL_KEY };
    const { DATABASE_URL, REDIS_URL, SLUICE_NETWORKS } = world.environment;
    const { networks } = JSON.parse(await readFile(SLUICE_NETWORKS as string, 'utf8')) as { networks: NetworkConfig[] };
    const own = join(await mkdtemp(join(inject('services').directory, 'console-')), 'networks.json');
    await writeFile(own, JSON.stringify({ networks: networks.map(withoutNodes) }));
    const api = await world.startApi({ env: { ...shared, ...changing, SLUICE_INTERNAL_PORT: String(internal) } });
    const console = await startApi({
      NODE_ENV: 'test',
      DATABASE_URL,
      REDIS_URL,
      SLUICE_NETWORKS: own,
      SLUICE_ROLES: 'console',
      SLUICE_CONSOLE_PORT: String(port),
      SLUICE_INTERNAL_URL: `http://127.0.0.1:${internal}`,
      ...shared,
    });
    try {
      expect((await fetch(`${shared.SLUICE_CONSOLE_URL}/sign-in`)).status).toBe(200);
      const options = () => fetch(`${shared.SLUICE_CONSOLE_URL}/sign-in/options`, { method: 'POST', headers: { origin: shared.SLUICE_CONSOLE_URL } });
      const asked = await options();
      expect([asked.status, await asked.json()]).toMatchObject([200, { challenge: expect.any(String), rpId: 'localhost' }]);
      expect(await world.database.sql`select 1 from passkey_challenges where purpose = 'sign-in'`).toHaveLength(1);
      // Pages that only read go on while nobody says who somebody is.
      await api.stop();
      expect([(await options()).status, (await fetch(`${shared.SLUICE_CONSOLE_URL}/sign-in`)).status]).toEqual([503, 200]);
      expect(await waitFor(async () => (await fetch(`${console.opsUrl}/readyz`)).status === 200, { what: 'the console to stay ready' })).toBe(true);
    } finally {
      await console.stop();
    }
  });
});

describe('a thief in the console process', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await aConsoleStage();
  });
  afterAll(() => stage?.stop());

  it.each([
    [
      `insert into invitations (id, token_hash, email, role, expires_at) values (gen_random_uuid(), repeat('a', 64), 'e@example.com', 'operator', now() + interval '1 day')`,
    ],
    [`insert into people (id, email) values (gen_random_uuid(), 'e@example.com')`],
    [`insert into memberships (id, person_id, role) select gen_random_uuid(), id, 'operator' from people`],
    [`update memberships set role = 'owner'`],
    [`update memberships set ended_at = null`],
    [`insert into passkeys (id, person_id, public_key, counter, transports) select repeat('x', 20), id, 'k', 0, '{}' from people`],
    ['update passkeys set removed_at = null'],
    ['update passkeys set counter = 0'],
    [`insert into passkey_challenges (hash, purpose, subject, expires_at) values (repeat('a', 64), 'act', 's', now() + interval '1 hour')`],
    ['select hash from passkey_challenges'],
    [`insert into sessions (id, token_hash, person_id, address, browser) select gen_random_uuid(), repeat('a', 64), id, 'a', 'b' from people`],
    ['update sessions set ended_at = null'],
    ['update sessions set created_at = now()'],
    [`update sessions set token_hash = repeat('a', 64)`],
    [`insert into console_actions (actor_kind, actor, act, target) values ('service', 'x', 'a.b', 'c')`],
    [`update roles set permissions = '{}'`],
    ['select sealed from gateway_secrets'],
    ['select secret_hash from api_keys'],
    ['select intent_mac from settlements'],
    [`update gateways set settings = '{}'`],
    [`insert into outbox (id) values (gen_random_uuid())`],
    ['delete from code_guards'],
    ['update code_guards set failures = 0'],
    ['delete from person_notices'],
  ])('may not %s', async (statement) => {
    await expect(stage.database.as('console').sql.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
  });

  it('removes neither a passkey nor an authenticator by a session that it sees', async () => {
    const cookie = await aMember(stage.database, { email: 'ben@example.com', gatewayId: stage.gatewayId, role: 'owner' });
    const held = { cookie, address: '127.0.0.1' };
    for (const proof of ['', '{}', '000000']) {
      await expect(stage.desk.removePasskey({ ...held, id: 'A'.repeat(24), proof }), proof).rejects.toMatchObject({ code: 'forbidden' });
      await expect(stage.desk.removeAuthenticator({ ...held, proof }), proof).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('adds no passkey by a session that it sees, and is nobody without the key', async () => {
    const cookie = await aMember(stage.database, { email: 'anna@example.com', gatewayId: stage.gatewayId, role: 'owner' });
    const address = '127.0.0.1';
    const credential = JSON.stringify({ id: 'A'.repeat(24) });
    for (const proof of ['', '{}', credential])
      await expect(stage.desk.addPasskey({ cookie, address, credential, proof }), proof).rejects.toMatchObject({ code: 'forbidden' });
    expect(await stage.database.sql`select 1 from passkeys`).toHaveLength(0);
    for (const authorization of [undefined, 'Bearer ', 'Bearer wrong', `Basic ${stage.internal.key}`, stage.internal.key])
      expect(await ask(stage, 'signInOptions', LOCAL, authorization), authorization).toMatchObject({ status: 401 });
    expect(await stage.database.sql`select 1 from passkey_challenges where purpose = 'sign-in'`).toHaveLength(0);
  });

  it.each([
    ['nothing', '{}', 'signIn', 422],
    ['no address', '{}', 'signInOptions', 422],
    ['no object', '[]', 'signOut', 422],
    ['no JSON', 'x', 'signOut', 400],
    ['a field too many', '{"token":"a","more":1}', 'invitationOptions', 422],
    ['another type', '{"token":{"a":1}}', 'invitationOptions', 422],
    ['a call that there is none of', '{}', 'becomeAnybody', 404],
    ['what every object has', '{}', 'constructor', 404],
    ['a cookie that is nobody’s', '{"cookie":"x","address":"127.0.0.1"}', 'signOut', 403],
    ['an address that is none', '{"cookie":"x","address":"127.0.0.1\\nBcc: e@example.com"}', 'signOut', 422],
    [
      'an id that no table holds',
      JSON.stringify({ credential: '{"id":"\\u0000"}', visitor: { address: '127.0.0.1', browser: 'b' }, cookie: null }),
      'signIn',
      403,
    ],
  ])('is told what is wrong with %s, and breaks nothing', async (_what, body, call, status) => {
    expect(await ask(stage, call, body, `Bearer ${stage.internal.key}`)).toMatchObject({ status });
  });
});

describe('a console that hammers', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    // Six calls for an address, and 150 for all of them.
    stage = await aConsoleStage({ scale: '0.05' });
  });
  afterAll(() => stage?.stop());

  it('is held up for the address that it names, and for all of them together once it names many', async () => {
    const call = (address: string) => ask(stage, 'signInOptions', JSON.stringify({ address }), `Bearer ${stage.internal.key}`).then(({ status }) => status);
    // At once: tokens come back while one after another is asked, and whoever is last may get one.
    const one = await Promise.all(Array.from({ length: 7 }, () => call('198.51.100.1')));
    expect(one.toSorted()).toEqual([...Array(6).fill(200), 429]);
    expect(await call('198.51.100.2')).toBe(200);
    const many = await Promise.all(Array.from({ length: 250 }, (_, host) => call(`203.0.113.${host + 1}`)));
    const passed = many.filter((status) => status === 200);
    expect(passed.length).toBeGreaterThan(100);
    expect(passed.length).toBeLessThan(250);
    expect(many.filter((status) => status === 429)).toHaveLength(250 - passed.length);
    const rows = await stage.database.sql`select 1 from passkey_challenges`;
    expect(rows).toHaveLength(6 + 1 + passed.length);
  });
});

const LOCAL = JSON.stringify({ address: '127.0.0.1' });

/** What the internal listener answers. */
function ask({ internal: { url } }: ConsoleStage, call: string, body: string, authorization: string | undefined): Promise<{ status: number | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
    const asked = request(`${url}/internal/v1/people/${call}`, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode }));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
