import { expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

type Entry = components['schemas']['LedgerEntry'];
interface Page {
  items: Entry[];
  pagination: { limit: number; hasMore: boolean; nextCursor: string | null };
}
const named = (kind: string, cause: string, account = 'available', asset = '00000000-0000-4000-8000-000000000000'): string =>
  Buffer.from([`${kind}:${cause}`, account, asset].join('|')).toString('base64url');

describeOperation('listLedger', {
  200: ({ service, send, anotherShop }) => {
    const list = async (from: Shop, query = '?limit=100'): Promise<Page> => (await send({ from, query })).data as unknown as Page;
    /** A payment that matured, and a cashout of a part of it that was withdrawn by the operator. */
    const busy = async (): Promise<{ shop: Shop; cashout: string }> => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      return { shop, cashout: String((await shop.signed('POST', '/merchant/settlements', { body })).data.id) };
    };

    it('tells each posting with the payment or the cashout that caused it, newest first', async () => {
      const { shop, cashout } = await busy();
      const { items } = await list(shop);
      const paymentUid = ((await shop.call('GET', '/payments')).data.items as { paymentUid: string }[])[0]?.paymentUid;
      const brief = items.map(({ kind, account, amount, paymentUid: payment, settlementId }) => [kind, account, amount, payment, settlementId]);
      expect(brief).toEqual(
        expect.arrayContaining([
          ['reserve', 'available', '-2', null, cashout],
          ['reserve', 'reserved', '2', null, cashout],
          ['mature', 'pending', '-9.5', paymentUid, null],
          ['mature', 'available', '9.5', paymentUid, null],
          ['credit', 'pending', '9.5', paymentUid, null],
        ]),
      );
      expect(brief).toHaveLength(5);
      expect(items.map(({ kind }) => kind)).toEqual(['reserve', 'reserve', 'mature', 'mature', 'credit']);
      expect(items.every(({ asset, network }) => asset === 'USDT' && network === 'ethereum')).toBe(true);
    });

    it('adds up to the balances', async () => {
      const { shop } = await busy();
      const sum = (await list(shop)).items.filter(({ account }) => account === 'available').reduce((total, { amount }) => total + Number(amount), 0);
      const [balance] = (await shop.signed('GET', '/merchant/settlements/balances')).data.items as { totalAvailable: string }[];
      expect(sum).toBe(Number(balance?.totalAvailable));
    });

    it('pages by a cursor without leaving out or repeating one, two entries of one posting included', async () => {
      const { shop } = await busy();
      const whole = (await list(shop)).items;
      const seen: Entry[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const page: Page = await list(shop, `?limit=1${after === undefined ? '' : `&after=${after}`}`);
        seen.push(...page.items);
        after = page.pagination.nextCursor;
      }
      expect(seen).toEqual(whole);
    });

    it('lists the entries of a kind, an asset, a network and a time, and no others', async () => {
      const { shop } = await busy();
      await shop.fund('USDC', '4');
      const whole = (await list(shop)).items;
      const { sql } = service.world.database;
      const [{ at }] = await sql<[{ at: Date }]>`select max(at) as at from gateway_entries where gateway_id = ${shop.id}`;
      const later = new Date(at.getTime() + 1).toISOString();
      const expected: [string, (entry: Entry) => boolean][] = [
        ['kind=reserve', ({ kind }) => kind === 'reserve'],
        ['asset=USDC', ({ asset }) => asset === 'USDC'],
        ['asset=USDC&kind=reserve', () => false],
        ['network=ethereum', () => true],
        ['network=nowhere', () => false],
        ['asset=%27', () => false],
        [`from=${later}`, () => false],
        [`to=${later}`, () => true],
        [`from=${whole[3]?.at}`, (entry) => entry.at >= String(whole[3]?.at)],
      ];
      for (const [query, fits] of expected) expect([query, (await list(shop, `?limit=100&${query}`)).items]).toEqual([query, whole.filter(fits)]);
    });

    it("shows nobody else's", async () => {
      await busy();
      expect(await list(await anotherShop())).toEqual({ items: [], pagination: { limit: 100, hasMore: false, nextCursor: null } });
    });
  },
  422: ({ service, send, anotherShop }) => {
    it("refuses another gateway's cursor, and any other that it never gave, in the same words", async () => {
      const theirs = await anotherShop();
      await theirs.fund('USDT', '10');
      const { nextCursor } = ((await send({ from: theirs, query: '?limit=1' })).data as unknown as Page).pagination;
      expect(nextCursor).toEqual(expect.any(String));
      const texts = new Set<string>();
      const forged = [
        named('settlement', 'x'),
        named('deposit', "' or 1=1"),
        named('deposit', 'x', 'available', 'x'),
        Buffer.from('1|2').toString('base64url'),
        'AAAA',
        'x',
      ];
      for (const cursor of [nextCursor, ...forged, named('deposit', `${service.world.assets.USDT?.id}`, 'pending', service.world.assets.USDT?.id)]) {
        const answer = await send({ query: `?after=${cursor}` });
        expect(answer.status).toBe(422);
        texts.add(answer.text);
      }
      expect(texts.size).toBe(1);
    });

    it('names a limit below 1, and a filter that is none', async () => {
      for (const [field, value] of [
        ['limit', '0'],
        ['kind', 'A'],
        ['asset', 'a%20b'],
        ['network', '%00'],
        ['from', 'yesterday'],
        ['to', '1'],
      ])
        expect((await send({ query: `?${field}=${value}` })).error.message).toMatch(new RegExp(`^${field}: `));
    });
  },
});
