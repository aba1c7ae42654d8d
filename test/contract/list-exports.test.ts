import { expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

describeOperation('listExports', {
  200: ({ service, send, anotherShop }) => {
    it('lists the exports of the gateway alone, newest first, and goes on behind a cursor', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const ids: string[] = [];
      for (const kind of ['payments', 'ledger']) {
        const made = await shop.signed('POST', '/exports', { body: { kind } });
        ids.unshift(String(made.data.exportId));
        await service.world.advance(1);
      }
      const idsOf = (data: Record<string, unknown>): string[] => (data.items as { exportId: string }[]).map(({ exportId }) => exportId);
      const first = await send({ from: shop, query: '?limit=1' });
      const { nextCursor } = first.data.pagination as { nextCursor: string };
      expect([...idsOf(first.data), ...idsOf((await send({ from: shop, query: `?after=${nextCursor}` })).data)]).toEqual(ids);
      expect(idsOf((await send({ from: other })).data)).toEqual([]);
      expect((await send({ from: other, query: `?after=${nextCursor}` })).error.message).toContain('after');
    });
  },
  422: ({ send }) => {
    it('refuses a limit below 1 and a cursor that is none', async () => {
      for (const query of ['?limit=0', '?after=x', '?after=%00']) expect([query, (await send({ query })).status]).toEqual([query, 422]);
    });
  },
});
