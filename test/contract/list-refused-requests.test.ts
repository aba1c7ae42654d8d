import { beforeAll, afterAll, expect, it } from 'vitest';
import { noteRefusal } from '#api/gateways/refusals.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { describeOperation } from './describe-operation.ts';
import { callerOf, type Listening, listen, type Shop } from './service.ts';

interface Row {
  hour: string;
  operation: string;
  reason: string | null;
  address: string | null;
  count: number;
  lastAt: string;
}

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

describeOperation('listRefusedRequests', {
  200: ({ anotherShop, send, service }) => {
    /** The same service behind a proxy, which says where a request came from. */
    let proxied: Listening;
    beforeAll(async () => {
      proxied = await listen({ ...service.deps, config: { ...service.deps.config, SLUICE_TRUSTED_PROXIES: ['127.0.0.1', '::1'] } });
    });
    afterAll(() => proxied.close());
    const rowsOf = async (from: Shop, query = '?limit=100'): Promise<Row[]> => (await send({ from, query })).data.items as Row[];
    /** What was refused how often, together in all hours: one may end in the middle of a test. */
    const brief = (rows: Row[]): unknown[] => {
      const counts = new Map<string, number>();
      for (const { operation, reason, address, count } of rows) {
        const alike = JSON.stringify([operation, reason, address]);
        counts.set(alike, (counts.get(alike) ?? 0) + count);
      }
      return [...counts].map(([alike, count]) => [...JSON.parse(alike), count]).sort();
    };
    const total = async (from: Shop): Promise<number> => (await rowsOf(from)).reduce((sum, { count }) => sum + count, 0);

    it('shows what each rule of the gateway refused, from where and how often, and nothing of what was let in', async () => {
      const shop = await anotherShop();
      const own = { 'x-forwarded-for': '127.0.0.1' };
      const away = { 'x-forwarded-for': '203.0.113.9' };
      const { signed } = callerOf(proxied.ask, shop);
      const made = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, {
        headers: OPERATOR,
        body: { permissions: ['payment:read'], allowlist: ['127.0.0.1'] },
      });
      const narrow = { 'x-api-key': String(made.data.apiKey) };
      const ask = (method: string, path: string, headers: Record<string, string>, body?: object) =>
        proxied.ask(method, `/api/v1${path}`, { headers: { 'x-api-key': shop.apiKey, ...headers }, ...(body === undefined ? {} : { body }) });
      const { paymentUid } = await shop.payment();

      expect((await ask('GET', '/assets', { ...away, ...narrow })).status).toBe(403);
      expect((await ask('GET', '/assets', { ...own, ...narrow })).status).toBe(200);
      expect((await ask('POST', '/payments', { ...own, ...narrow }, {})).status).toBe(403);
      for (let times = 0; times < 3; times++) expect((await proxied.ask('GET', `/api/v1/public/payments/${paymentUid}`, { headers: away })).status).toBe(403);
      const api = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
      expect((await ask('POST', '/payments', away, api)).status).toBe(403);
      expect((await signed('GET', '/merchant/settlements/balances', { headers: away })).error.code).toBe('ip_not_allowed');
      expect((await signed('GET', '/merchant/settlements/balances', { headers: own, secret: 'wrong' })).error.code).toBe('signature_invalid');
      expect((await signed('GET', '/merchant/settlements/balances', { headers: { ...own, 'x-signature': '' } })).error.code).toBe('signature_missing');
      expect((await signed('GET', '/merchant/settlements/balances', { headers: own })).status).toBe(200);
      expect((await ask('POST', '/payments', own, { amount: '10' })).status).toBe(422);

      await expect.poll(() => total(shop)).toBe(9);
      expect(brief(await rowsOf(shop))).toEqual([
        ['createPayment', 'API_ALLOWLIST', '203.0.113.9', 1],
        ['createPayment', 'PERMISSION', '127.0.0.1', 1],
        ['getPublicPayment', 'API_ALLOWLIST', '203.0.113.9', 3],
        ['listAssets', 'KEY_ALLOWLIST', '203.0.113.9', 1],
        ['listBalances', 'CASHOUT_ALLOWLIST', '203.0.113.9', 1],
        ['listBalances', 'SIGNATURE', '127.0.0.1', 2],
      ]);
    });

    it('keeps so many rows an hour of an operation under any flood of addresses, counts the rest, and lets it displace no other operation’s', async () => {
      const shop = await anotherShop();
      const refused = (operation: string, address: string): void =>
        noteRefusal(service.deps, new ServiceError('forbidden', { refusal: { gatewayId: shop.id, reason: 'API_ALLOWLIST' } }), {
          operation,
          clientIp: address,
        });
      for (let wave = 0; wave < 3; wave++) {
        for (let n = 0; n < 500; n++) refused('getPublicPayment', `2001:db8::${wave}:${n}`);
        await expect.poll(() => total(shop)).toBe((wave + 1) * 500);
      }
      refused('createPayment', '198.51.100.1');
      await expect.poll(() => total(shop)).toBe(1_501);
      const rows = await rowsOf(shop);
      const flood = rows.filter(({ operation }) => operation === 'getPublicPayment');
      // The hour may have ended in the middle of it.
      const hours = new Set(flood.map(({ hour }) => hour)).size;
      expect(flood.length).toBeLessThanOrEqual(hours * (POLICY.refusedRowsPerHour + 1));
      expect(flood.filter(({ address }) => address === null)).toHaveLength(hours);
      expect(brief(rows.filter(({ operation }) => operation !== 'getPublicPayment'))).toEqual([['createPayment', 'API_ALLOWLIST', '198.51.100.1', 1]]);
    });

    it('writes a flood as a few sums, not request by request', async () => {
      const shop = await anotherShop();
      let writes = 0;
      const counting = {
        ...service.deps.db,
        transaction: ((work) => {
          writes += 1;
          return service.deps.db.transaction(work);
        }) as typeof service.deps.db.transaction,
      };
      const error = new ServiceError('forbidden', { refusal: { gatewayId: shop.id, reason: 'API_ALLOWLIST' } });
      for (let n = 0; n < 10_000; n++)
        noteRefusal({ ...service.deps, db: counting }, error, { operation: 'getPublicPayment', clientIp: `198.51.100.${n % 250}` });
      await expect.poll(() => total(shop)).toBe(10_000);
      expect(writes).toBeLessThanOrEqual(2);
    });

    it('goes on behind the last row of a page, and shows nothing of another gateway under its cursor', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      await service.world.database.sql`
        insert into refused_requests select ${shop.id}::uuid, date_trunc('hour', now()) - make_interval(hours => n), 'listAssets', 'PERMISSION', '192.0.2.1', n, now() from generate_series(1, 5) n`;
      const first = await send({ from: shop, query: '?limit=3' });
      expect((first.data.items as Row[]).map(({ count }) => count)).toEqual([1, 2, 3]);
      const { nextCursor } = first.data.pagination as { nextCursor: string };
      expect((await rowsOf(shop, `?limit=3&after=${nextCursor}`)).map(({ count }) => count)).toEqual([4, 5]);
      expect(await rowsOf(other, `?after=${nextCursor}`)).toEqual([]);
    });

    it('forgets what is older than seven days', async () => {
      const shop = await anotherShop();
      await service.world.database.sql`
        insert into refused_requests select ${shop.id}::uuid, date_trunc('hour', now()) - make_interval(hours => n), 'listAssets', 'PERMISSION', '192.0.2.1', n, now() from unnest(array[166, 169]) n`;
      expect((await rowsOf(shop)).map(({ count }) => count)).toEqual([166]);
      expect(await periodicWork['forget-refusals'].run(service.worker)).toBe(1);
      expect(await service.world.database.sql`select count from refused_requests where gateway_id = ${shop.id}`).toEqual([{ count: 166 }]);
    });
  },
  422: ({ send }) => {
    it('refuses a limit below 1 and a cursor that it never gave', async () => {
      const cursors = [
        'x',
        Buffer.from('1|a|b').toString('base64url'),
        Buffer.from('1|a|b|c|d').toString('base64url'),
        Buffer.from('a|b|c|d').toString('base64url'),
        Buffer.from('999999999999999|a|b|c').toString('base64url'),
      ];
      for (const cursor of cursors) expect((await send({ query: `?after=${cursor}` })).error.message).toMatch(/^after: /);
      expect((await send({ query: '?limit=0' })).error.message).toMatch(/^limit: /);
    });
  },
});
