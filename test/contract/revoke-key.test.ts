import { expect, it } from 'vitest';
import { createKey } from '#api/gateways/manage-keys.ts';
import { findGateway } from '#api/store/gateways.ts';
import type { Gateway } from '#api/deps.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { describeOperation } from './describe-operation.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const idOf = (apiKey: unknown): string => String(apiKey).split('_')[1] ?? '';

describeOperation('revokeKey', {
  200: ({ anotherShop, example, send, service, shop }) => {
    it('stops the key at once, is the same when it is asked for again, and leaves one line in the audit log', async () => {
      const made = await shop.call('POST', '/keys', { body: { name: 'Till', permissions: ['payment:read'] } });
      const headers = { 'x-api-key': String(made.data.apiKey) };
      expect((await shop.call('GET', '/assets', { headers })).status).toBe(200);
      const params = { keyId: idOf(made.data.apiKey) };
      const [first, again] = [await send({ params }), await send({ params })];
      expect([first.status, first.data]).toMatchObject([200, { keyId: params.keyId, revokedAt: expect.any(String) }]);
      expect((again.data as { revokedAt: string }).revokedAt).toBe((first.data as { revokedAt: string }).revokedAt);
      expect((await shop.call('GET', '/assets', { headers })).status).toBe(401);
      const lines = await service.world.database.sql`
        select person, token, target from operator_actions where action = 'api-key.revoke' and details->>'keyId' = ${params.keyId}`;
      expect(lines).toEqual([{ person: `api key ${idOf(shop.apiKey)}`, token: 'api-key', target: shop.id }]);
    });

    it('lets a key revoke itself, and is then unknown', async () => {
      const own = await anotherShop();
      const params = { keyId: idOf(own.apiKey) };
      expect((await send({ from: own, params })).status).toBe(200);
      expect((await send({ from: own, params })).status).toBe(401);
    });

    it('makes nothing for a key that was revoked between its request and the work', async () => {
      const own = await anotherShop();
      const keyId = idOf(own.apiKey);
      const gateway = (await findGateway(service.deps.db.sql, own.id)) as Gateway;
      await service.ask('DELETE', `/operator/v1/gateways/${own.id}/api-keys/${keyId}`, { headers: OPERATOR });
      const key = { keyId, permissions: ['key:manage', 'payment:read'], allowlist: null, expiresAt: null };
      const late = createKey(service.deps, {
        gateway,
        by: { key, clientIp: '127.0.0.1', requestId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44' },
        body: { name: 'Late', permissions: ['payment:read'] },
        commit: (work) => service.deps.db.transaction(work),
      });
      await expect(late).rejects.toMatchObject({ code: 'auth_api_key_invalid' });
      expect(await service.world.database.sql`select 1 from api_keys where gateway_id = ${own.id} and created_by is not null`).toEqual([]);
    });

    it('revokes nothing of another gateway', async () => {
      const other = await anotherShop();
      const theirs = await example(other);
      expect((await send(theirs)).status).toBe(404);
      expect(await service.world.database.sql`select revoked_at from api_keys where id = ${theirs.params?.keyId ?? ''}`).toEqual([{ revokedAt: null }]);
    });
  },
});
