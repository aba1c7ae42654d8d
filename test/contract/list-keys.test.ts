import { expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

interface Key {
  keyId: string;
  name: string | null;
  lastUsedAt: string | null;
  lastUsedFrom: string | null;
}

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const itemsOf = ({ data }: Answer): Key[] => data.items as Key[];
const idOf = (apiKey: string): string => apiKey.split('_')[1] ?? '';
const create = (shop: Shop, name: string): Promise<Answer> => shop.call('POST', '/keys', { body: { name, permissions: ['payment:read'] } });

describeOperation('listKeys', {
  200: ({ anotherShop, send, service }) => {
    const uses = async (shop: Shop, id: string): Promise<Key | undefined> => itemsOf(await send({ from: shop })).find(({ keyId }) => keyId === id);

    it('shows every key of the gateway, newest first, with all that tells it from another and nothing of its secret', async () => {
      const shop = await anotherShop();
      const made = await shop.call('POST', '/keys', {
        body: {
          name: ' Web shop ',
          permissions: ['payment:read', 'payment:create', 'payment:read'],
          expiresAt: '2099-01-01T00:00:00Z',
          allowlist: ['127.0.0.1', '::1'],
        },
      });
      const text = String(made.data.apiKey);
      const answer = await send({ from: shop });
      expect(itemsOf(answer)).toMatchObject([
        {
          keyId: idOf(text),
          name: 'Web shop',
          prefix: text.slice(0, 23),
          lastFour: text.slice(-4),
          permissions: ['payment:read', 'payment:create'],
          allowlist: ['127.0.0.1', '::1'],
          createdBy: idOf(shop.apiKey),
          expiresAt: '2099-01-01T00:00:00.000Z',
          lastUsedAt: null,
          lastUsedFrom: null,
          revokedAt: null,
        },
        { keyId: idOf(shop.apiKey), name: null, allowlist: null, expiresAt: null, createdBy: null },
        { name: null, createdBy: null },
      ]);
      expect(answer.text).not.toContain(text.slice(24, -4));
    });

    it('goes on behind the last key of a page, and neither skips nor repeats one while others are made', async () => {
      const shop = await anotherShop();
      for (const name of ['a', 'b', 'c']) await create(shop, name);
      const first = await send({ from: shop, query: '?limit=2' });
      expect(itemsOf(first).map(({ name }) => name)).toEqual(['c', 'b']);
      await create(shop, 'd');
      const second = await send({ from: shop, query: `?limit=2&after=${(first.data.pagination as { nextCursor: string }).nextCursor}` });
      expect(itemsOf(second).map(({ name }) => name)).toEqual(['a', null]);
      const third = await send({ from: shop, query: `?limit=2&after=${(second.data.pagination as { nextCursor: string }).nextCursor}` });
      expect([itemsOf(third).length, third.data.pagination]).toEqual([1, { limit: 2, hasMore: false, nextCursor: null }]);
    });

    it('tells when a key was used last and from where, with at most one write a minute', async () => {
      const shop = await anotherShop();
      const key = String((await create(shop, 'Till')).data.apiKey);
      const used = (): Promise<Answer> => shop.call('GET', '/assets', { headers: { 'x-api-key': key } });
      const written = async (): Promise<string> =>
        String((await service.world.database.sql`select xmin::text as xmin from api_keys where id = ${idOf(key)}`)[0]?.xmin);
      expect((await used()).status).toBe(200);
      await expect.poll(() => uses(shop, idOf(key))).toMatchObject({ lastUsedAt: expect.stringMatching(/:00\.000Z$/), lastUsedFrom: '127.0.0.1' });
      // As if it had been used in this minute, and in the next one, which may begin before all are answered: nothing is written within either.
      await service.world.database.sql`update api_keys set last_used_at = date_trunc('minute', now()) + interval '1 minute' where id = ${idOf(key)}`;
      const before = await written();
      for (let times = 0; times < 5; times++) expect((await used()).status).toBe(200);
      expect(await written()).toBe(before);
      await service.world.database.sql`update api_keys set last_used_at = now() - interval '61 seconds', last_used_from = null where id = ${idOf(key)}`;
      expect((await used()).status).toBe(200);
      await expect.poll(() => uses(shop, idOf(key))).toMatchObject({ lastUsedFrom: '127.0.0.1' });
    });

    it('lets no request wait for the note of a use, and answers although it cannot be written', async () => {
      const shop = await anotherShop();
      const key = String((await create(shop, 'Till')).data.apiKey);
      await service.world.database.transaction(async (held) => {
        await held`select 1 from api_keys where id = ${idOf(key)} for update`;
        expect((await shop.call('GET', '/assets', { headers: { 'x-api-key': key } })).status).toBe(200);
      });
    });

    it('shows keys that an operator made by what the operator called them', async () => {
      const shop = await anotherShop();
      const body = { name: 'From above', permissions: ['payment:read'] };
      await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, { headers: OPERATOR, body });
      expect(itemsOf(await send({ from: shop }))[0]).toMatchObject({ name: 'From above', createdBy: null });
    });
  },
  422: ({ anotherShop, send, shop }) => {
    it('refuses a limit below 1 and a cursor that it never gave to this gateway, another gateway’s as much as nonsense', async () => {
      const other = await anotherShop();
      for (const name of ['a', 'b']) await create(other, name);
      const foreign = ((await send({ from: other, query: '?limit=1' })).data.pagination as { nextCursor: string }).nextCursor;
      const cursors = [foreign, 'x', 'AAAA', '%00', Buffer.from('0000000000000000').toString('base64url'), `${foreign}=`];
      const answers = await Promise.all(cursors.map((cursor) => send({ from: shop, query: `?after=${cursor}` })));
      for (const { status, error } of answers) expect([status, error.code, error.message.slice(0, 6)]).toEqual([422, 'validation_error', 'after:']);
      expect(answers[0]?.text).toBe(answers[4]?.text);
      expect((await send({ query: '?limit=0' })).error.message).toMatch(/^limit: /);
    });
  },
});
