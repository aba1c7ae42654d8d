import { expect, it } from 'vitest';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { readFunnel } from '#api/store/day-figures.ts';
import { plansOfHttp } from '#test/harness/explained.ts';
import { describeOperation } from './describe-operation.ts';

describeOperation('getFunnel', {
  200: ({ service, send, anotherShop }) => {
    it('follows the payments of the days asked for, whenever they came further, and no other gateway’s', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const { paymentUid } = await shop.payment({ isSandbox: true, timeoutSeconds: 3 * 86_400 });
      await shop.payment({ isSandbox: true });
      const made = (await send({ from: shop, query: '?sandbox=true' })).data;
      await service.world.advance(86_400);
      await service.ask('GET', `/api/v1/public/payments/${paymentUid}`);
      const played = await service.ask('POST', `/api/v1/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'success' } });
      expect(played.status, played.text).toBe(200);
      await service.wait(30);
      const query = `?sandbox=true&from=${made.to}&to=${made.to}`;
      const reached = { from: made.to, to: made.to, sandbox: true, created: 2, opened: 1, chosen: 1, seen: 1, paid: 1 };
      await expect.poll(async () => (await send({ from: shop, query })).data).toEqual(reached);
      await periodicWork['fold-day-figures'].run(service.worker);
      expect((await send({ from: shop, query })).data).toEqual(reached);
      expect((await send({ from: shop, query: `?sandbox=true&from=${made.from}&to=${made.from}` })).data).toMatchObject({ created: 0, paid: 0 });
      expect((await send({ from: shop })).data).toMatchObject({ sandbox: false, created: 0, paid: 0 });
      expect((await send({ from: other, query })).data).toMatchObject({ created: 0, opened: 0, seen: 0, paid: 0 });
    });

    it('reads the figures of its days by an index, and never payments', async () => {
      const shop = await anotherShop();
      const days = { gatewayId: shop.id, sandbox: false, from: '2026-01-01', to: '2026-12-31' };
      const nodes = await plansOfHttp(service.world.database, (sql) => readFunnel(sql, days));
      expect(new Set(nodes.map((node) => node['Relation Name']).filter((name) => name !== undefined))).toEqual(new Set(['day_figures', 'day_changes']));
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    });
  },
  422: ({ send }) => {
    it('refuses days that are none, in the wrong order, or too many, naming the field', async () => {
      expect((await send({ query: '?from=x' })).error.message).toMatch(/^from: /);
      expect((await send({ query: '?from=2026-11-22&to=2026-11-21' })).error.message).toMatch(/^to: /);
      expect((await send({ query: '?from=2024-01-01&to=2025-02-04' })).error.message).toMatch(/^from: /);
    });
  },
});
