import { expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { listDayFigures, noteOpened } from '#api/store/day-figures.ts';
import { markSelected } from '#api/store/payment-offers.ts';
import { plansOfHttp } from '#test/harness/explained.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

interface Day {
  day: string;
  created: number;
  opened: number;
  chosen: number;
  seen: number;
  paid: number;
  received: { asset: string; network: string; payments: number; amount: string; amountUsd: string }[];
}

describeOperation('getSeries', {
  200: ({ service, send, anotherShop }) => {
    const daysOf = async (from: Shop, query = ''): Promise<Day[]> => (await send({ from, query })).data.items as Day[];
    const summed = async (from: Shop, query = '') => sumOf(await daysOf(from, query));
    const sumOf = (days: Day[]): Omit<Day, 'day' | 'received'> => {
      const sum = (step: 'created' | 'opened' | 'chosen' | 'seen' | 'paid') => days.reduce((total, day) => total + day[step], 0);
      return { created: sum('created'), opened: sum('opened'), chosen: sum('chosen'), seen: sum('seen'), paid: sum('paid') };
    };
    const fold = () => periodicWork['fold-day-figures'].run(service.worker);
    const read = (paymentUid: string, query = '') => service.ask('GET', `/api/v1/public/payments/${paymentUid}${query}`);
    const steps = () => service.world.database.sql`select payment_id, step, at::text from payment_steps order by 1, 2`;

    it('counts each step of a payment once, and what arrived by asset, before and after the figures are added up', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      const { paymentUid, payment } = await shop.payment();
      for (const offer of [0, 1, 0]) await service.deps.db.transaction((tx) => markSelected(tx, paymentUid, payment.offers[offer]?.id ?? ''));
      for (let times = 0; times < 3; times++) expect((await read(paymentUid)).status).toBe(200);
      await expect.poll(async () => (await summed(shop)).opened).toBeGreaterThan(0);
      const before = await daysOf(shop);
      const { opened, chosen, ...rest } = await summed(shop);
      expect(rest).toEqual({ created: 2, seen: 1, paid: 1 });
      expect([opened >= 1 && opened <= 2, chosen >= 1 && chosen <= 2]).toEqual([true, true]);
      expect(before.flatMap(({ received }) => received)).toMatchObject([{ asset: 'USDT', payments: 1, amount: '10', amountUsd: '10' }]);
      await fold();
      expect(await service.world.database.sql`select 1 from day_changes`).toHaveLength(0);
      expect(await daysOf(shop)).toEqual(before);
      await shop.payment();
      await fold();
      expect(await summed(shop)).toEqual({ ...sumOf(before), created: 3 });
    });

    it('keeps simulated payments apart, and shows nothing of another gateway', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const { paymentUid } = await shop.payment({ isSandbox: true });
      const played = await service.ask('POST', `/api/v1/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'success' } });
      expect(played.status, played.text).toBe(200);
      await service.wait(30);
      const none = { created: 0, opened: 0, chosen: 0, seen: 0, paid: 0 };
      expect(await summed(shop, '?sandbox=true')).toMatchObject({ created: 1, seen: 1, paid: 1 });
      expect([await summed(shop), await summed(other), await summed(other, '?sandbox=true')]).toEqual([none, none, none]);
      expect((await daysOf(shop)).flatMap(({ received }) => received)).toEqual([]);
    });

    it('writes that a payment was opened once, however many read it at once and later, and not when its status alone is asked for', async () => {
      const shop = await anotherShop();
      const { paymentUid } = await shop.payment();
      await fold();
      await read(paymentUid, '?statusOnly=true');
      // Notes of one process are written in the order of the reads: had there been one of that, it would be there.
      const other = await shop.payment();
      await read(other.paymentUid);
      await expect.poll(async () => (await steps()).some(({ paymentId }) => paymentId === other.paymentUid)).toBe(true);
      const before = await steps();
      expect(before.filter(({ paymentId }) => paymentId === paymentUid)).toEqual([]);
      await Promise.all(Array.from({ length: 20 }, () => noteOpened(service.deps.db, paymentUid)));
      const once = await steps();
      expect(once).toHaveLength(before.length + 1);
      await noteOpened(service.deps.db, paymentUid);
      await read(paymentUid);
      expect(await steps()).toEqual(once);
      expect((await summed(shop)).opened).toBe(2);
    });

    it('waits for nobody who has the payment locked, so that neither expiry nor a page waits for the other', async () => {
      const shop = await anotherShop();
      const { paymentUid } = await shop.payment();
      await service.world.database.transaction(async (tx) => {
        await tx`select 1 from payments where id = ${paymentUid} for update`;
        await noteOpened(service.deps.db, paymentUid);
      });
      expect((await summed(shop)).opened).toBe(1);
    });

    it('answers every day of those asked for, in order, also one without anything', async () => {
      const shop = await anotherShop();
      const days = await daysOf(shop, '?from=2024-02-27&to=2024-03-02');
      expect(days.map(({ day }) => day)).toEqual(['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02']);
      expect(await daysOf(shop, '?from=2024-01-01&to=2025-02-03')).toHaveLength(400);
      expect(await daysOf(shop)).toHaveLength(14);
    });

    it('reads the figures of its days by an index, and never payments', async () => {
      const shop = await anotherShop();
      const days = { gatewayId: shop.id, sandbox: false, from: '2026-01-01', to: '2026-12-31' };
      const nodes = await plansOfHttp(service.world.database, (sql) => listDayFigures(sql, days));
      const related = nodes.map((node) => node['Relation Name']).filter((name) => name !== undefined);
      expect(new Set(related)).toEqual(new Set(['day_figures', 'day_changes', 'assets', 'networks']));
      const read = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
      expect(read.filter((name) => name === 'day_figures' || name === 'day_changes')).toEqual([]);
    });

    it('are figures that the audit holds against the rows: it finds one that is wrong', async () => {
      const shop = await anotherShop();
      await shop.payment();
      await fold();
      const { sql } = service.world.database;
      const found = async () => (await runCheck(sql, KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0], { staticAllowed: true })).rows;
      expect(await found()).toEqual([]);
      await sql`update day_figures set count = count + 1 where gateway_id = ${shop.id}`;
      expect(await found()).toMatchObject([{ list: 'days', gatewayId: shop.id }]);
      await sql`update day_figures set count = count - 1 where gateway_id = ${shop.id}`;
    });
  },
  422: ({ send }) => {
    it('refuses days that are none, in the wrong order, or too many, naming the field', async () => {
      for (const [query, field] of [
        ['?from=yesterday', 'from'],
        ['?to=2026-02-30', 'to'],
        ['?from=2026-11-21T00:00:00Z', 'from'],
        ['?from=0001-01-01', 'from'],
        ['?to=9999-12-31', 'to'],
        ['?from=2026-11-22&to=2026-11-21', 'to'],
        ['?from=2024-01-01&to=2025-02-04', 'from'],
        ['?sandbox=perhaps', 'sandbox'],
      ] as const)
        expect([query, (await send({ query })).error.message]).toEqual([query, expect.stringMatching(new RegExp(`^${field}: `))]);
    });
  },
});
