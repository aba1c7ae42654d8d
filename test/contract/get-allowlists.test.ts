import { expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { describeOperation } from './describe-operation.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

describeOperation('getAllowlists', {
  200: ({ service, send, anotherShop }) => {
    const change = (id: string, body: object) => service.ask('PATCH', `/operator/v1/gateways/${id}`, { headers: OPERATOR, body });

    it('tells what each address is for and when it was added, and forgets both when it is taken off', async () => {
      const shop = await anotherShop();
      const own = {
        apiAllowlist: ['127.0.0.1', '203.0.113.7'],
        cashout: { allowlist: ['127.0.0.1', '2001:db8::/48'] },
        allowlistNotes: { '203.0.113.7': 'Web shop' },
      };
      expect((await change(shop.id, own)).status).toBe(200);
      const { data } = await send({ from: shop });
      const time = expect.stringMatching(/^\d{4}-.*Z$/);
      expect(data).toEqual({
        api: [
          { address: '127.0.0.1', note: null, addedAt: time },
          { address: '203.0.113.7', note: 'Web shop', addedAt: time },
        ],
        cashout: {
          isEnabled: true,
          items: [
            { address: '127.0.0.1', note: null, addedAt: time },
            { address: '2001:db8::/48', note: null, addedAt: time },
          ],
        },
      });
      await change(shop.id, { apiAllowlist: ['127.0.0.1'] });
      await change(shop.id, { apiAllowlist: ['127.0.0.1', '203.0.113.7'] });
      expect((await send({ from: shop })).data.api).toMatchObject([{ address: '127.0.0.1' }, { address: '203.0.113.7', note: null }]);
    });

    it('tells no time of an address that was listed before times were kept', async () => {
      const shop = await anotherShop();
      await service.world.database.sql`delete from allowlist_entries where gateway_id = ${shop.id}`;
      await change(shop.id, { allowlistNotes: { '127.0.0.1': 'Here' } });
      expect((await send({ from: shop })).data.api).toContainEqual({ address: '127.0.0.1', note: 'Here', addedAt: null });
    });

    it('refuses a note that is none, or is for an address that no list has, and keeps nothing of the change', async () => {
      const shop = await anotherShop();
      const wrong: [object, string][] = [
        [{ allowlistNotes: 'shop' }, 'allowlistNotes'],
        [{ allowlistNotes: { 'not an address': 'x' } }, 'allowlistNotes'],
        [{ allowlistNotes: { '127.0.0.1': 'two\nlines' } }, 'allowlistNotes.127.0.0.1'],
        [{ allowlistNotes: { '127.0.0.1': 'x'.repeat(121) } }, 'allowlistNotes.127.0.0.1'],
        [{ apiAllowlist: ['127.0.0.1'], allowlistNotes: { '203.0.113.99': 'x' } }, 'allowlistNotes.203.0.113.99'],
      ];
      const before = (await send({ from: shop })).text;
      for (const [body, field] of wrong) {
        const { status, error } = await change(shop.id, body);
        expect([status, error.message.includes(field)], JSON.stringify(body)).toEqual([422, true]);
      }
      expect((await send({ from: shop })).text).toBe(before);
    });
  },
});
