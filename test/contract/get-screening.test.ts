import { expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

describeOperation('getScreening', {
  200: ({ service, send, anotherShop }) => {
    /** As if the shop were so old, and had spent so much on each of its last days, the newest first. */
    const spend = async (shop: Shop, age: number, checks: readonly number[]): Promise<void> => {
      const { sql } = service.world.database;
      await sql`update gateways set created_at = sluice_now() - make_interval(days => ${age}) where id = ${shop.id}`;
      for (const [ago, count] of checks.entries())
        await sql`insert into screening_days values (${shop.id}, (sluice_now() at time zone 'UTC')::date - ${ago}::int, ${count})`;
    };

    it('tells a gateway that never screened that it has nothing and spends nothing', async () => {
      const shop = await anotherShop();
      const { data } = await send({ from: shop });
      expect(data).toMatchObject({ isEnabled: false, credits: 0, checksPerDay: '0', daysLeft: null, days: [{ checks: 0 }] });
      expect(data.days).toHaveLength(1);
    });

    it('tells how long the credits last at the rate of the last 30 days, and nothing of earlier ones or of others', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const made = await service.ask('POST', `/operator/v1/gateways/${shop.id}/screening-credits`, { headers: OPERATOR, body: { add: 100 } });
      expect(made.status, made.text).toBe(200);
      await spend(shop, 90, [3, 0, 12, ...Array<number>(27).fill(0), 1_000]);
      await spend(other, 90, [50]);
      const { data } = await send({ from: shop });
      expect(data).toMatchObject({ credits: 100, checksPerDay: '0.5', daysLeft: 200 });
      const days = data.days as { day: string; checks: number }[];
      expect(days).toHaveLength(30);
      expect(days.map(({ checks }) => checks)).toEqual([3, 0, 12, ...Array<number>(27).fill(0)]);
      expect([...days].sort((a, b) => (a.day < b.day ? 1 : -1))).toEqual(days);
    });

    it('takes the days of a young gateway alone, and never tells less than nothing of a day on which credits came back', async () => {
      const shop = await anotherShop();
      await spend(shop, 2, [4, -1, 5]);
      expect((await send({ from: shop })).data).toMatchObject({ checksPerDay: '3', daysLeft: 0, days: [{ checks: 4 }, { checks: 0 }, { checks: 5 }] });
    });
  },
});
