import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { aService, callerOf, listen, type Listening, type Service, type Shop } from './service.ts';

// Contract table 2.1, row by row and rule by rule: every name begins with the line it proves.

let service: Service;
let shop: Shop;
/** A gateway whose every setting is something else than the default. */
let tuned: Shop;
let production: Listening;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  tuned = await service.aShop({
    settings: {
      txFeePayer: 'CUSTOMER',
      commissionFeePayer: 'CUSTOMER',
      commissionBps: 100,
      overAcceptableDiff: '3',
      underAcceptableDiff: '1',
      acceptableDiffKind: 'PERCENTAGE',
      checkAmountDeviation: false,
    },
  });
  production = await listen({ ...service.deps, config: { ...service.deps.config, NODE_ENV: 'production', privateWebhookTargets: false } });
});
afterAll(async () => {
  await production.close();
  await service.stop();
});

type Body = Record<string, unknown>;
interface PublicPayment extends Body {
  offers: Record<string, string>[];
}

const HOSTED = { currencyCode: 'USD', amount: '100', callbackUrl: 'https://shop.example/thanks' };
const API = { currencyCode: 'USD', amount: '100', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
const PAYLINK_ID = '3f0d7c3a-3f8a-4c6e-9f3b-0a5b2f7b8c11';
const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';

const create = (body: Body, from = shop): Promise<Answer> => from.call('POST', '/payments', { body });

async function created(body: Body, from = shop): Promise<Body> {
  const { status, data, text } = await create(body, from);
  expect(status, text).toBe(201);
  return data;
}

/** The public object of an API-mode payment made of this body. */
async function payment(body: Body, from = shop): Promise<PublicPayment> {
  return (await created({ ...API, ...body }, from)).payment as PublicPayment;
}

/** What is stored of a hosted payment made of this body. */
async function stored(body: Body, from = shop): Promise<Body> {
  const { paymentUid } = await created({ ...HOSTED, ...body }, from);
  return (await service.world.database.sql`select * from payments where id = ${String(paymentUid)}`)[0] as Body;
}

async function refused(field: string, body: Body, from = shop): Promise<void> {
  const { status, error, text } = await create(body, from);
  expect([status, error?.code], `${JSON.stringify(body).slice(0, 200)} gave ${text.slice(0, 200)}`).toEqual([422, 'validation_error']);
  expect(error.message.split(': ')[0]).toBe(field);
}

/** The status that a deposit of so many USDT would resolve a payment of this body to. */
async function wouldBe(amount: string, body: Body, from = shop): Promise<unknown> {
  const whatIf = { assetId: id('USDT'), amount };
  const { status, data, text } = await from.call('POST', '/payments/preview', { body: { ...HOSTED, ...body, whatIf } });
  expect(status, text).toBe(200);
  return (data.whatIf as Body).status;
}

/** What the operator says, each change of which leaves a line in the audit log. */
function operator(method: string, path: string, body?: Body): Promise<Answer> {
  return service.ask(method, `/operator/v1${path}`, { headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` }, ...(body && { body }) });
}

describe('2.1 currencyCode', () => {
  it('2.1 currencyCode: required', async () => {
    await refused('currencyCode', { ...HOSTED, currencyCode: undefined });
    await refused('currencyCode', { ...HOSTED, currencyCode: null });
  });

  it('2.1 currencyCode: case-insensitive', async () => {
    for (const currencyCode of ['EUR', 'eur', 'eUr']) expect(await payment({ currencyCode })).toMatchObject({ currencyCode: 'EUR', amountUsd: '108.00' });
  });

  it('2.1 currencyCode: unknown code gives 422', async () => {
    for (const currencyCode of ['XXX', 'USDT', 'ZZZ', 'U$D', 'US', 'USDD', '', ' USD', 'USD ', 'usd\u0000', 'fiat:USD', '840', "USD'--"])
      await refused('currencyCode', { ...HOSTED, currencyCode });
    // Letters of other alphabets whose capitals are Latin: they must not become one.
    for (const currencyCode of ['u\u017fd', '\u0131nr', 'K\u212aD', 'ＵＳＤ']) await refused('currencyCode', { ...HOSTED, currencyCode });
    for (const currencyCode of [840, true, ['USD'], { code: 'USD' }]) await refused('currencyCode', { ...HOSTED, currencyCode });
  });

  it('2.1 currencyCode: inactive code gives 422, and works again once an operator switches it on', async () => {
    await service.world.setPrice('fiat:HRK', '0.14');
    await refused('currencyCode', { ...HOSTED, currencyCode: 'HRK' });
    expect((await operator('PUT', '/currencies/hrk', { active: true, reason: 'asked for' })).data).toEqual({ code: 'HRK', active: true });
    expect(await payment({ currencyCode: 'hrk' })).toMatchObject({ amountUsd: '14.00' });
    await operator('PUT', '/currencies/HRK', { active: false });
    await refused('currencyCode', { ...HOSTED, currencyCode: 'HRK' });
    const { items } = (await operator('GET', '/currencies')).data as { items: { code: string; active: boolean }[] };
    expect(items).toContainEqual({ code: 'HRK', active: false });
    expect(items.filter(({ active }) => active).length).toBeGreaterThan(100);
    expect((await operator('PUT', '/currencies/XXX', { active: true })).status).toBe(404);
    expect((await operator('PUT', '/currencies/HRK', { active: 'yes' })).error.message).toMatch(/^active: /);
  });

  it('2.1 currencyCode: a currency without a current rate gives 422', async () => {
    await refused('currencyCode', { ...HOSTED, currencyCode: 'XPF' });
  });

  it('2.1 currencyCode: the rate of creation is kept with its source and time, and none for the dollar', async () => {
    expect(await stored({ currencyCode: 'JPY' })).toMatchObject({ amountUsd: '0.67', fiatRate: '0.0067', fiatSource: 'static', fiatAt: expect.any(Date) });
    expect(await stored({})).toMatchObject({ amountUsd: '100', fiatRate: null, fiatSource: null, fiatAt: null });
  });
});

describe('2.1 amount', () => {
  it('2.1 amount: required', async () => {
    await refused('amount', { ...HOSTED, amount: undefined });
    await refused('amount', { ...HOSTED, amount: null });
  });

  it('2.1 amount: in currencyCode units, echoed byte for byte', async () => {
    for (const amount of ['10', '10.5', '10.50', '10.500000000000000000', '0.100000000000000001', '12345678901234567890.123456789012345678'])
      expect(await payment({ amount, assets: [{ assetId: id('USDT'), assetPriceUsd: '1' }] })).toMatchObject({ amount });
  });

  it('2.1 amount: a currency without minor units takes decimals like any other', async () => {
    expect(await payment({ currencyCode: 'JPY', amount: '1000.55' })).toMatchObject({ amount: '1000.55', amountUsd: '6.70' });
  });

  it.each([
    ...[
      '0',
      '0.0',
      '0.000000000000000000',
      '-0',
      '-1',
      '+1',
      '1e3',
      '1E3',
      ' 1',
      '1 ',
      '01',
      '00',
      '1.',
      '.5',
      '.',
      '',
      '1,5',
      '1_000',
      '0x10',
      '١٢',
      '１',
      'NaN',
      'Infinity',
    ],
    ...['0.0000000000000000001', '1'.repeat(39), '9'.repeat(1_000), `1.${'0'.repeat(60)}`, '1.5\n', '1\u00a0'],
    ...[10, 0.1, true, ['10'], { value: '10' }],
  ])('2.1 amount: %j gives 422', async (amount) => {
    await refused('amount', { ...HOSTED, amount });
  });

  it('2.1 amount: too small or too large for every asset gives 422', async () => {
    await refused('amount', { ...HOSTED, amount: '0.000000000000000001' });
    await refused('amount', { ...HOSTED, amount: '9'.repeat(38), currencyCode: 'KWD' });
    await refused('amount', { ...HOSTED, amount: '9'.repeat(38), assets: [{ assetId: id('ETH'), assetPriceUsd: '0.000000000000000001' }] });
    expect((await payment({ amount: '9'.repeat(38) })).offers.map((offer) => offer.assetSymbol)).toContain('ETH');
  });
});

describe('2.1 type and paylinkId', () => {
  it('2.1 type: default DIRECT', async () => {
    expect(await stored({})).toMatchObject({ type: 'DIRECT', paylinkId: null });
    expect(await stored({ type: null })).toMatchObject({ type: 'DIRECT' });
  });

  it('2.1 type: PAYLINK keeps the link it was created from', async () => {
    expect(await stored({ type: 'PAYLINK', paylinkId: PAYLINK_ID })).toMatchObject({ type: 'PAYLINK', paylinkId: PAYLINK_ID });
  });

  it('2.1 type: another value gives 422', async () => {
    for (const type of ['LINK', 'direct', '', 1, false]) await refused('type', { ...HOSTED, type });
  });

  it('2.1 paylinkId: PAYLINK without one gives 422 (decisions 9)', async () => {
    await refused('paylinkId', { ...HOSTED, type: 'PAYLINK' });
    await refused('paylinkId', { ...HOSTED, type: 'PAYLINK', paylinkId: null });
    for (const paylinkId of ['', 'x', `${PAYLINK_ID}0`, `{${PAYLINK_ID}}`]) await refused('paylinkId', { ...HOSTED, type: 'PAYLINK', paylinkId });
  });

  it('2.1 paylinkId: default null, and ignored with DIRECT whatever it is (decisions 9)', async () => {
    for (const body of [{ paylinkId: PAYLINK_ID }, { type: 'DIRECT', paylinkId: PAYLINK_ID }, { paylinkId: 'not a UUID' }, { paylinkId: null }])
      expect(await stored(body)).toMatchObject({ type: 'DIRECT', paylinkId: null });
  });
});

describe('2.1 checkoutMode', () => {
  it('2.1 checkoutMode: default HOSTED', async () => {
    expect(await stored({})).toMatchObject({ checkoutMode: 'HOSTED' });
    expect(await stored({ checkoutMode: null })).toMatchObject({ checkoutMode: 'HOSTED' });
  });

  it('2.1 checkoutMode: an invalid value gives 422', async () => {
    for (const checkoutMode of ['hosted', 'api', 'PAGE', '', 0, ['API']]) await refused('checkoutMode', { ...HOSTED, checkoutMode });
  });

  it('2.1 checkoutMode: API needs a configured server-IP allowlist, before anything else of the request', async () => {
    const bare = await service.aShop({ apiAllowlist: [] });
    await refused('checkoutMode', API, bare);
    await refused('checkoutMode', { ...API, callbackUrl: 'https://shop.example', webhookUrl: undefined }, bare);
  });
});

describe('2.1 callbackUrl', () => {
  it('2.1 callbackUrl: required in HOSTED', async () => {
    await refused('callbackUrl', { ...HOSTED, callbackUrl: undefined });
    await refused('callbackUrl', { ...HOSTED, callbackUrl: null });
  });

  it('2.1 callbackUrl: forbidden in API', async () => {
    await refused('callbackUrl', { ...API, callbackUrl: 'https://shop.example/thanks' });
    expect(await stored({ ...API, callbackUrl: null })).toMatchObject({ callbackUrl: null });
  });

  it.each([
    ...[
      '',
      '/thanks',
      'thanks',
      'shop.example',
      '//shop.example',
      'https:shop.example',
      'https://',
      'http:///x',
      'ftp://shop.example',
      'javascript:alert(1)',
      'data:text/html,x',
    ],
    ...[
      'https://shop.example/\r\nSet-Cookie: a',
      'https://shop.example/a b',
      'java\nscript://x',
      'https://shop.example\\@evil.example',
      'https://[::1',
      'https://a:99999/',
    ],
    ...[`https://shop.example/${'a'.repeat(2_048)}`, 1, {}, ['https://shop.example']],
  ])('2.1 callbackUrl: must be an absolute http or https URL, and %j is none', async (callbackUrl) => {
    await refused('callbackUrl', { ...HOSTED, callbackUrl });
  });

  it('2.1 callbackUrl: kept as it was sent', async () => {
    for (const callbackUrl of ['https://shop.example', 'HTTPS://Shop.Example/A?b=%20c#d', 'https://bücher.example/ü?x=1', 'http://[::1]:3000/'])
      expect(await stored({ callbackUrl })).toMatchObject({ callbackUrl: callbackUrl });
  });

  it('2.1 callbackUrl: localhost allowed in any environment', async () => {
    const live = callerOf(production.ask, shop);
    for (const callbackUrl of ['http://localhost/thanks', 'http://localhost:3000', 'http://127.0.0.1:8080/x', 'http://[::1]/'])
      for (const from of [shop, live]) expect((await from.call('POST', '/payments', { body: { ...HOSTED, callbackUrl } })).status).toBe(201);
  });
});

describe('2.1 callbackParams', () => {
  it('2.1 callbackParams: any JSON object, kept for the callback', async () => {
    const callbackParams = { order: 'A-1', n: 1.5, ok: true, none: null, nested: { a: [1, { b: 'ü' }] } };
    expect(await stored({ callbackParams })).toMatchObject({ callbackParams: callbackParams });
    expect(await stored({ callbackParams: {} })).toMatchObject({ callbackParams: {} });
    expect(await stored({})).toMatchObject({ callbackParams: null });
  });

  it('2.1 callbackParams: anything but an object gives 422', async () => {
    for (const callbackParams of [['a'], 'a=b', 1, true]) await refused('callbackParams', { ...HOSTED, callbackParams });
  });

  it('2.1 callbackParams: hosted mode only, so ignored in API whatever its size', async () => {
    expect(await stored({ ...API, callbackUrl: undefined, callbackParams: { a: 'x'.repeat(20_000) } })).toMatchObject({ callbackParams: null });
  });

  it('2.1 callbackParams: what no web server would take as a URL gives 422', async () => {
    const room = 8_000 - 'https://shop.example/thanks?a=&paymentUid=00000000-0000-4000-8000-000000000000&status=ACCEPTABLE'.length;
    expect((await create({ ...HOSTED, callbackParams: { a: 'x'.repeat(room) } })).status).toBe(201);
    await refused('callbackParams', { ...HOSTED, callbackParams: { a: 'x'.repeat(room + 1) } });
    // Three bytes of UTF-8, nine characters of a URL.
    await refused('callbackParams', { ...HOSTED, callbackParams: { a: '€'.repeat(Math.ceil(room / 9)) } });
  });

  it('2.1 callbackParams: echoed exactly, so a number of any size is taken', async () => {
    for (const field of ['callbackParams', 'webhookParams']) {
      const raw = (inner: string): string => JSON.stringify({ ...HOSTED, [field]: '?' }).replace('"?"', inner);
      for (const inner of ['{"a":{"b":[1,12345678901234567890]}}', '{"a":1e999,"b":-1e-999}'])
        expect((await shop.call('POST', '/payments', { raw: raw(inner) })).status).toBe(201);
    }
  });

  it('2.1 callbackParams: deeper than a body may be gives 400', async () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    expect((await create({ ...HOSTED, callbackParams: deep(7) })).status).toBe(201);
    expect((await create({ ...HOSTED, callbackParams: deep(8) })).error.code).toBe('malformed_json');
  });
});

describe('2.1 webhookUrl and webhookParams', () => {
  it('2.1 webhookUrl: optional in HOSTED', async () => {
    expect(await stored({})).toMatchObject({ webhookUrl: null });
    expect(await stored({ webhookUrl: null })).toMatchObject({ webhookUrl: null });
    expect(await stored({ webhookUrl: 'http://127.0.0.1:8099/hook' })).toMatchObject({ webhookUrl: 'http://127.0.0.1:8099/hook' });
  });

  it('2.1 webhookUrl: required in API', async () => {
    await refused('webhookUrl', { ...API, webhookUrl: undefined });
    await refused('webhookUrl', { ...API, webhookUrl: null });
  });

  it('2.1 webhookUrl: must be a URL that may be called', async () => {
    for (const webhookUrl of ['', '/hook', 'ftp://shop.example', 'https://user:pass@shop.example', 'http://169.254.169.254/', 'http://shop.example:22', 5, {}])
      await refused('webhookUrl', { ...HOSTED, webhookUrl });
  });

  it('2.1 webhookParams: any JSON object, stored with the payment', async () => {
    const webhookParams = { cart: 7, deep: { list: ['a', null] } };
    expect(await stored({ webhookParams })).toMatchObject({ webhookParams: webhookParams });
    expect(await stored({})).toMatchObject({ webhookParams: null });
    expect(await stored({ webhookParams: { note: 'x'.repeat(60_000) } })).toMatchObject({ webhookParams: { note: 'x'.repeat(60_000) } });
  });

  it('2.1 webhookParams: anything but an object gives 422', async () => {
    for (const webhookParams of [[], 'x', 0, false]) await refused('webhookParams', { ...HOSTED, webhookParams });
  });
});

describe('2.1 timeoutSeconds', () => {
  it('2.1 timeoutSeconds: omitted or <= 0 gives 3600', async () => {
    for (const timeoutSeconds of [undefined, null, 0, -0, -1, -1e15, -1e300]) {
      const { timeoutSeconds: given, createdAt, expiresAt } = await payment({ timeoutSeconds });
      expect(given).toBe(3600);
      expect(Date.parse(String(expiresAt)) - Date.parse(String(createdAt))).toBe(3_600_000);
    }
  });

  it('2.1 timeoutSeconds: a positive one is the validity window', async () => {
    for (const timeoutSeconds of [1, 60, 86_400]) {
      const { timeoutSeconds: given, createdAt, expiresAt } = await payment({ timeoutSeconds });
      expect(given).toBe(timeoutSeconds);
      expect(Date.parse(String(expiresAt)) - Date.parse(String(createdAt))).toBe(timeoutSeconds * 1_000);
    }
  });

  it('2.1 timeoutSeconds: no upper bound is enforced; expiresAt saturates (decisions 9)', async () => {
    for (const timeoutSeconds of [253_402_300_800, 1e15, Number.MAX_SAFE_INTEGER, 1e21, 1e300])
      expect(await payment({ timeoutSeconds })).toMatchObject({ expiresAt: '9999-12-31T23:59:59.000Z', status: 'PENDING' });
  });

  it('2.1 timeoutSeconds: anything but a whole number gives 422', async () => {
    for (const timeoutSeconds of ['60', 1.5, true, [60], {}]) await refused('timeoutSeconds', { ...HOSTED, timeoutSeconds });
  });
});

describe.each(['txFeePayer', 'commissionFeePayer'])('2.1 %s', (field) => {
  it(`2.1 ${field}: the gateway's setting by default`, async () => {
    expect((await payment({}))[field]).toBe('MERCHANT');
    expect((await payment({}, tuned))[field]).toBe('CUSTOMER');
    expect((await payment({ [field]: null }, tuned))[field]).toBe('CUSTOMER');
  });

  it(`2.1 ${field}: MERCHANT or CUSTOMER over the gateway's setting`, async () => {
    expect((await payment({ [field]: 'CUSTOMER' }))[field]).toBe('CUSTOMER');
    expect((await payment({ [field]: 'MERCHANT' }, tuned))[field]).toBe('MERCHANT');
  });

  it(`2.1 ${field}: anything else gives 422`, async () => {
    for (const payer of ['PLATFORM', 'merchant', '', 'ME', 1, {}]) await refused(field, { ...HOSTED, [field]: payer });
  });
});

it('2.1 txFeePayer and commissionFeePayer: what the customer bears is added to what must be sent (decisions 2)', async () => {
  const usdt = async (body: Body): Promise<unknown> => (await payment(body, tuned)).offers.find((offer) => offer.assetSymbol === 'USDT');
  expect(await usdt({})).toMatchObject({ amount: '100', txFee: '0.5', commissionFee: '1', totalValue: '101.5' });
  expect(await usdt({ txFeePayer: 'MERCHANT' })).toMatchObject({ amount: '100', txFee: '0', commissionFee: '1', totalValue: '101' });
  expect(await usdt({ commissionFeePayer: 'MERCHANT' })).toMatchObject({ amount: '100', txFee: '0.5', commissionFee: '0', totalValue: '100.5' });
  expect(await usdt({ txFeePayer: 'MERCHANT', commissionFeePayer: 'MERCHANT' })).toMatchObject({ txFee: '0', commissionFee: '0', totalValue: '100' });
});

describe.each([
  { field: 'overAcceptableDiff', column: 'overTolerance', inside: '101', outside: '101.01', setting: '3' },
  { field: 'underAcceptableDiff', column: 'underTolerance', inside: '99', outside: '98.99', setting: '1' },
])('2.1 $field', ({ field, column, inside, outside, setting }) => {
  it(`2.1 ${field}: the gateway's setting by default`, async () => {
    expect((await stored({}))[column]).toBe('0');
    expect((await stored({}, tuned))[column]).toBe(setting);
    expect((await stored({ [field]: null }, tuned))[column]).toBe(setting);
    expect((await stored({ [field]: '0.25' }, tuned))[column]).toBe('0.25');
  });

  it(`2.1 ${field}: unparseable gives 422`, async () => {
    for (const diff of ['', 'one', '--1', '-', '+1', '1e2', '-01', ' 1', '1%', 'NaN', `0.${'0'.repeat(18)}1`, '9'.repeat(39), 1, -1, true, [], {}])
      await refused(field, { ...HOSTED, [field]: diff });
  });

  it(`2.1 ${field}: what it allows is ACCEPTABLE, its bound included, and what is beyond it is MISMATCH`, async () => {
    expect(await wouldBe(inside, { [field]: '1' })).toBe('ACCEPTABLE');
    expect(await wouldBe(outside, { [field]: '1' })).toBe('MISMATCH');
  });

  it(`2.1 ${field}: <= 0 means zero tolerance on that side`, async () => {
    for (const diff of ['0', '0.00', '-0', '-1', '-5.5', `-${'9'.repeat(38)}`]) {
      expect((await stored({ [field]: diff }))[column]).toBe('0');
      expect(await wouldBe(inside, { [field]: diff })).toBe('MISMATCH');
      expect(await wouldBe('100', { [field]: diff })).toBe('SUCCESS');
    }
  });

  it(`2.1 ${field}: rounding to zero USD means zero tolerance on that side`, async () => {
    const nearly = field === 'overAcceptableDiff' ? '100.01' : '99.99';
    expect(await wouldBe(nearly, { [field]: '0.004999999999999999' })).toBe('MISMATCH');
    expect(await wouldBe(nearly, { [field]: '0.005' })).toBe('ACCEPTABLE');
    expect(await wouldBe(nearly, { [field]: '0.0049', acceptableDiffKind: 'PERCENTAGE' })).toBe('MISMATCH');
  });

  it(`2.1 ${field}: says nothing about the other side`, async () => {
    const other = field === 'overAcceptableDiff' ? '99' : '101';
    expect(await wouldBe(other, { [field]: '5' })).toBe('MISMATCH');
  });
});

describe('2.1 acceptableDiffKind', () => {
  it("2.1 acceptableDiffKind: the gateway's setting by default", async () => {
    expect((await stored({})).toleranceKind).toBe('ABSOLUTE');
    expect((await stored({}, tuned)).toleranceKind).toBe('PERCENTAGE');
    expect((await stored({ acceptableDiffKind: null }, tuned)).toleranceKind).toBe('PERCENTAGE');
    expect((await stored({ acceptableDiffKind: 'ABSOLUTE' }, tuned)).toleranceKind).toBe('ABSOLUTE');
  });

  it('2.1 acceptableDiffKind: ABSOLUTE is flat USD, whatever the currency and the size', async () => {
    const body = { underAcceptableDiff: '2', acceptableDiffKind: 'ABSOLUTE' };
    for (const [amount, currencyCode, expected] of [
      ['100', 'USD', 100],
      ['1000', 'USD', 1000],
      ['100', 'EUR', 108],
    ] as const) {
      expect(await wouldBe(`${expected - 2}`, { ...body, amount, currencyCode })).toBe('ACCEPTABLE');
      expect(await wouldBe(`${expected - 2.01}`, { ...body, amount, currencyCode })).toBe('MISMATCH');
    }
  });

  it('2.1 acceptableDiffKind: PERCENTAGE is percent of the expected USD amount', async () => {
    const body = { underAcceptableDiff: '2', overAcceptableDiff: '0.5', acceptableDiffKind: 'PERCENTAGE' };
    for (const [amount, status] of [
      ['980', 'ACCEPTABLE'],
      ['979.99', 'MISMATCH'],
      ['1005', 'ACCEPTABLE'],
      ['1005.01', 'MISMATCH'],
    ])
      expect(await wouldBe(String(amount), { ...body, amount: '1000' })).toBe(status);
    // Of what must be sent, the customer's fees included: 1 % of 101.5.
    expect(await wouldBe('100.48', { underAcceptableDiff: '1', checkAmountDeviation: true }, tuned)).toBe('ACCEPTABLE');
    expect(await wouldBe('100.47', { underAcceptableDiff: '1', checkAmountDeviation: true }, tuned)).toBe('MISMATCH');
  });

  it('2.1 acceptableDiffKind: another value gives 422', async () => {
    for (const kind of ['FLAT', 'absolute', 'PERCENT', '', 1, []]) await refused('acceptableDiffKind', { ...HOSTED, acceptableDiffKind: kind });
  });
});

describe('2.1 checkAmountDeviation', () => {
  it("2.1 checkAmountDeviation: the gateway's setting by default", async () => {
    expect((await stored({})).checkAmountDeviation).toBe(true);
    expect((await stored({}, tuned)).checkAmountDeviation).toBe(false);
    expect((await stored({ checkAmountDeviation: null }, tuned)).checkAmountDeviation).toBe(false);
    expect((await stored({ checkAmountDeviation: true }, tuned)).checkAmountDeviation).toBe(true);
  });

  it('2.1 checkAmountDeviation: when false, any paid amount resolves to SUCCESS', async () => {
    for (const amount of ['0.01', '50', '100', '1000000']) expect(await wouldBe(amount, { checkAmountDeviation: false })).toBe('SUCCESS');
    expect(await wouldBe('50', { checkAmountDeviation: true })).toBe('MISMATCH');
  });

  it('2.1 checkAmountDeviation: anything but true and false gives 422', async () => {
    for (const check of ['false', 0, 1, '', []]) await refused('checkAmountDeviation', { ...HOSTED, checkAmountDeviation: check });
  });
});

describe('2.1 assets', () => {
  const override = (symbol: string, assetPriceUsd: unknown = '1'): Body => ({ assetId: id(symbol), assetPriceUsd });

  it("2.1 assets: omitted, offers derive from the gateway's enabled assets at current prices", async () => {
    for (const assets of [undefined, null]) {
      const { offers } = await payment({ assets });
      expect(offers.map((offer) => [offer.assetSymbol, offer.assetPriceUsd])).toEqual([
        ['ETH', '2500'],
        ['USDC', '1'],
        ['USDT', '1'],
      ]);
    }
    const few = await service.aShop({ assetIds: [id('USDC'), id('ETH')] });
    expect((await payment({}, few)).offers.map((offer) => offer.assetSymbol)).toEqual(['ETH', 'USDC']);
  });

  it('2.1 assets: restrict the offers to those named, in that order, at the price given', async () => {
    const { offers } = await payment({ assets: [override('USDT', '0.5'), override('ETH', '1000')] });
    expect(offers.map((offer) => [offer.assetSymbol, offer.assetPriceUsd, offer.totalValue])).toEqual([
      ['USDT', '0.5', '200'],
      ['ETH', '1000', '0.1'],
    ]);
  });

  it('2.1 assets: an empty list, or no list, gives 422', async () => {
    for (const assets of [[], {}, 'USDT', 1, true]) await refused('assets', { ...HOSTED, assets });
    for (const element of [null, 'USDT', 1, []]) await refused('assets[0]', { ...HOSTED, assets: [element] });
  });

  it("2.1 OfferAsset.assetId: required, and one of the gateway's enabled assets", async () => {
    await refused('assets[0].assetId', { ...HOSTED, assets: [{ assetPriceUsd: '1' }] });
    for (const assetId of ['x', '', null, 1, 'USDT']) await refused('assets[0].assetId', { ...HOSTED, assets: [{ assetId, assetPriceUsd: '1' }] });
    await refused('assets[1].assetId', { ...HOSTED, assets: [override('USDT'), { assetId: PAYLINK_ID, assetPriceUsd: '1' }] });
    const few = await service.aShop({ assetIds: [id('USDC')] });
    await refused('assets[0].assetId', { ...HOSTED, assets: [override('USDT')] }, few);
    expect((await create({ ...HOSTED, assets: [override('USDC')] }, few)).status).toBe(201);
  });

  it('2.1 OfferAsset.assetId: named twice gives 422, in any case (decisions 2)', async () => {
    await refused('assets[1].assetId', { ...HOSTED, assets: [override('USDT'), { ...override('USDT', '2'), assetId: id('USDT').toUpperCase() }] });
  });

  it('2.1 OfferAsset.assetPriceUsd: required, a decimal above 0', async () => {
    await refused('assets[0].assetPriceUsd', { ...HOSTED, assets: [{ assetId: id('USDT') }] });
    for (const price of ['0', '0.0', '-1', '1e3', '', 'x', `0.${'0'.repeat(18)}1`, '1'.repeat(39), 1, null, true])
      await refused('assets[0].assetPriceUsd', { ...HOSTED, assets: [override('USDT', price)] });
  });

  it('2.1 OfferAsset.assetPriceUsd: locked as given and kept as the merchant’s; a market price is kept with its source and time', async () => {
    const offersOf = async (body: Body): Promise<Body[]> =>
      service.world.database.sql`select price_usd, price_source, price_at from payment_offers where payment_id = ${String((await payment(body)).id)}`;
    expect(await offersOf({ assets: [override('USDT', '0.9999')] })).toEqual([{ priceUsd: '0.9999', priceSource: 'merchant', priceAt: null }]);
    for (const offer of await offersOf({})) expect(offer).toMatchObject({ priceSource: 'static', priceAt: expect.any(Date) });
  });
});

describe('2.1 language and isSandbox', () => {
  it('2.1 language: default null, a hint that is kept', async () => {
    expect(await payment({})).toMatchObject({ language: null });
    expect(await payment({ language: null })).toMatchObject({ language: null });
    for (const language of ['de', 'zh-Hant-TW', 'العربية']) expect(await payment({ language })).toMatchObject({ language });
  });

  it('2.1 language: anything but a short string gives 422', async () => {
    for (const language of [1, ['de'], {}, 'x'.repeat(36)]) await refused('language', { ...HOSTED, language });
  });

  it('2.1 isSandbox: default false', async () => {
    expect(await payment({})).toMatchObject({ isSandbox: false });
    expect(await payment({ isSandbox: null })).toMatchObject({ isSandbox: false });
    expect(await payment({ isSandbox: true })).toMatchObject({ isSandbox: true });
  });

  it('2.1 isSandbox: anything but true and false gives 422', async () => {
    for (const isSandbox of ['true', 1, 0, '', {}]) await refused('isSandbox', { ...HOSTED, isSandbox });
  });
});

describe('title and reference (decision 0075)', () => {
  it('are absent unless they were named, and come back as they were sent wherever the payment is read', async () => {
    const bare = await payment({ title: null, reference: null });
    expect([bare, await payment({})].map((one) => ['title' in one, 'reference' in one])).toEqual([
      [false, false],
      [false, false],
    ]);
    const named = { title: '<b>Moby-Dick</b> \u202egnihton & "so" \u{1f40b}'.padEnd(119, '…'), reference: 'A-1001' };
    const made = await payment(named);
    expect(made).toMatchObject(named);
    const record = await shop.call('GET', `/payments/${String(made.id)}`);
    expect(record.data.outcome).toMatchObject(named);
    const list = await shop.call('GET', '/payments?limit=1');
    expect((list.data as { items: Body[] }).items[0]).toMatchObject({ paymentUid: made.id, ...named });
  });

  it('anything but one line that can be seen gives 422', async () => {
    const hostile = [1, ['x'], {}, '', ' ', '\u200b', 'two\nlines', 'a\u0000b', '\u2028x', 'a\u001b[31m'];
    for (const title of [...hostile, 'x'.repeat(121)]) await refused('title', { ...HOSTED, title });
    for (const reference of [...hostile, 'x'.repeat(65)]) await refused('reference', { ...HOSTED, reference });
  });
});

describe('2.1 billing effects', () => {
  it('2.1 billing 1: on a monthly-billed gateway both fee payers are ignored and read PLATFORM, and the payer pays no fee', async () => {
    const monthly = await service.aShop({ billing: 'MONTHLY', settings: { txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER', commissionBps: 250 } });
    for (const payers of [{}, { txFeePayer: 'CUSTOMER', commissionFeePayer: 'MERCHANT' }, { txFeePayer: 'PLATFORM', commissionFeePayer: 'whoever' }]) {
      const made = await payment(payers, monthly);
      expect(made).toMatchObject({ txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' });
      for (const offer of made.offers) expect(offer).toMatchObject({ txFee: '0', commissionFee: '0', totalValue: offer.amount });
    }
  });

  it('2.1 billing 1: all other fields behave as written there', async () => {
    const monthly = await service.aShop({ billing: 'MONTHLY' });
    expect(await wouldBe('99', { underAcceptableDiff: '1' }, monthly)).toBe('ACCEPTABLE');
    await refused('overAcceptableDiff', { ...HOSTED, overAcceptableDiff: 'x' }, monthly);
  });

  it('2.1 billing 2: on a platform-billed gateway POST /payments gives 403', async () => {
    const platform = await service.aShop({ billing: 'PLATFORM', openAmount: { enabled: true } });
    for (const body of [HOSTED, API, { ...HOSTED, txFeePayer: 'MERCHANT', overAcceptableDiff: '1' }]) {
      const { status, error } = await create(body, platform);
      expect([status, error.code]).toEqual([403, 'forbidden']);
    }
  });
});
