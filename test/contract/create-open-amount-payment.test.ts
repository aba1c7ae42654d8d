import { expect, it } from 'vitest';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

const HOSTED = { callbackUrl: 'https://shop.example/thanks' };
const API = { checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
const OPEN = { openAmount: { enabled: true, minAmountUsd: '1', assetIds: null } };

type Create = (body: Record<string, unknown>, from?: Shop) => Promise<Answer>;
const creating =
  ({ send, shop }: Context): Create =>
  (body, from = shop) =>
    send({ body, from });

interface Seen extends Record<string, unknown> {
  offers: Record<string, unknown>[];
}

/** The public object of a payment that was just created. */
async function seen({ service }: Context, { status, data, text }: Answer): Promise<Seen> {
  expect(status, text).toBe(201);
  return (await service.ask('GET', `/api/v1/public/payments/${data.paymentUid}`)).data as Seen;
}

describeOperation('createOpenAmountPayment', {
  201: (context) => {
    const { service } = context;
    const create = creating(context);
    const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';
    const symbols = async (settings: Record<string, unknown>): Promise<unknown[]> => {
      const shop = await service.aShop(settings);
      return (await seen(context, await create(HOSTED, shop))).offers.map((offer) => offer.assetSymbol);
    };

    it('answers the id and the page, and nothing else in either mode (contract 4.1)', async () => {
      for (const body of [HOSTED, API]) {
        const { status, data } = await create(body);
        expect(status).toBe(201);
        expect(Object.keys(data)).toEqual(['paymentUid', 'paymentUrl']);
        expect(data.paymentUrl).toMatch(new RegExp(`/p/${data.paymentUid}$`));
      }
    });

    it('shows placeholders of 0, the minimum and the defaults (contract 2.3, 2.7, 4.1)', async () => {
      const payment = await seen(context, await create(HOSTED));
      expect(payment).toMatchObject({
        status: 'PENDING',
        checkoutMode: 'HOSTED',
        openAmount: true,
        amount: '0',
        amountUsd: '0',
        minAmountUsd: '1',
        currencyCode: 'USD',
        timeoutSeconds: 3600,
        language: null,
        isSandbox: false,
      });
      expect(payment.offers.map((offer) => offer.assetSymbol)).toEqual(['ETH', 'USDC', 'USDT']);
      for (const offer of payment.offers) expect(offer).toMatchObject({ amount: '0', txFee: '0', commissionFee: '0', totalValue: '0' });
      expect(payment.offers[0]).toMatchObject({ assetPriceUsd: '2500' });
    });

    it('takes a display currency in any case, its timeout, language, parameters and webhook', async () => {
      const answer = await create({
        ...HOSTED,
        currencyCode: 'jPy',
        timeoutSeconds: 60,
        language: 'de-CH',
        title: 'A gift',
        reference: 'G-7',
        callbackParams: { order: 7 },
        webhookParams: { cart: { id: 'x' } },
        webhookUrl: 'http://127.0.0.1:8099/hook',
      });
      expect(await seen(context, answer)).toMatchObject({
        currencyCode: 'JPY',
        timeoutSeconds: 60,
        language: 'de-CH',
        title: 'A gift',
        reference: 'G-7',
        amount: '0',
      });
      const [row] = await service.world.database.sql`select * from payments where id = ${String(answer.data.paymentUid)}`;
      expect(row).toMatchObject({
        openAmount: true,
        amount: '0',
        amountUsd: '0',
        minimumUsd: '1',
        fiatRate: '0.0067',
        fiatSource: 'static',
        fiatAt: expect.any(Date),
        callbackParams: { order: 7 },
        webhookParams: { cart: { id: 'x' } },
        webhookUrl: 'http://127.0.0.1:8099/hook',
      });
    });

    it('reads null in every optional field as if it were absent', async () => {
      const fields = ['currencyCode', 'timeoutSeconds', 'checkoutMode', 'callbackParams', 'webhookUrl', 'webhookParams', 'language'];
      const payment = await seen(context, await create({ ...HOSTED, ...Object.fromEntries(fields.map((field) => [field, null])) }));
      expect(payment).toMatchObject({ currencyCode: 'USD', timeoutSeconds: 3600, checkoutMode: 'HOSTED', language: null });
      expect((await create({ ...API, callbackUrl: null })).status).toBe(201);
    });

    it('knows no amount, fee-payer, tolerance, assets or sandbox field: they are ignored, whatever they hold', async () => {
      const strange = {
        amount: 5,
        txFeePayer: 'CUSTOMER',
        commissionFeePayer: 1,
        overAcceptableDiff: [],
        checkAmountDeviation: 'no',
        assets: [],
        isSandbox: true,
        type: 'PAYLINK',
      };
      expect(await seen(context, await create({ ...HOSTED, ...strange }))).toMatchObject({ amount: '0', isSandbox: false, txFeePayer: 'MERCHANT' });
    });

    it('offers the assets of the arrangement that are enabled, and drops the others (contract 4.1)', async () => {
      expect(await symbols({ openAmount: { enabled: true, assetIds: [id('USDT').toUpperCase(), id('ETH')] } })).toEqual(['ETH', 'USDT']);
      expect(await symbols({ assetIds: [id('USDT'), id('USDC')], openAmount: { enabled: true, assetIds: [id('USDT'), id('ETH')] } })).toEqual(['USDT']);
      expect(await symbols({ assetIds: [id('USDC')], openAmount: { enabled: true, assetIds: null } })).toEqual(['USDC']);
    });

    it('drops an asset without a current price', async () => {
      await service.world.setPrice('USDC', '1', 'elsewhere');
      try {
        await service.world.advance(121);
        expect(await symbols(OPEN)).toEqual(['ETH', 'USDT']);
      } finally {
        await service.world.setPrice('USDC', '1');
      }
    });

    it.each([
      ['STANDARD', { settings: { txFeePayer: 'CUSTOMER' } }, 'CUSTOMER', 'MERCHANT'],
      ['MONTHLY', { settings: { txFeePayer: 'CUSTOMER' } }, 'PLATFORM', 'PLATFORM'],
      ['PLATFORM', {}, 'PLATFORM', 'PLATFORM'],
    ])('on a %s-billed gateway names who bears the fees (contract 1, 2.1)', async (billing, settings, txFeePayer, commissionFeePayer) => {
      const shop = await service.aShop({ ...OPEN, ...settings, billing });
      expect(await seen(context, await create(HOSTED, shop))).toMatchObject({ txFeePayer, commissionFeePayer });
    });
  },

  403: (context) => {
    const { service } = context;
    const create = creating(context);

    it('refuses a gateway that is not provisioned for it, whatever its billing and whatever it sends (contract 4.1, decisions 8)', async () => {
      for (const billing of ['STANDARD', 'MONTHLY', 'PLATFORM']) {
        const from = await service.aShop({ billing });
        for (const sending of [{ body: HOSTED }, { body: { currencyCode: 5 } }, { raw: '{' }, { raw: '' }, { body: HOSTED, idempotencyKey: 'x'.repeat(256) }]) {
          const { status, error } = await context.send({ ...sending, from });
          expect([billing, status, error.code]).toEqual([billing, 403, 'forbidden']);
          expect(error.message).toBe('This gateway is not provisioned for open-amount payments.');
        }
      }
    });

    it('refuses API mode from an address off the allowlist and names it (contract 5.7)', async () => {
      const shop = await service.aShop({ ...OPEN, apiAllowlist: ['203.0.113.0/24'] });
      const { status, error } = await create(API, shop);
      expect([status, error.code]).toEqual([403, 'forbidden']);
      expect(error.message).toContain('127.0.0.1');
      expect((await create(HOSTED, shop)).status).toBe(201);
    });
  },

  422: (context) => {
    const { service } = context;
    const create = creating(context);

    it.each<[string, string, Record<string, unknown>]>([
      ['currencyCode', 'unknown', { ...HOSTED, currencyCode: 'XXX' }],
      ['currencyCode', 'inactive', { ...HOSTED, currencyCode: 'HRK' }],
      ['currencyCode', 'empty', { ...HOSTED, currencyCode: '' }],
      ['currencyCode', 'without a rate', { ...HOSTED, currencyCode: 'XPF' }],
      ['timeoutSeconds', 'a fraction', { ...HOSTED, timeoutSeconds: 0.5 }],
      ['checkoutMode', 'unknown', { ...HOSTED, checkoutMode: 'PAGE' }],
      ['callbackUrl', 'missing in HOSTED', {}],
      ['callbackUrl', 'null in HOSTED', { callbackUrl: null }],
      ['callbackUrl', 'not a URL', { callbackUrl: 'shop.example' }],
      ['callbackUrl', 'sent in API mode', { ...API, callbackUrl: 'https://shop.example' }],
      ['callbackParams', 'an array', { ...HOSTED, callbackParams: [] }],
      ['callbackParams', 'too long for a URL', { ...HOSTED, callbackParams: { a: 'x'.repeat(8_000) } }],
      ['webhookUrl', 'missing in API mode', { checkoutMode: 'API' }],
      ['webhookUrl', 'not http', { ...HOSTED, webhookUrl: 'ftp://shop.example' }],
      ['webhookParams', 'a string', { ...HOSTED, webhookParams: 'x' }],
      ['language', 'a number', { ...HOSTED, language: 1 }],
      ['title', 'two lines', { ...HOSTED, title: 'a\nb' }],
      ['reference', 'too long', { ...HOSTED, reference: 'x'.repeat(65) }],
    ])('names %s when it is %s', async (field, _how, body) => {
      const { status, error } = await create(body);
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message.split(': ')[0]).toBe(field);
    });

    it('names checkoutMode when API mode has no allowlist', async () => {
      const bare = await service.aShop({ ...OPEN, apiAllowlist: [] });
      expect((await create(API, bare)).error.message).toMatch(/^checkoutMode: /);
    });

    it('says so when no offerable asset remains (contract 7)', async () => {
      const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';
      for (const settings of [
        { assetIds: [] },
        { openAmount: { enabled: true, assetIds: [] } },
        { assetIds: [id('USDC')], openAmount: { enabled: true, assetIds: [id('USDT')] } },
      ]) {
        const { status, error } = await create(HOSTED, await service.aShop({ ...OPEN, ...settings }));
        expect([status, error.code]).toEqual([422, 'validation_error']);
      }
    });
  },
});
