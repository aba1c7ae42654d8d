import { expect, it } from 'vitest';
import { POLICY } from '#shared/core/policy.ts';
import { describeOperation } from './describe-operation.ts';

const BANK = { label: 'Bank', network: 'ethereum', address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' };

describeOperation('addAddress', {
  201: ({ service, send, anotherShop }) => {
    it('enters an address in its checksummed spelling, and says which key did it', async () => {
      const shop = await anotherShop();
      const answer = await send({ from: shop, body: { ...BANK, address: BANK.address.toLowerCase() } });
      expect([answer.status, answer.data]).toMatchObject([201, { ...BANK, tag: 'BOOK', createdBy: shop.apiKey.split('_')[1], sent: [] }]);
    });

    it('shows a hidden one again as made now by this key, with the same id', async () => {
      const shop = await anotherShop();
      const first = (await send({ from: shop, body: BANK })).data;
      expect((await shop.signed('DELETE', `/address-book/${first.addressId}`)).data).toMatchObject({ hiddenAt: expect.any(String) });
      await service.world.advance(60);
      const again = (await send({ from: shop, body: { ...BANK, label: 'Other bank' } })).data;
      expect(again).toMatchObject({ addressId: first.addressId, label: 'Other bank', hiddenAt: null, changedAt: null });
      expect(String(again.createdAt) > String(first.createdAt)).toBe(true);
    });

    it('allows nothing: a cashout to it waits for approval like one to an unknown address, and shows its own label', async () => {
      const shop = await service.aShop({ cashout: { enabled: true, allowlist: ['127.0.0.1', '::1'], approvalCapUsd: '1' } });
      await shop.fund('USDT', '10');
      expect((await send({ from: shop, body: BANK })).status).toBe(201);
      const statuses = [];
      for (const address of [BANK.address, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8']) {
        const body = { assetId: service.world.assets.USDT?.id, amount: '3', address };
        statuses.push((await shop.signed('POST', '/merchant/settlements', { body })).data.status);
      }
      expect(statuses).toEqual(['PENDING_APPROVAL', 'PENDING_APPROVAL']);
    });
  },
  409: ({ service, send, anotherShop }) => {
    it('refuses one that is there, by hand or by a cashout, whatever its spelling, and not for another gateway', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
      expect((await send({ from: shop, body: BANK })).status).toBe(201);
      for (const address of [BANK.address, BANK.address.toLowerCase(), body.address]) {
        const answer = await send({ from: shop, body: { ...BANK, label: 'Again', address } });
        expect([answer.status, answer.error.code]).toEqual([409, 'conflict']);
      }
      expect((await send({ from: await anotherShop(), body: BANK })).status).toBe(201);
    });

    it('refuses one beyond the most that are shown, and beyond the most that ever were, and cashouts go on', async () => {
      const shop = await anotherShop();
      const { sql } = service.world.database;
      const fill = (count: number, hidden: boolean) => sql`
        insert into address_book (id, gateway_id, network_id, address, label, tag, added_at, added_by, hidden_at)
        select gen_random_uuid(), ${shop.id}, (select id from networks where name = 'ethereum'), ${hidden ? 'hidden' : 'shown'} || i, 'x', 'BOOK', now(), 'x', case when ${hidden} then now() end
        from generate_series(1, ${count}::int) i`;
      await fill(POLICY.addressesByHand - 1, false);
      const mine = await send({ from: shop, body: BANK });
      expect(mine.status).toBe(201);
      const next = { ...BANK, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      expect((await send({ from: shop, body: next })).error.message).toContain(String(POLICY.addressesByHand));
      expect((await shop.signed('DELETE', `/address-book/${mine.data.addressId}`)).status).toBe(200);
      expect((await send({ from: shop, body: next })).status).toBe(201);
      await sql`update address_book set hidden_at = now() where gateway_id = ${shop.id}`;
      await fill(POLICY.addressesByHandEver - POLICY.addressesByHand, true);
      expect((await send({ from: shop, body: BANK })).status).toBe(409);
      await shop.fund('USDT', '10');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
    });
  },
  422: ({ service, send }) => {
    it.each([
      ['label', { label: '' }],
      ['label', { label: ' Bank' }],
      ['label', { label: 'a\nb' }],
      ['label', { label: 'a\u202eb' }],
      ['label', { label: '\ud800' }],
      ['label', { label: 'x'.repeat(101) }],
      ['label', { label: 1 }],
      ['network', { network: 'nowhere' }],
      ['network', { network: null }],
      ['address', { address: '0x0000000000000000000000000000000000000000' }],
      ['address', { address: '0x3c44CdDdB6a900fa2b585dd299e03d12FA4293BC' }],
      ['address', { address: 'bank' }],
      ['address', { address: 7 }],
    ])('names %s for %j', async (field, wrong) => {
      const answer = await send({ body: { ...BANK, ...wrong } });
      expect([answer.status, answer.error.code]).toEqual([422, 'validation_error']);
      expect(answer.error.message).toContain(field);
    });

    it('refuses a token contract and an address of this service', async () => {
      const contract = service.world.assets.USDT?.contract as string;
      const [{ address }] = (await service.world.database.sql`select address from wallets where role <> 'deposit' limit 1`) as unknown as [{ address: string }];
      for (const own of [contract, address]) expect((await send({ body: { ...BANK, address: own } })).error.message).toMatch(/^address: /);
    });
  },
});
