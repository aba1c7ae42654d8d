import { expect, it } from 'vitest';
import { POLICY } from '#shared/core/policy.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { describeOperation } from './describe-operation.ts';
import type { Service, Shop } from './service.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const TILL = { name: 'Till', permissions: ['payment:create'] };
const idOf = (apiKey: unknown): string => String(apiKey).split('_')[1] ?? '';

/** A key as an operator makes one. */
async function byOperator(service: Service, shop: Shop, body: Record<string, unknown>): Promise<string> {
  const made = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, { headers: OPERATOR, body });
  expect(made.status, made.text).toBe(201);
  return String(made.data.apiKey);
}

describeOperation('createKey', {
  201: ({ anotherShop, send, service, shop }) => {
    it('makes a key that does what it may, shows its text once, and stores no text', async () => {
      const { status, data } = await send({ body: { name: 'Reader', permissions: ['payment:read'] } });
      expect([status, data.key]).toMatchObject([201, { name: 'Reader', createdBy: idOf(shop.apiKey), allowlist: null, expiresAt: null }]);
      const headers = { 'x-api-key': String(data.apiKey) };
      expect((await shop.call('GET', '/assets', { headers })).status).toBe(200);
      expect((await shop.call('POST', '/payments', { headers, body: {} })).error.code).toBe('forbidden');
      const secret = String(data.apiKey).split('_')[2] as string;
      const [row] = await service.world.database.sql`select row_to_json(k)::text as text from api_keys k where id = ${idOf(data.apiKey)}`;
      expect(row?.text).not.toContain(secret);
    });

    it('leaves a line in the audit log that says which key made it, from where, and by which request', async () => {
      const answer = await send({ body: TILL });
      const [line] = await service.world.database.sql`
        select person, client_ip, token, target, details from operator_actions where action = 'api-key.create' and request_id = ${answer.headers.get('x-request-id')}`;
      expect(line).toMatchObject({
        person: `api key ${idOf(shop.apiKey)}`,
        clientIp: '127.0.0.1',
        token: 'api-key',
        target: shop.id,
        details: { keyId: idOf(answer.data.apiKey), permissions: ['payment:create'] },
      });
      expect(JSON.stringify(line)).not.toContain(String(answer.data.apiKey).slice(-60));
    });

    it('gives an end, after which the key is answered byte for byte like an unknown one', async () => {
      const [{ now }] = (await service.world.database.sql`select sluice_now() as now`) as unknown as [{ now: Date }];
      const { data } = await send({ body: { ...TILL, permissions: ['payment:read'], expiresAt: new Date(now.getTime() + 3_600_000).toISOString() } });
      const ask = (key: string): Promise<Answer> => shop.call('GET', '/assets', { headers: { 'x-api-key': key } });
      expect((await ask(String(data.apiKey))).status).toBe(200);
      await service.world.advance(3_601);
      const [ended, unknown] = [await ask(String(data.apiKey)), await ask(`sluice_${'0'.repeat(16)}_${'0'.repeat(64)}`)];
      expect([ended.status, ended.text]).toEqual([401, unknown.text]);
    });

    it('gives addresses; from elsewhere a genuine key is 403 and names the address, and its use is not noted', async () => {
      const owner = await anotherShop();
      const made = await send({
        from: owner,
        body: { ...TILL, permissions: ['payment:read', 'settlement:read'], allowlist: ['203.0.113.0/24', '2001:db8::/32'] },
      });
      const elsewhere = String(made.data.apiKey);
      for (const answer of [
        await owner.call('GET', '/assets', { headers: { 'x-api-key': elsewhere } }),
        await owner.signed('GET', '/merchant/settlements/balances', { headers: { 'x-api-key': elsewhere } }),
      ]) {
        expect([answer.status, answer.error.code]).toEqual([403, 'forbidden']);
        expect(answer.error.message).toContain('127.0.0.1');
      }
      const here = String((await send({ from: owner, body: { ...TILL, permissions: ['payment:read'], allowlist: ['127.0.0.0/8'] } })).data.apiKey);
      expect((await owner.call('GET', '/assets', { headers: { 'x-api-key': here } })).status).toBe(200);
      await expect.poll(() => service.world.database.sql`select 1 from api_keys where id = ${idOf(here)} and last_used_at is not null`).toHaveLength(1);
      expect(await service.world.database.sql`select last_used_at from api_keys where id = ${idOf(elsewhere)}`).toEqual([{ lastUsedAt: null }]);
    });

    it('ends with the last moment that dates can name, however late it is to end', async () => {
      const { status, data } = await send({ body: { ...TILL, expiresAt: '9999-12-31T23:59:59-12:00' } });
      expect([status, data.key]).toMatchObject([201, { expiresAt: '9999-12-31T23:59:59.000Z' }]);
    });

    it('is as narrow as the calling key where it says nothing', async () => {
      const owner = await anotherShop();
      const narrow = await byOperator(service, owner, {
        permissions: ['key:manage', 'payment:create'],
        expiresAt: '2099-01-01T00:00:00Z',
        allowlist: ['127.0.0.0/8'],
      });
      const { data } = await send({ from: owner, headers: { 'x-api-key': narrow }, body: TILL });
      expect(data.key).toMatchObject({ expiresAt: '2099-01-01T00:00:00.000Z', allowlist: ['127.0.0.0/8'], permissions: ['payment:create'] });
    });
  },
  403: ({ anotherShop, send, service }) => {
    it('never makes a key that may do more than the calling one: no other permission, no later end, no other address', async () => {
      const owner = await anotherShop();
      const narrow = await byOperator(service, owner, {
        permissions: ['key:manage', 'payment:create'],
        expiresAt: '2099-01-01T00:00:00Z',
        allowlist: ['127.0.0.0/8'],
      });
      const wider: [Record<string, unknown>, string][] = [
        [{ permissions: ['payment:create', 'settlement:create'] }, 'settlement:create'],
        [{ expiresAt: null }, '2099-01-01'],
        [{ expiresAt: '2099-01-01T00:00:00.001Z' }, '2099-01-01'],
        [{ allowlist: null }, 'allowlist'],
        [{ allowlist: ['127.0.0.1', '203.0.113.7'] }, 'allowlist'],
        [{ allowlist: ['126.0.0.0/7'] }, 'allowlist'],
        [{ allowlist: ['::/0'] }, 'allowlist'],
      ];
      for (const [body, said] of wider) {
        const answer = await send({ from: owner, headers: { 'x-api-key': narrow }, body: { ...TILL, ...body } });
        expect([body, answer.status, answer.error?.code]).toEqual([body, 403, 'forbidden']);
        expect(answer.error.message).toContain(said);
      }
      const narrower = { expiresAt: '2098-12-31T23:59:59Z', allowlist: ['127.0.0.1', '::ffff:127.0.0.2'] };
      expect((await send({ from: owner, headers: { 'x-api-key': narrow }, body: { ...TILL, ...narrower } })).status).toBe(201);
    });
  },
  409: ({ anotherShop, send, service }) => {
    it('has an end: a gateway makes only so many a day, also of many at once and of ones that it revokes, and keeps nobody else from making one', async () => {
      const [greedy, other] = [await anotherShop(), await anotherShop()];
      // All but three of what it may have.
      await service.world.database.sql`
        insert into api_keys (id, gateway_id, secret_hash, permissions, revoked_at)
        select 'made-up-' || n, ${greedy.id}, '\\x00', '{}', now() from generate_series(1, ${POLICY.apiKeysPerGateway - 5}) n`;
      const answers = await Promise.all(Array.from({ length: 8 }, () => send({ from: greedy, body: TILL })));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused.map(({ status, error }) => [status, error.code])).toEqual(refused.map(() => [409, 'conflict']));
      expect((await send({ from: other, body: TILL })).status).toBe(201);
      // Yesterday's that do not work any more are not counted.
      await service.world.database.sql`update api_keys set created_at = now() - interval '25 hours' where gateway_id = ${greedy.id} and id like 'made-up-%'`;
      expect((await send({ from: greedy, body: TILL })).status).toBe(201);
    });
  },
  422: ({ send }) => {
    it('names what is missing or malformed', async () => {
      const wrong: [Record<string, unknown>, string][] = [
        [{ name: undefined }, 'name'],
        [{ name: '   ' }, 'name'],
        [{ name: 'x'.repeat(101) }, 'name'],
        [{ name: 'two\nlines' }, 'name'],
        [{ name: 'turned \u202e around' }, 'name'],
        [{ name: 'nothing \u0000' }, 'name'],
        [{ permissions: undefined }, 'permissions'],
        [{ permissions: [] }, 'permissions'],
        [{ permissions: ['payment:destroy'] }, 'permissions[0]'],
        [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
        [{ expiresAt: 'tomorrow' }, 'expiresAt'],
        [{ expiresAt: '2099-12-31T23:59:60Z' }, 'expiresAt'],
        [{ allowlist: [] }, 'allowlist'],
        [{ allowlist: ['127.0.0.1', 'localhost'] }, 'allowlist[1]'],
        [{ allowlist: ['127.0.0.1/33'] }, 'allowlist[0]'],
        [{ allowlist: Array.from({ length: 51 }, () => '127.0.0.1') }, 'allowlist'],
      ];
      for (const [body, field] of wrong) {
        const { status, error } = await send({ body: { ...TILL, ...body } });
        expect([body, status, error?.code, error?.message.split(': ')[0]]).toEqual([body, 422, 'validation_error', field]);
      }
    });
  },
});
