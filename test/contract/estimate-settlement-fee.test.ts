import { expect, it } from 'vitest';
import type { Chain } from '#api/deps.ts';
import { openPayer } from '#shared/chains/payers.ts';
import { describeOperation } from './describe-operation.ts';
import { listen } from './service.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describeOperation('estimateSettlementFee', {
  200: ({ service, send }) => {
    const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';
    const estimate = (body: Record<string, unknown>) => send({ body });

    it('quotes a token and the native coin without any balance, and creates nothing (contract 2.10)', async () => {
      for (const symbol of ['USDT', 'ETH']) {
        const { status, data } = await estimate({ assetId: id(symbol), amount: '25.0', address: ADDRESS });
        expect(status).toBe(200);
        expect(data).toMatchObject({ address: ADDRESS, assetName: symbol, network: 'ethereum', amount: '25.0', sufficient: true });
        expect(Number(data.feeLocked)).toBeGreaterThan(0);
        expect(Number(data.netAmount)).toBeCloseTo(25 - Number(data.feeLocked), 6);
      }
      expect(await service.world.database.sql`select 1 from address_book`).toHaveLength(0);
      expect(await service.world.database.sql`select 1 from settlements`).toHaveLength(0);
    });

    it('knows no Idempotency-Key: the same one with another body is another quote (contract 4.3)', async () => {
      for (const amount of ['2', '3']) {
        const headers = { 'idempotency-key': 'x'.repeat(300) };
        const answer = await send({ headers, body: { assetId: id('USDT'), amount, address: ADDRESS } });
        expect([answer.status, answer.data.amount, answer.headers.get('idempotency-replayed')]).toEqual([200, amount, null]);
      }
    });

    it('still gives the figures when the amount does not cover the fee (decisions 10)', async () => {
      const { data } = await estimate({ assetId: id('ETH'), amount: '0.000000000000000001', address: ADDRESS });
      expect(data).toMatchObject({ sufficient: false });
      expect(data.netAmount).toMatch(/^-/);
    });

    it('takes an address in one case, and quotes a token at fee 0 to a monthly-billed gateway (contract 4.3)', async () => {
      expect((await estimate({ assetId: id('USDT'), amount: '1', address: ADDRESS.toLowerCase() })).status).toBe(200);
      const monthly = await service.aShop({ billing: 'MONTHLY' });
      const { data } = await send({ from: monthly, body: { assetId: id('USDT'), amount: '1', address: ADDRESS } });
      expect(data).toMatchObject({ feeLocked: '0', netAmount: '1', sufficient: true });
    });
  },
  422: ({ service, send }) => {
    const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';
    const estimate = (body: Record<string, unknown>) => send({ body });

    const good = { amount: '1', address: ADDRESS };
    it.each([
      ['assetId', { ...good }],
      ['assetId', { ...good, assetId: 'x' }],
      ['assetId', { ...good, assetId: '00000000-0000-4000-8000-000000000000' }],
      ['amount', { ...good, assetId: 'USDT', amount: 1 }],
      ['amount', { ...good, assetId: 'USDT', amount: '0' }],
      ['amount', { ...good, assetId: 'USDT', amount: '0.0000001' }],
      ['amount', { ...good, assetId: 'USDT', amount: undefined }],
      ['address', { ...good, assetId: 'USDT', address: undefined }],
      ['address', { ...good, assetId: 'USDT', address: '0x70997970c51812dc3A010C7d01b50e0d17dc79C8' }],
      ['address', { ...good, assetId: 'USDT', address: '0x1234' }],
      ['address', { ...good, assetId: 'USDT', address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }],
      ['address', { ...good, assetId: 'USDT', address: `0x${'0'.repeat(40)}` }],
    ] as [string, Record<string, unknown>][])('names %s in %j', async (field, body) => {
      const { status, error } = await estimate({ ...body, ...(body.assetId === 'USDT' ? { assetId: id('USDT') } : {}) });
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message).toMatch(new RegExp(`^${field}: `));
    });

    it("refuses the token's own contract and addresses of this deployment (decisions 10)", async () => {
      for (const address of [service.world.assets.USDT?.contract, service.world.network.config.wallets.funding.address])
        expect((await estimate({ assetId: id('USDT'), amount: '1', address })).error.message).toMatch(/^address: /);
    });
  },
  503: ({ service, send }) => {
    const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';

    it('asks to come back when the chain cannot be reached', async () => {
      const { name } = service.world.network.config;
      const there = service.deps.chains.get(name) as Chain;
      const payer = openPayer({ ...there.config, rpcUrls: ['http://127.0.0.1:1'] });
      const dark = await listen({ ...service.deps, chains: new Map([[name, { ...there, payer }]]) });
      const { status, error } = await send({ through: dark.ask, body: { assetId: id('ETH'), amount: '1', address: ADDRESS } });
      expect([status, error.code]).toEqual([503, 'fee_estimation_unavailable']);
      await dark.close();
    });

    it("asks to come back when a token's price is not fresh (decisions 3)", async () => {
      const dark = await listen({ ...service.deps, prices: { fresh: async () => undefined } });
      const { status, error } = await send({ through: dark.ask, body: { assetId: id('USDT'), amount: '1', address: ADDRESS } });
      expect([status, error.code]).toEqual([503, 'fee_estimation_unavailable']);
      await dark.close();
    });
  },
});
