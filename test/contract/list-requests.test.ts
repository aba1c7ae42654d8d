import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { noteRequest } from '#api/gateways/requests.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { addRequests, type AnsweredRequest, findLastLookedRequest, listRequests } from '#api/store/requests.ts';
import { POLICY } from '#shared/core/policy.ts';
import { plansOfHttp, rowsRead } from '#test/harness/explained.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

interface Row {
  at: string;
  requestId: string;
  method: string;
  operation: string;
  status: number;
  code: string | null;
  durationMs: number;
  keyId: string;
  keyPrefix: string;
  address: string;
}

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

describeOperation('listRequests', {
  200: ({ anotherShop, send, service }) => {
    const rowsOf = async (from: Shop, query = '?limit=100'): Promise<Row[]> => (await send({ from, query })).data.items as Row[];
    /** Those beside the questions of this test itself. */
    const others = async (from: Shop): Promise<Row[]> => (await rowsOf(from)).filter(({ operation }) => operation !== 'listRequests');
    const aRequest = (gatewayId: string, over: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
      gatewayId,
      at: new Date(),
      requestId: randomUUID(),
      method: 'GET',
      operation: 'listAssets',
      status: 200,
      code: null,
      durationMs: 1,
      keyId: '0123456789abcdef',
      address: '192.0.2.1',
      ...over,
    });
    const add = (rows: AnsweredRequest[], most = 1_000) => service.deps.db.transaction((tx) => addRequests(tx, rows, most));

    it('shows every request with a key of the gateway and how it was answered, whatever its key may not do, and none with a key that is nobody’s', async () => {
      const shop = await anotherShop();
      const made = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, {
        headers: OPERATOR,
        body: { permissions: ['payment:read'], allowlist: ['203.0.113.9'] },
      });
      const narrow = { 'x-api-key': String(made.data.apiKey) };
      const answers = [
        await shop.call('GET', '/assets'),
        await shop.call('GET', `/payments/${randomUUID()}`),
        await shop.call('POST', '/payments', { body: { amount: 'x' } }),
        await shop.signed('GET', '/merchant/settlements/balances', { secret: 'wrong' }),
        await service.ask('GET', '/api/v1/assets', { headers: narrow }),
      ];
      await service.ask('GET', '/api/v1/assets', { headers: { 'x-api-key': `${shop.apiKey.slice(0, -1)}${shop.apiKey.endsWith('0') ? '1' : '0'}` } });
      await expect.poll(async () => (await others(shop)).length).toBe(answers.length);
      const rows = (await others(shop)).reverse();
      expect(rows.map(({ method, operation, status, code }) => [method, operation, status, code])).toEqual([
        ['GET', 'listAssets', 200, null],
        ['GET', 'getPayment', 404, 'not_found'],
        ['POST', 'createPayment', 422, 'validation_error'],
        ['GET', 'listBalances', 401, 'signature_invalid'],
        ['GET', 'listAssets', 403, 'forbidden'],
      ]);
      expect(rows.map(({ requestId }) => requestId)).toEqual(answers.map(({ headers }) => headers.get('x-request-id')));
      expect(new Set(rows.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
      expect(rows.map(({ keyPrefix }) => keyPrefix)).toEqual([...Array.from({ length: 4 }, () => shop.apiKey.slice(0, 23)), narrow['x-api-key'].slice(0, 23)]);
      for (const { at, durationMs } of rows) expect([Date.now() - Date.parse(at) < 60_000, durationMs >= 0]).toEqual([true, true]);
    });

    it('keeps nothing that a request carried: no body, no path, no query, no secret of its headers', async () => {
      const shop = await anotherShop();
      const canary = `canary${randomUUID().replaceAll('-', '')}`;
      await shop.call('GET', `/payments/${canary}?q=${canary}`, { headers: { 'user-agent': canary } });
      await shop.call('POST', '/payments', { body: { currencyCode: canary, amount: '1' } });
      await expect.poll(async () => (await others(shop)).length).toBe(2);
      const stored = JSON.stringify(await service.world.database.sql`select * from requests where gateway_id = ${shop.id}`);
      expect(stored).not.toContain(canary);
      expect(stored).not.toContain(shop.apiKey.slice(24));
    });

    it('lets no answer wait for it', async () => {
      const shop = await anotherShop();
      await service.world.database.transaction(async (tx) => {
        await tx`lock table requests in access exclusive mode`;
        expect((await shop.call('GET', '/assets')).status).toBe(200);
      });
      await expect.poll(async () => (await others(shop)).length).toBe(1);
    });

    it('keeps so many that failed and so many that did not, the newest, and no flood of one pushes out the other or another gateway’s', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const statuses = async (of: Shop): Promise<unknown> =>
        service.world.database.sql`select failed, count(*)::int as n from requests where gateway_id = ${of.id} group by 1 order by 1`;
      await add([...Array.from({ length: 3 }, () => aRequest(shop.id)), aRequest(other.id), aRequest(other.id, { status: 500, code: 'internal_error' })]);
      const newest = randomUUID();
      for (let wave = 0; wave < 3; wave++)
        await add([...Array.from({ length: 50 }, () => aRequest(shop.id, { status: 422 })), aRequest(shop.id, { status: 422, requestId: newest })], 10);
      expect(await statuses(shop)).toEqual([
        { failed: false, n: 3 },
        { failed: true, n: 10 },
      ]);
      expect(await statuses(other)).toEqual([
        { failed: false, n: 1 },
        { failed: true, n: 1 },
      ]);
    });

    it('writes a flood of one gateway as a few rows and at once, beside those of another', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      let writes = 0;
      const counting = {
        ...service.deps.db,
        transaction: ((work) => {
          writes += 1;
          return service.deps.db.transaction(work);
        }) as typeof service.deps.db.transaction,
      };
      for (let n = 0; n < 20_000; n++) noteRequest({ ...service.deps, db: counting }, aRequest(shop.id, { status: 401 }));
      noteRequest({ ...service.deps, db: counting }, aRequest(shop.id));
      noteRequest({ ...service.deps, db: counting }, aRequest(other.id));
      const count = async (of: Shop): Promise<number> => (await service.world.database.sql`select 1 from requests where gateway_id = ${of.id}`).length;
      await expect.poll(() => count(other)).toBe(1);
      expect(await count(shop)).toBeLessThanOrEqual(2 * POLICY.requestsNotedAtOnce + 1);
      expect(await count(shop)).toBeGreaterThan(1);
      expect(writes).toBeLessThanOrEqual(2);
    });

    it('narrows by class of status, operation and key, and goes on behind the last row, with nothing of another gateway under its cursor', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const start = Date.now();
      const ago = (seconds: number): Date => new Date(start - seconds * 1_000);
      await add([
        aRequest(shop.id, { at: ago(60) }),
        aRequest(shop.id, { at: ago(61), status: 404, code: 'not_found' }),
        aRequest(shop.id, { at: ago(62), status: 503, operation: 'getPayment' }),
        aRequest(shop.id, { at: ago(63), keyId: 'fedcba9876543210' }),
      ]);
      const seconds = async (query: string, from = shop): Promise<number[]> =>
        (await rowsOf(from, query)).map(({ at }) => (start - Date.parse(at)) / 1_000).filter((one) => one >= 60);
      expect(await seconds('?status=4xx')).toEqual([61]);
      expect(await seconds('?status=5xx')).toEqual([62]);
      expect(await seconds('?operation=getPayment')).toEqual([62]);
      expect(await seconds('?key=fedcba9876543210')).toEqual([63]);
      expect(await seconds('?key=fedcba9876543210&status=4xx')).toEqual([]);
      const first = await send({ from: shop, query: '?limit=1&key=0123456789abcdef' });
      const { nextCursor, hasMore } = first.data.pagination as { nextCursor: string; hasMore: boolean };
      expect([hasMore, await seconds(`?after=${nextCursor}&key=0123456789abcdef`)]).toEqual([true, [61, 62]]);
      expect(await seconds(`?after=${nextCursor}`, other)).toEqual([]);
    });

    it('reads a page by its key, looks through so many and no more, and says that others follow', async () => {
      const shop = await anotherShop();
      await service.world.database.sql`
        insert into requests (gateway_id, at, request_id, number, method, operation, status, duration_ms, key_id, address)
        select ${shop.id}, now() - make_interval(secs => n), gen_random_uuid(), n, 'GET', 'listAssets', 200, 1, '0123456789abcdef', '192.0.2.1' from generate_series(1, 300) n`;
      // Else the plan depends on whether Postgres looked at the table while it was small.
      await service.world.database.sql`analyze requests`;
      const page = { gatewayId: shop.id, days: POLICY.requestsKeptDays, statusClass: 5, operation: null, keyId: null, after: null, window: 100 };
      const nodes = await plansOfHttp(service.world.database, async (sql) => {
        expect(await listRequests(sql, { ...page, limit: 20 })).toEqual([]);
        const last = await findLastLookedRequest(sql, page);
        expect(last).toBeDefined();
        expect(await findLastLookedRequest(sql, { ...page, after: last ?? null, window: 1_000 })).toBeUndefined();
      });
      const own = nodes.filter((node) => node['Relation Name'] === 'requests');
      // Where all rows of a gateway are wanted, Postgres may go by a bitmap of the same index.
      expect(own.map((node) => node['Node Type'])).not.toContain('Seq Scan');
      expect(new Set(nodes.flatMap((node) => node['Index Name'] ?? []))).toEqual(new Set(['requests_pkey']));
      expect(rowsRead(own.slice(0, 1))).toBeLessThanOrEqual(100);
    });

    it('forgets what is older than seven days', async () => {
      const shop = await anotherShop();
      const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
      await add([aRequest(shop.id, { at: daysAgo(6.9) }), aRequest(shop.id, { at: daysAgo(7.1) })]);
      expect(await others(shop)).toHaveLength(1);
      expect(await periodicWork['forget-requests'].run(service.worker)).toBe(1);
      expect(await service.world.database.sql`select 1 from requests where gateway_id = ${shop.id} and operation = 'listAssets'`).toHaveLength(1);
    });
  },
  422: ({ send }) => {
    it('refuses a limit below 1, a filter that nothing can be, and a cursor that it never gave', async () => {
      for (const cursor of ['x', '1', '1|a', `1|${randomUUID()}|x`, `a|${randomUUID()}`, `${'9'.repeat(15)}|${randomUUID()}`])
        expect((await send({ query: `?after=${Buffer.from(cursor).toString('base64url')}` })).error.message).toMatch(/^after: /);
      for (const [name, value] of [
        ['limit', '0'],
        ['status', '3xx'],
        ['operation', "x'y"],
        ['key', 'sluice_'],
      ])
        expect((await send({ query: `?${name}=${value}` })).error.message).toMatch(new RegExp(`^${name}: `));
    });
  },
});
