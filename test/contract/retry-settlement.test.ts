import { expect, it } from 'vitest';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import { listen, type Shop } from './service.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** One that is still two short. */
async function short({ service }: Context, shop: Shop): Promise<string> {
  const made = await shop.signed('POST', '/merchant/settlements', { body: { assetId: service.world.assets.USDC?.id, amount: '2', address: ADDRESS } });
  expect([made.status, made.data.status]).toEqual([202, 'UNDERFUNDED']);
  return String(made.data.id);
}

describeOperation('retrySettlement', {
  200: ({ example, send, service, entry }) => {
    it('activates what the pool covers now: REQUESTED, with its fee locked, and no trace of the parking (contract 4.3)', async () => {
      const { status, data } = await send(await example());
      expect([status, data.status]).toEqual([200, 'REQUESTED']);
      expect(Number(data.feeLocked) + Number(data.netAmount)).toBeCloseTo(Number(data.amount), 6);
      for (const field of ['shortfall', 'shortfallUsd', 'expiresAt']) expect(data).not.toHaveProperty(field);
    });

    it('answers PENDING_APPROVAL above the approval cap', async () => {
      const cashout = { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true, approvalCapUsd: '1' };
      const capped = await service.aShop({ cashout });
      const { status, data } = await send({ ...(await example(capped)), from: capped });
      expect([status, data.status]).toEqual([200, 'PENDING_APPROVAL']);
    });

    it('needs no body', () => expect(entry.takesBody).toBe(false));
  },
  409: (context) => {
    const { example, send, anotherShop } = context;
    it('conflicts with one that is still short, which stays parked, and keeps nothing under the key', async () => {
      const shop = await anotherShop();
      const params = { settlementId: await short(context, shop) };
      for (let times = 0; times < 2; times++) expect((await send({ params, idempotencyKey: 'still short', from: shop })).error.code).toBe('conflict');
      expect((await shop.signed('GET', `/merchant/settlements/${params.settlementId}`)).data).toMatchObject({ status: 'UNDERFUNDED', shortfall: '2' });
      await shop.fund('USDC', '10');
      expect((await send({ params, idempotencyKey: 'still short', from: shop })).data.status).toBe('REQUESTED');
    });

    it('conflicts with one that is no longer parked', async () => {
      const known = await example();
      expect((await send(known)).status).toBe(200);
      expect((await send(known)).error.code).toBe('conflict');
    });
  },
  422: (context) => {
    it('says nothing about the cashout before the key is right', async () => {
      const params = { settlementId: await short(context, await context.anotherShop()) };
      const { status, error } = await context.send({ params, idempotencyKey: null });
      expect([status, error.code]).toEqual([422, 'validation_error']);
    });
  },
  503: (context) => {
    const { service, example, send, shop } = context;
    it('asks to come back when the fee cannot be quoted, and leaves it parked', async () => {
      const known = await example();
      const dark = await listen({ ...service.deps, prices: { fresh: async () => undefined } });
      const { status, error } = await send({ ...known, through: dark.ask });
      expect([status, error.code]).toEqual([503, 'fee_estimation_unavailable']);
      await dark.close();
      expect((await shop.signed('GET', `/merchant/settlements/${known.params?.settlementId}`)).data.status).toBe('UNDERFUNDED');
    });
  },
});
