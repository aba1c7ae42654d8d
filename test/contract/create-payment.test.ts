import { expect, it } from 'vitest';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import { listen, type Shop } from './service.ts';

const HOSTED = { currencyCode: 'USD', amount: '49.90', callbackUrl: 'https://shop.example/thanks' };
const API = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };

type Create = (body: Record<string, unknown>, idempotencyKey?: string, from?: Shop) => Promise<Answer>;
const creating =
  ({ send, shop }: Context): Create =>
  (body, idempotencyKey, from = shop) =>
    send({ body, from, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });

// What each field means, row by row of contract 2.1, is in table-2-1.test.ts.
describeOperation('createPayment', {
  201: (context) => {
    const create = creating(context);

    it('answers a hosted payment with its id and page, and no payment object (contract 2.2)', async () => {
      const { status, data } = await create(HOSTED);
      expect(status).toBe(201);
      expect(Object.keys(data)).toEqual(['paymentUid', 'paymentUrl']);
      expect(data.paymentUrl).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/p/${data.paymentUid}$`));
    });

    it('answers an API payment with the whole public object, the amount byte for byte (contract 4.1, decisions 1)', async () => {
      const { status, data } = await create({ ...API, amount: '10.500' });
      expect(status).toBe(201);
      expect(data.payment).toMatchObject({ id: data.paymentUid, amount: '10.500', status: 'PENDING', checkoutMode: 'API', openAmount: false });
      const read = await context.service.ask('GET', `/api/v1/public/payments/${data.paymentUid}`);
      expect(read.data).toEqual(data.payment);
    });

    it('ignores unknown fields', async () => {
      expect((await create({ ...HOSTED, colour: 'blue', paymentUid: 'x', whatIf: 5, status: 'SUCCESS' })).status).toBe(201);
    });

    it('creates one payment for 50 identical requests at once', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => create(HOSTED, 'order-2')));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
    });
  },

  403: (context) => {
    const create = creating(context);

    it('refuses a platform-billed gateway for calling it at all, whatever it sends (contract 2.1, decisions 8)', async () => {
      const from = await context.service.aShop({ billing: 'PLATFORM', openAmount: { enabled: true } });
      for (const sending of [{ body: HOSTED }, { body: {} }, { raw: '{' }, { raw: '' }, { body: API, idempotencyKey: 'x'.repeat(256) }]) {
        const { status, error } = await context.send({ ...sending, from });
        expect([status, error.code, error.message]).toEqual([403, 'forbidden', 'This gateway creates open-amount payments only.']);
      }
    });

    it('refuses API mode from an address off the allowlist and names it (contract 5.7)', async () => {
      const elsewhere = await context.service.aShop({ apiAllowlist: ['203.0.113.0/24'] });
      const { status, error } = await create(API, undefined, elsewhere);
      expect([status, error.code]).toEqual([403, 'forbidden']);
      expect(error.message).toContain('127.0.0.1');
    });
  },

  422: (context) => {
    const create = creating(context);
    const cases: [string, string, Record<string, unknown>][] = [
      ['currencyCode', 'missing', { ...HOSTED, currencyCode: undefined }],
      ['amount', 'missing', { ...HOSTED, amount: undefined }],
      ['amount', 'a JSON number', { ...HOSTED, amount: 10 }],
      ['type', 'unknown', { ...HOSTED, type: 'LINK' }],
      ['checkoutMode', 'unknown', { ...HOSTED, checkoutMode: 'hosted' }],
      ['callbackUrl', 'missing in HOSTED', { ...HOSTED, callbackUrl: undefined }],
      ['callbackUrl', 'sent in API mode', { ...API, callbackUrl: 'https://shop.example' }],
      ['webhookUrl', 'missing in API mode', { ...API, webhookUrl: undefined }],
      ['assets[0].assetPriceUsd', 'missing', { ...HOSTED, assets: [{ assetId: '00000000-0000-4000-8000-000000000000' }] }],
      ['assets[1]', 'not an object', { ...HOSTED, assets: [{ assetId: '00000000-0000-4000-8000-000000000000', assetPriceUsd: '1' }, 'USDT'] }],
      ['webhookParams.note', 'text no database holds', { ...HOSTED, webhookParams: { note: 'a\u0000b' } }],
      ['webhookParams.a.b', 'text no database holds, inside', { ...HOSTED, webhookParams: { a: { b: '\ud800' } } }],
    ];
    it.each(cases)('names %s when it is %s', async (field, _how, body) => {
      const { status, error } = await create(body);
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message.split(': ')[0]).toBe(field);
    });

    it('names checkoutMode when API mode has no allowlist (contract 4.1)', async () => {
      const bare = await context.service.aShop({ apiAllowlist: [] });
      expect((await create(API, undefined, bare)).error.message).toMatch(/^checkoutMode: /);
    });

    it('says so when there is nothing to offer', async () => {
      const none = await context.service.aShop({ assetIds: [] });
      expect((await create(HOSTED, undefined, none)).error.message).toMatch(/^assets: /);
    });

    it('keeps no failure: the key of a refused request creates the payment once the request is right', async () => {
      expect((await create({ ...HOSTED, amount: '0' }, 'order-9')).status).toBe(422);
      const { status, headers } = await create(HOSTED, 'order-9');
      expect([status, headers.get('idempotency-replayed')]).toEqual([201, null]);
    });
  },

  503: (context) => {
    const { service, send } = context;
    /** An api whose prices are those of these tickers. */
    const pricing = (known: readonly string[]) =>
      listen({ ...service.deps, prices: { fresh: async (symbol) => (known.includes(symbol) ? service.deps.prices.fresh(symbol) : undefined) } });

    it('asks to come back, and says when, while nothing that could be offered has a fresh price (decisions 2)', async () => {
      const dark = await pricing([]);
      const { status, error, headers } = await send({ body: HOSTED, through: dark.ask });
      expect([status, error.code]).toEqual([503, 'service_unavailable']);
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      await dark.close();
    });

    it('also when what has a price is left out for another reason, and not once every asset has one', async () => {
      const tiny = { ...HOSTED, amount: '0.000000000000000001' };
      const partly = await pricing(['USDT']);
      const answer = await send({ body: tiny, through: partly.ask });
      expect([answer.status, answer.error.code]).toEqual([503, 'service_unavailable']);
      await partly.close();
      const lit = await send({ body: tiny });
      expect([lit.status, lit.error.message.split(': ')[0]]).toEqual([422, 'amount']);
    });

    it('creates it with what has a price, however much has none', async () => {
      const partly = await pricing(['USDT']);
      expect((await send({ body: HOSTED, through: partly.ask })).status).toBe(201);
      await partly.close();
    });
  },
});
