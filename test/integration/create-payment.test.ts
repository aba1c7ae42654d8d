import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { publicPayment, statusOnly } from '#api/payments/view.ts';
import { setNetworkPaused } from '#api/store/networks.ts';
import { deletePrice } from '#api/store/prices.ts';
import type { AssetConfig } from '#shared/core/assets.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;

beforeAll(async () => {
  world = await inProcess();
  shop = await world.aGateway();
});
afterAll(async () => {
  try {
    await assertCleanAudit(world.database);
  } finally {
    await world.stop();
  }
});

const hosted: CreatePaymentBody = { currencyCode: 'USD', amount: '49.90', callbackUrl: 'http://localhost:4242/thanks' };
const api: CreatePaymentBody = { currencyCode: 'USD', amount: '49.90', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook' };

interface PublicPayment extends Record<string, unknown> {
  id: string;
  offers: Record<string, string>[];
}
interface Created {
  paymentUid: string;
  paymentUrl: string;
  payment?: PublicPayment;
}

async function create(body: CreatePaymentBody, options: { gateway?: Gateway; clientIp?: string } = {}): Promise<Created> {
  const reply = await createPayment(world.deps, {
    gateway: options.gateway ?? shop,
    body,
    clientIp: options.clientIp ?? '127.0.0.1',
    commit: plainCommit(world.deps),
  });
  expect(reply.status).toBe(201);
  return reply.data as Created;
}

async function row(id: string): Promise<Record<string, unknown>> {
  const [found] = await world.database.sql`select *, expires_at::text as expires_text from payments where id = ${id}`;
  return found as Record<string, unknown>;
}

function offerIn(payment: PublicPayment | undefined, symbol: string): Record<string, string> {
  return payment?.offers.find((offer) => offer.assetSymbol === symbol) as Record<string, string>;
}

describe('a hosted payment', () => {
  it('answers the uid and the checkout URL, and no payment object', async () => {
    const created = await create(hosted);
    expect(Object.keys(created)).toEqual(['paymentUid', 'paymentUrl']);
    expect(created.paymentUrl).toBe(`http://127.0.0.1:3001/p/${created.paymentUid}`);
    expect(await statusOnly(world.deps, { paymentId: created.paymentUid, clientIp: '203.0.113.9' })).toEqual({
      paymentUid: created.paymentUid,
      status: 'PENDING',
      isVerified: false,
      verifiedAt: null,
    });
  });

  it('needs no webhookUrl and keeps callbackParams and webhookParams as sent', async () => {
    const { paymentUid } = await create({ ...hosted, callbackParams: { order: 'A-1', nested: { a: [1] } }, webhookParams: { cart: 7 }, language: 'de' });
    expect(await row(paymentUid)).toMatchObject({
      webhookUrl: null,
      callbackParams: { order: 'A-1', nested: { a: [1] } },
      webhookParams: { cart: 7 },
      language: 'de',
    });
  });

  it('may be created from any source address', async () => {
    await create(hosted, { clientIp: '198.51.100.7' });
  });
});

describe('an API-mode payment', () => {
  it('embeds the public payment object, complete', async () => {
    const { payment, paymentUid } = await create({ ...api, currencyCode: 'usd' });
    expect(payment).toMatchObject({
      id: paymentUid,
      status: 'PENDING',
      checkoutMode: 'API',
      amount: '49.90',
      amountUsd: '49.90',
      currencyCode: 'USD',
      timeoutSeconds: 3600,
      openAmount: false,
      isSandbox: false,
      language: null,
      txFeePayer: 'MERCHANT',
      commissionFeePayer: 'MERCHANT',
      selectedOfferId: null,
    });
    for (const absent of ['paidAssetId', 'paidAssetSymbol', 'txHash', 'receivedAmount', 'explorerTxUrl', 'minAmountUsd'])
      expect(payment).not.toHaveProperty(absent);
    expect(Date.parse(payment?.expiresAt as string) - Date.parse(payment?.createdAt as string)).toBe(3_600_000);
    expect(payment?.offers.map((offer) => offer.assetSymbol)).toEqual(['ETH', 'USDC', 'USDT']);
    const usdt = offerIn(payment, 'USDT');
    expect(usdt).toMatchObject({
      assetId: world.assets.USDT?.id,
      assetNetwork: 'ethereum',
      assetPriceUsd: '1',
      amount: '49.9',
      txFee: '0',
      commissionFee: '0',
      totalValue: '49.9',
      assetDecimals: 6,
      assetType: 'ERC20',
      networkId: world.network.id,
      contractAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    });
    expect(usdt).not.toHaveProperty('depositAddress');
    expect(offerIn(payment, 'ETH')).toMatchObject({ amount: '0.01996', contractAddress: null, assetType: 'NATIVE' });
  });

  it.each<[string, CreatePaymentBody, Partial<Record<string, unknown>>, string | RegExp]>([
    ['callbackUrl sent', { ...api, callbackUrl: 'https://shop.example/' }, {}, /^callbackUrl: /],
    ['webhookUrl missing', { ...api, webhookUrl: undefined }, {}, /^webhookUrl: /],
    ['webhookUrl null', { ...api, webhookUrl: null }, {}, /^webhookUrl: /],
    ['allowlist empty', api, { apiAllowlist: [] }, /^checkoutMode: /],
  ])('is refused with 422 when %s', async (_, body, settings, message) => {
    const gateway = { ...shop, settings: { ...shop.settings, ...settings } } as Gateway;
    await expect(create(body, { gateway })).rejects.toMatchObject({ code: 'validation_error', message: expect.stringMatching(message) });
  });

  it('is refused with 403 echoing the address when the caller is not on the allowlist', async () => {
    await expect(create(api, { clientIp: '198.51.100.7' })).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('198.51.100.7') });
    const ranged = { ...shop, settings: { ...shop.settings, apiAllowlist: ['198.51.100.0/24'] } };
    await create(api, { clientIp: '198.51.100.7', gateway: ranged });
  });

  it('reads a null callbackUrl as not sent', async () => {
    await create({ ...api, callbackUrl: null });
  });
});

describe('every field that cannot be used is a 422 naming it', () => {
  it.each<[string, Partial<CreatePaymentBody>]>([
    ['currencyCode', { currencyCode: 'XXX' }],
    ['currencyCode', { currencyCode: '' }],
    ['amount', { amount: '0' }],
    ['amount', { amount: '0.000' }],
    ['amount', { amount: '-1' }],
    ['amount', { amount: '+1' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: ' 1' }],
    ['amount', { amount: '01' }],
    ['amount', { amount: '.5' }],
    ['amount', { amount: '1.' }],
    ['amount', { amount: '١' }],
    ['amount', { amount: 'NaN' }],
    ['amount', { amount: 'Infinity' }],
    ['amount', { amount: '0.0000000000000000001' }],
    ['amount', { amount: '9'.repeat(39) }],
    ['amount', { amount: '9'.repeat(1_000_000) }],
    ['amount', { amount: '9'.repeat(38), currencyCode: 'GBP' }],
    ['paylinkId', { type: 'PAYLINK' }],
    ['paylinkId', { type: 'PAYLINK', paylinkId: 'abc' }],
    ['callbackUrl', { callbackUrl: undefined }],
    ['callbackUrl', { callbackUrl: '/relative' }],
    ['callbackUrl', { callbackUrl: 'shop.example/thanks' }],
    ['callbackUrl', { callbackUrl: 'javascript:alert(1)' }],
    ['callbackUrl', { callbackUrl: 'data:text/html,x' }],
    ['callbackUrl', { callbackUrl: 'ftp://shop.example/' }],
    ['callbackUrl', { callbackUrl: 'https://' }],
    ['callbackUrl', { callbackUrl: 'https://shop.example/\r\nSet-Cookie: a=b' }],
    ['callbackUrl', { callbackUrl: 'java\nscript://shop.example' }],
    ['webhookUrl', { webhookUrl: 'ftp://shop.example/' }],
    ['webhookUrl', { webhookUrl: 'https://user:secret@shop.example/' }],
    ['webhookUrl', { webhookUrl: 'not a url' }],
    ['webhookUrl', { webhookUrl: 'http://169.254.169.254/latest/meta-data' }],
    ['webhookUrl', { webhookUrl: 'http://shop.example:22/' }],
    ['overAcceptableDiff', { overAcceptableDiff: 'many' }],
    ['overAcceptableDiff', { overAcceptableDiff: '--1' }],
    ['overAcceptableDiff', { overAcceptableDiff: '-' }],
    ['underAcceptableDiff', { underAcceptableDiff: '1e2' }],
    ['assets', { assets: [] }],
    ['assets[0].assetId', { assets: [{ assetId: '00000000-0000-4000-8000-000000000000', assetPriceUsd: '1' }] }],
    ['assets[0].assetId', { assets: [{ assetId: 'USDT', assetPriceUsd: '1' }] }],
  ])('%s: %j', async (field, body) => {
    await expect(create({ ...hosted, ...body })).rejects.toMatchObject({
      code: 'validation_error',
      status: 422,
      field,
      message: expect.stringMatching(new RegExp(`^${field.replace(/[[\]]/g, '\\$&')}: `)),
    });
  });

  it('an override listed twice, and one without a usable price', async () => {
    const assetId = world.assets.USDT?.id as string;
    const twice = [
      { assetId, assetPriceUsd: '1' },
      { assetId: assetId.toUpperCase(), assetPriceUsd: '1' },
    ];
    await expect(create({ ...hosted, assets: twice })).rejects.toMatchObject({ field: 'assets[1].assetId' });
    await expect(create({ ...hosted, assets: [{ assetId, assetPriceUsd: '0' }] })).rejects.toMatchObject({ field: 'assets[0].assetPriceUsd' });
    await expect(create({ ...hosted, assets: [{ assetId, assetPriceUsd: '-1' }] })).rejects.toMatchObject({ field: 'assets[0].assetPriceUsd' });
  });

  it('writes nothing when it refuses', async () => {
    const [before] = await world.database.sql`select count(*) as n from payments`;
    await expect(create({ ...hosted, webhookUrl: 'nope' })).rejects.toThrow();
    expect((await world.database.sql`select count(*) as n from payments`)[0]).toEqual(before);
  });
});

describe('defaults and overrides', () => {
  it('an amount is echoed byte for byte', async () => {
    const { payment } = await create({ ...api, amount: '10.500000000000000000' });
    expect(payment?.amount).toBe('10.500000000000000000');
  });

  it('a currency is priced at the fiat rate of creation', async () => {
    const { payment } = await create({ ...api, currencyCode: 'eur', amount: '100' });
    expect(payment).toMatchObject({ currencyCode: 'EUR', amount: '100', amountUsd: '108.00' });
    expect(offerIn(payment, 'USDT').totalValue).toBe('108');
  });

  it('a currency without a current rate is a 422', async () => {
    await world.setPrice('fiat:JPY', '0.007', 'kraken');
    await world.advance(121);
    await expect(create({ ...hosted, currencyCode: 'JPY' })).rejects.toMatchObject({ field: 'currencyCode' });
  });

  it('timeoutSeconds at or below zero is an hour', async () => {
    for (const timeoutSeconds of [0, -1, -1e15, null]) {
      const { payment } = await create({ ...api, timeoutSeconds });
      expect(payment?.timeoutSeconds).toBe(3600);
    }
  });

  it('a timeout beyond what a timer or a date can hold neither expires at once nor overflows (trap I)', async () => {
    for (const timeoutSeconds of [2_592_000, 2 ** 31, 8e9, 253_402_300_800, Number.MAX_SAFE_INTEGER, 1e21, 1e300]) {
      const { paymentUid, payment } = await create({ ...api, timeoutSeconds });
      const expires = Date.parse(payment?.expiresAt as string);
      expect(expires).toBeGreaterThan(Date.now() + 2_000_000_000);
      if (timeoutSeconds > 8e9) expect(payment?.expiresAt).toBe('9999-12-31T23:59:59.000Z');
      expect((await row(paymentUid)).status).toBe('PENDING');
    }
  });

  it('PAYLINK keeps its id, DIRECT ignores one', async () => {
    const paylinkId = '3f0d7c3a-3f8a-4c6e-9f3b-0a5b2f7b8c11';
    expect(await row((await create({ ...hosted, type: 'PAYLINK', paylinkId })).paymentUid)).toMatchObject({ type: 'PAYLINK', paylinkId: paylinkId });
    expect(await row((await create({ ...hosted, type: 'DIRECT', paylinkId })).paymentUid)).toMatchObject({ type: 'DIRECT', paylinkId: null });
    expect(await row((await create({ ...hosted, paylinkId: 'anything' })).paymentUid)).toMatchObject({ type: 'DIRECT', paylinkId: null });
  });

  it('tolerances: negative and zero mean none, the rest is kept with its kind', async () => {
    const none = await create({ ...hosted, overAcceptableDiff: '-5.5', underAcceptableDiff: '0' });
    expect(await row(none.paymentUid)).toMatchObject({ overTolerance: '0', underTolerance: '0', toleranceKind: 'ABSOLUTE', checkAmountDeviation: true });
    const some = await create({
      ...hosted,
      overAcceptableDiff: '1.25',
      underAcceptableDiff: '2',
      acceptableDiffKind: 'PERCENTAGE',
      checkAmountDeviation: false,
    });
    expect(await row(some.paymentUid)).toMatchObject({
      overTolerance: '1.25',
      underTolerance: '2',
      toleranceKind: 'PERCENTAGE',
      checkAmountDeviation: false,
    });
  });

  it("the gateway's settings are what an absent field means", async () => {
    const gateway = await world.aGateway({
      settings: {
        txFeePayer: 'CUSTOMER',
        commissionFeePayer: 'CUSTOMER',
        commissionBps: 100,
        overAcceptableDiff: '3',
        underAcceptableDiff: '1',
        acceptableDiffKind: 'PERCENTAGE',
        checkAmountDeviation: false,
        lateCaptureGraceSeconds: 60,
      },
    });
    const { paymentUid, payment } = await create({ ...api, amount: '100' }, { gateway });
    expect(await row(paymentUid)).toMatchObject({
      overTolerance: '3',
      underTolerance: '1',
      toleranceKind: 'PERCENTAGE',
      checkAmountDeviation: false,
      commissionBps: 100,
      graceSeconds: 60,
    });
    expect(payment).toMatchObject({ txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER' });
    expect(offerIn(payment, 'USDT')).toMatchObject({ amount: '100', txFee: '0.5', commissionFee: '1', totalValue: '101.5' });
    const overridden = await create({ ...api, amount: '100', txFeePayer: 'MERCHANT', commissionFeePayer: 'MERCHANT', checkAmountDeviation: true }, { gateway });
    expect(offerIn(overridden.payment, 'USDT')).toMatchObject({ txFee: '0', commissionFee: '0', totalValue: '100' });
    expect(await row(overridden.paymentUid)).toMatchObject({ checkAmountDeviation: true });
  });

  it('what the payer must send is rounded up at as few decimals as are fine enough for it, or as the deployment says', async () => {
    const { payment } = await create({ ...api, amount: '10', assets: [{ assetId: world.assets.USDT?.id as string, assetPriceUsd: '3' }] });
    expect(payment?.offers).toHaveLength(1);
    expect(offerIn(payment, 'USDT')).toMatchObject({ assetPriceUsd: '3', amount: '3.334', totalValue: '3.334' });
    const usdt = world.network.config.assets.find(({ symbol }) => symbol === 'USDT') as AssetConfig;
    usdt.quoteDecimals = 5;
    const again = await create({ ...api, amount: '10', assets: [{ assetId: world.assets.USDT?.id as string, assetPriceUsd: '3' }] });
    expect(offerIn(again.payment, 'USDT')).toMatchObject({ amount: '3.33334', totalValue: '3.33334' });
    delete usdt.quoteDecimals;
  });

  it('a commission minimum applies when the rate gives less', async () => {
    const gateway = await world.aGateway({ settings: { commissionFeePayer: 'CUSTOMER', commissionBps: 50, commissionMinUsd: '0.30' } });
    const { payment } = await create({ ...api, amount: '10' }, { gateway });
    expect(offerIn(payment, 'USDC')).toMatchObject({ commissionFee: '0.3', totalValue: '10.3' });
  });

  it("only the gateway's enabled assets are offered, in its restriction and in overrides", async () => {
    const gateway = await world.aGateway({ assetIds: [world.assets.USDC?.id] });
    const { payment } = await create(api, { gateway });
    expect(payment?.offers.map((offer) => offer.assetSymbol)).toEqual(['USDC']);
    await expect(create({ ...api, assets: [{ assetId: world.assets.USDT?.id as string, assetPriceUsd: '1' }] }, { gateway })).rejects.toMatchObject({
      field: 'assets[0].assetId',
    });
  });
});

describe('billing', () => {
  it('a monthly-billed gateway reports PLATFORM for both fees, whatever the request says', async () => {
    const gateway = await world.aGateway({ billing: 'MONTHLY', settings: { commissionBps: 200 } });
    const { payment } = await create({ ...api, txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER' }, { gateway });
    expect(payment).toMatchObject({ txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' });
    expect(offerIn(payment, 'USDT')).toMatchObject({ txFee: '0', commissionFee: '0', totalValue: '49.9' });
  });

  it('a platform-billed gateway may not create fixed-amount payments: 403 before anything else', async () => {
    const gateway = await world.aGateway({ billing: 'PLATFORM' });
    await expect(create({ ...hosted, amount: 'nonsense' }, { gateway })).rejects.toMatchObject({ code: 'forbidden', status: 403 });
  });
});

describe('prices', () => {
  it('an asset without a fresh price is left out; with none left the payment has to wait; an override needs none', async () => {
    const world2 = await inProcess();
    try {
      const gateway = await world2.aGateway();
      const attempt = async (body: CreatePaymentBody) =>
        (await createPayment(world2.deps, { gateway, body, clientIp: '127.0.0.1', commit: plainCommit(world2.deps) })).data as Created;
      await world2.setPrice('ETH', '2000', 'kraken');
      expect((await attempt(api)).payment?.offers).toHaveLength(3);
      await world2.advance(121);
      expect((await attempt(api)).payment?.offers.map((offer) => offer.assetSymbol)).toEqual(['USDC', 'USDT']);
      await world2.deps.db.transaction(async (tx) => {
        await deletePrice(tx, 'USDC');
        await deletePrice(tx, 'USDT');
      });
      await expect(attempt(api)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: expect.any(Number) });
      const overridden = await attempt({ ...api, assets: [{ assetId: world2.assets.ETH?.id as string, assetPriceUsd: '1000' }] });
      expect(overridden.payment?.offers).toMatchObject([{ assetSymbol: 'ETH', assetPriceUsd: '1000', amount: '0.0499' }]);
      await world2.deps.db.transaction((tx) => setNetworkPaused(tx, 'ethereum', true));
      await expect(attempt({ ...api, assets: [{ assetId: world2.assets.ETH?.id as string, assetPriceUsd: '1000' }] })).rejects.toMatchObject({
        code: 'validation_error',
      });
    } finally {
      await world2.stop();
    }
  });

  it('an asset of a network that this deployment no longer serves is not offered, because nobody could give it an address', async () => {
    const deps = { ...world.deps, chains: new Map() };
    for (const body of [api, { ...api, assets: [{ assetId: world.assets.USDT?.id as string, assetPriceUsd: '1' }] }])
      await expect(createPayment(deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(deps) })).rejects.toMatchObject({ field: 'assets' });
  });

  it('of a payment stay what they were when it was created, with their source and time, whatever the market does', async () => {
    const { payment, paymentUid } = await create({ ...api, currencyCode: 'EUR' });
    const [before] = await world.database.sql`select * from payments where id = ${paymentUid}`;
    await world.setPrice('ETH', '1', 'elsewhere');
    await world.setPrice('fiat:EUR', '2', 'elsewhere');
    expect((await publicPayment(world.deps, { paymentId: paymentUid, clientIp: '127.0.0.1' })) as object).toEqual(payment);
    expect(before).toMatchObject({ fiatRate: '1.08', fiatSource: 'static' });
    const offers = await world.database.sql`select price_source, price_at from payment_offers where payment_id = ${paymentUid}`;
    for (const { priceSource, priceAt } of offers) {
      expect(priceSource).toBe('static');
      const age = before?.createdAt.getTime() - priceAt.getTime();
      expect([age >= 0, age < 60_000]).toEqual([true, true]);
    }
  });
});
