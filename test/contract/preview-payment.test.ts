import { expect, it } from 'vitest';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

const HOSTED = { currencyCode: 'USD', amount: '100', callbackUrl: 'https://shop.example/thanks' };
const API = { currencyCode: 'USD', amount: '100', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
const FEES = { settings: { txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER', commissionBps: 100 } };

type Json = Record<string, unknown>;
type Preview = (body: Json, from?: Shop) => Promise<Answer>;
const previewing =
  ({ send, shop }: Context): Preview =>
  (body, from = shop) =>
    send({ body, from });

describeOperation('previewPayment', {
  200: (context) => {
    const { service, shop } = context;
    const preview = previewing(context);
    const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';
    const whatIf = async (symbol: string, amount: string, body: Json = {}, from = shop): Promise<Json> => {
      const { status, data, text } = await preview({ ...HOSTED, ...body, whatIf: { assetId: id(symbol), amount } }, from);
      expect(status, text).toBe(200);
      return data.whatIf as Json;
    };
    const rows = async (): Promise<unknown> => (await service.world.database.sql`select count(*) as n from payments`)[0]?.n;

    it('answers what create would, and creates nothing', async () => {
      const before = await rows();
      const { status, data } = await preview({ ...API, currencyCode: 'eur', txFeePayer: 'CUSTOMER' });
      expect(status).toBe(200);
      expect(await rows()).toEqual(before);
      const { payment } = (await shop.call('POST', '/payments', { body: { ...API, currencyCode: 'eur', txFeePayer: 'CUSTOMER' } })).data as {
        payment: Json & { offers: Json[] };
      };
      const { fiatRate, offers, ...terms } = data as Json & { offers: Json[] };
      expect(payment).toMatchObject(terms);
      expect(fiatRate).toBe('1.08');
      const withoutId = (all: Json[]): Json[] => all.map(({ id: _, ...offer }) => offer);
      expect(withoutId(offers)).toEqual(withoutId(payment.offers));
      expect(data).not.toHaveProperty('whatIf');
    });

    it('takes whatIf null as absent, and gives no rate for dollars', async () => {
      const { data } = await preview({ ...HOSTED, whatIf: null });
      expect(data).not.toHaveProperty('whatIf');
      expect(data).not.toHaveProperty('fiatRate');
    });

    it.each([
      ['100', {}, 'SUCCESS', 'exact_total_value', '0.00'],
      ['100.004', {}, 'SUCCESS', 'no_deviation', '0.00'],
      ['99', { underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE' }, 'ACCEPTABLE', 'within_under_tolerance', '-1.00'],
      ['98.99', { underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE' }, 'MISMATCH', 'outside_tolerance', '-1.01'],
      ['100.5', { overAcceptableDiff: '0.5' }, 'ACCEPTABLE', 'within_over_tolerance', '0.50'],
      ['1', { checkAmountDeviation: false }, 'SUCCESS', 'deviation_not_checked', '-99.00'],
    ])('judges %s USDT against 100 USD with %j: %s by %s (decisions 3)', async (amount, body, status, rule, deviationUsd) => {
      expect(await whatIf('USDT', amount, body)).toMatchObject({
        status,
        rule,
        deviationUsd,
        assetSymbol: 'USDT',
        judgedByAssetId: id('USDT'),
        priceUsd: '1',
        expectedUsd: '100.00',
      });
    });

    it('judges by the price the merchant gives, and takes the fees of decisions 11', async () => {
      const dear = await service.aShop(FEES);
      const assets = [{ assetId: id('USDT'), assetPriceUsd: '2' }];
      expect(await whatIf('USDT', '51', { assets }, dear)).toEqual({
        status: 'SUCCESS',
        rule: 'exact_total_value',
        assetSymbol: 'USDT',
        network: 'ethereum',
        judgedByAssetId: id('USDT'),
        priceUsd: '2',
        receivedUsd: '102.00',
        expectedUsd: '102.00',
        deviationUsd: '0.00',
        txFee: '0.5',
        commissionFee: '0.5',
        credited: '50',
      });
    });

    it('values an asset that is not offered at its market price, against the first offer on its network', async () => {
      const assets = [{ assetId: id('USDT'), assetPriceUsd: '1' }];
      expect(await whatIf('ETH', '0.04', { assets })).toMatchObject({
        status: 'SUCCESS',
        rule: 'no_deviation',
        priceUsd: '2500',
        receivedUsd: '100.00',
        judgedByAssetId: id('USDT'),
      });
      expect(await whatIf('ETH', '0.05', { assets })).toMatchObject({ status: 'MISMATCH', deviationUsd: '25.00' });
    });

    it('leaves a payment PENDING for dust, and while the market price is missing', async () => {
      expect(await whatIf('USDT', '0.000001')).toEqual({ status: 'PENDING', rule: 'dust', assetSymbol: 'USDT', network: 'ethereum' });
      await service.world.setPrice('ETH', '2500', 'elsewhere');
      try {
        await service.world.advance(121);
        expect(await whatIf('ETH', '1')).toEqual({ status: 'PENDING', rule: 'waits_for_price', assetSymbol: 'ETH', network: 'ethereum' });
        expect(await whatIf('ETH', '0.04', { assets: [{ assetId: id('ETH'), assetPriceUsd: '2500' }] })).toMatchObject({
          status: 'SUCCESS',
          rule: 'exact_total_value',
        });
      } finally {
        await service.world.setPrice('ETH', '2500');
      }
    });

    it('charges a monthly-billed gateway nothing, and says what the platform bears', async () => {
      const monthly = await service.aShop({ billing: 'MONTHLY', settings: { commissionBps: 100 } });
      expect(await whatIf('USDT', '100', {}, monthly)).toMatchObject({ txFee: '0.5', commissionFee: '1', credited: '100' });
    });
  },

  403: (context) => {
    const preview = previewing(context);

    it('refuses whom create refuses: a platform-billed gateway, and API mode from elsewhere', async () => {
      const platform = await context.service.aShop({ billing: 'PLATFORM', openAmount: { enabled: true } });
      for (const body of [HOSTED, {}]) expect((await preview(body, platform)).error.code).toBe('forbidden');
      const elsewhere = await context.service.aShop({ apiAllowlist: ['203.0.113.0/24'] });
      expect((await preview(API, elsewhere)).error.message).toContain('127.0.0.1');
    });
  },

  422: (context) => {
    const { service, shop } = context;
    const preview = previewing(context);
    const usdt = (): string => service.world.assets.USDT?.id ?? '';

    it.each<[string, Json]>([
      ['currencyCode', { ...HOSTED, currencyCode: 'HRK' }],
      ['amount', { ...HOSTED, amount: '0' }],
      ['amount', { ...HOSTED, amount: '0.0000001' }],
      ['callbackUrl', { ...HOSTED, callbackUrl: undefined }],
      ['callbackUrl', { ...API, callbackUrl: 'https://shop.example' }],
      ['webhookUrl', { ...API, webhookUrl: null }],
      ['paylinkId', { ...HOSTED, type: 'PAYLINK' }],
      ['txFeePayer', { ...HOSTED, txFeePayer: 'PLATFORM' }],
      ['overAcceptableDiff', { ...HOSTED, overAcceptableDiff: 'x' }],
      ['assets', { ...HOSTED, assets: [] }],
      ['timeoutSeconds', { ...HOSTED, timeoutSeconds: '1' }],
    ])('says %s to what create says it to, word for word', async (field, body) => {
      const { status, error } = await preview(body);
      expect([status, error.message.split(': ')[0]]).toEqual([422, field]);
      expect((await shop.call('POST', '/payments', { body })).error).toEqual(error);
    });

    it.each<[string, string, unknown]>([
      ['whatIf', 'not an object', '100 USDT'],
      ['whatIf', 'an array', []],
      ['whatIf.assetId', 'missing', { amount: '1' }],
      ['whatIf.assetId', 'not a UUID', { assetId: 'USDT', amount: '1' }],
      ['whatIf.assetId', 'unknown', { assetId: '00000000-0000-4000-8000-000000000000', amount: '1' }],
      ['whatIf.amount', 'missing', { assetId: 'usdt' }],
      ...['0', '0.0', '-1', '1e3', '', '1.0000001', '0.0000001', '9'.repeat(39)].map((amount): [string, string, unknown] => [
        'whatIf.amount',
        amount,
        { assetId: 'usdt', amount },
      ]),
      ['whatIf.amount', 'a number', { assetId: 'usdt', amount: 1 }],
      ['whatIf.amount', 'null', { assetId: 'usdt', amount: null }],
    ])('names %s when it is %s', async (field, _how, given) => {
      const whatIf = JSON.parse(JSON.stringify(given).replace('"usdt"', `"${usdt()}"`)) as unknown;
      const { status, error } = await preview({ ...HOSTED, whatIf });
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message.split(': ')[0]).toBe(field);
    });

    it('does not mind trailing zeros beyond the decimals of the asset, nor an id in capitals (decisions 1)', async () => {
      expect((await preview({ ...HOSTED, whatIf: { assetId: usdt().toUpperCase(), amount: '1.000000000' } })).status).toBe(200);
    });
  },
});
