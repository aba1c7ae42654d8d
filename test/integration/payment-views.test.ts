import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireDuePayments } from '#api/payments/expire.ts';
import { simulatePayment } from '#api/payments/simulate.ts';
import { flagPayment } from '#test/fixtures/flag-payment.ts';
import { type Json, type ShopPayment, someShops, type Shops, type TestShop } from '#test/fixtures/shop.ts';
import { SentJson } from '#shared/core/sent-json.ts';

/** What is known about a payment that a scenario brought about; the lines of the contract are held against it. */
interface Scene {
  shop: TestShop;
  payment: ShopPayment;
  status: string;
  /** Ticker of the offer last selected. */
  selected: string | null;
  /** What decided, when something did. */
  paid: { symbol: string; amount: string; network?: string; txHash: string } | null;
  open: boolean;
  sandbox: boolean;
  payers: string;
  amount: string;
  amountUsd: string;
  /** Signed, in dollars; null where verify must not have it. */
  deviationUsd: string | null;
  depositPath: string | null;
  amlState: string | null;
}

let shops: Shops;
let plain: TestShop;
let monthly: TestShop;
let open: TestShop;
let platform: TestShop;

const SCENES: Record<string, () => Promise<Partial<Scene> & Pick<Scene, 'shop' | 'payment' | 'status'>>> = {
  'PENDING, nothing selected': async () => ({ shop: plain, payment: await plain.create(), status: 'PENDING' }),
  'PENDING, selected': async () => ({ ...(await selected(plain, 'USDT')), status: 'PENDING' }),
  'PENDING, a deposit seen': async () => {
    const scene = await selected(plain, 'USDT');
    await plain.see(scene.payment, 'USDT', '100');
    return { ...scene, status: 'PENDING' };
  },
  SUCCESS: async () => paid(await selected(plain, 'USDT'), '100', { status: 'SUCCESS', deviationUsd: '0.00' }),
  ACCEPTABLE: async () => paid(await selected(plain, 'USDT'), '99.5', { status: 'ACCEPTABLE', deviationUsd: '-0.50' }),
  MISMATCH: async () => paid(await selected(plain, 'USDT'), '90', { status: 'MISMATCH', deviationUsd: '-10.00' }),
  'MISMATCH, flagged by screening': async () => {
    const scene = await paid(await selected(plain, 'USDT'), '90', { status: 'MISMATCH', deviationUsd: '-10.00' });
    await flagPayment(shops.world.deps, scene.payment.id);
    return { ...scene, amlState: 'HELD' };
  },
  'EXPIRED, nothing selected': async () => {
    const payment = await plain.create({ timeoutSeconds: 60 });
    await expire();
    return { shop: plain, payment, status: 'EXPIRED' };
  },
  'EXPIRED, then captured late': async () => {
    const scene = await selected(plain, 'USDT', { timeoutSeconds: 60 });
    await expire();
    return paid(scene, '100', { status: 'SUCCESS', deviationUsd: '0.00', depositPath: 'late_capture' });
  },
  'SUCCESS with any amount': async () =>
    paid(await selected(plain, 'USDT', { checkAmountDeviation: false }), '1', { status: 'SUCCESS', deviationUsd: '-99.00' }),
  'a wrong asset': async () => paid(await selected(plain, 'USDT'), '0.03', { status: 'MISMATCH', symbol: 'ETH', deviationUsd: '-25.00' }),
  'a fiat payment': async () => ({
    shop: plain,
    payment: await plain.create({ currencyCode: 'eur', amount: '100.00' }),
    status: 'PENDING',
    amount: '100.00',
    amountUsd: '108.00',
  }),
  'monthly billing': async () => ({ ...(await paid(await selected(monthly, 'USDT'), '100', { status: 'SUCCESS', deviationUsd: '0.00' })), payers: 'PLATFORM' }),
  'an open amount before a deposit': async () => ({ ...(await selected(open, 'ETH')), status: 'PENDING', amount: '0', amountUsd: '0' }),
  'an open amount, SUCCESS': async () =>
    paid(await selected(open, 'ETH'), '0.004', { status: 'SUCCESS', symbol: 'ETH', amount: '10.00', amountUsd: '10.00', deviationUsd: null }),
  'an open amount, MISMATCH': async () =>
    paid(await selected(open, 'ETH'), '0.001', { status: 'MISMATCH', symbol: 'ETH', amount: '5.00', amountUsd: '5.00', deviationUsd: '-2.50' }),
  'an open amount, EXPIRED': async () => {
    const payment = await open.createOpen({ timeoutSeconds: 60 });
    await expire();
    return { shop: open, payment, status: 'EXPIRED', open: true, amount: '0', amountUsd: '0' };
  },
  'platform billing': async () => ({
    ...(await paid(await selected(platform, 'USDT'), '7', { status: 'SUCCESS', amount: '7.00', amountUsd: '7.00', deviationUsd: null })),
    payers: 'PLATFORM',
  }),
  'a sandbox payment, PENDING': async () => ({ ...(await selected(plain, 'USDT', { isSandbox: true })), status: 'PENDING' }),
  'a sandbox payment, SUCCESS': async () => {
    const scene = await selected(plain, 'USDT', { isSandbox: true });
    await simulatePayment(shops.world.deps, { paymentId: scene.payment.id, clientIp: '127.0.0.1', simulation: { scenario: 'success' } });
    const { txHash } = await plain.read(scene.payment);
    return { ...scene, status: 'SUCCESS', paid: { symbol: 'USDT', amount: '100', txHash: String(txHash) }, deviationUsd: '0.00', depositPath: 'standard' };
  },
};

/** Creates a payment as its shop does and selects an asset. */
async function selected(shop: TestShop, symbol: string, body: Record<string, unknown> = {}) {
  const isOpen = shop === open || shop === platform;
  const payment = isOpen ? await shop.createOpen(body) : await shop.create(body);
  await shop.select(payment, symbol);
  return { shop, payment, selected: symbol, open: isOpen, sandbox: body.isSandbox === true };
}

async function paid(
  scene: Awaited<ReturnType<typeof selected>>,
  amount: string,
  outcome: Partial<Scene> & Pick<Scene, 'status'> & { symbol?: string },
): Promise<Partial<Scene> & Pick<Scene, 'shop' | 'payment' | 'status'>> {
  const symbol = outcome.symbol ?? scene.selected;
  const txHash = await scene.shop.receive(scene.payment, symbol, amount);
  return { depositPath: 'standard', ...scene, ...outcome, paid: { symbol, amount, txHash } };
}

async function expire(): Promise<void> {
  await shops.world.advance(60 + 901);
  await expireDuePayments(shops.world.deps);
}

interface Seen extends Scene {
  read: Json;
  offers: Json[];
  statusBefore: Json;
  verified: Json;
  /** After verify. */
  statusAfter: Json;
}
const seen = new Map<string, Seen>();

beforeAll(async () => {
  shops = await someShops();
  const settings = { settings: { underAcceptableDiff: '1', overAcceptableDiff: '1', commissionBps: 100 } };
  plain = await shops.open(settings);
  monthly = await shops.open({ billing: 'MONTHLY', ...settings });
  open = await shops.open({ openAmount: { enabled: true, minAmountUsd: '5', assetIds: null }, ...settings });
  platform = await shops.open({ billing: 'PLATFORM', openAmount: { enabled: true, minAmountUsd: '5', assetIds: null }, ...settings });
  for (const [name, play] of Object.entries(SCENES)) {
    const scene: Scene = {
      selected: null,
      paid: null,
      open: false,
      sandbox: false,
      payers: 'MERCHANT',
      amount: '100',
      amountUsd: '100.00',
      deviationUsd: null,
      depositPath: null,
      amlState: null,
      ...(await play()),
    };
    const statusBefore = await scene.shop.status(scene.payment);
    const read = await scene.shop.read(scene.payment);
    const verified = await scene.shop.verify(scene.payment);
    const statusAfter = await scene.shop.status(scene.payment);
    seen.set(name, { ...scene, statusBefore, read, offers: read.offers as Json[], verified, statusAfter });
  }
});
afterAll(() => shops.stop());

const DECIMAL = /^\d+(\.\d{1,18})?$/;
const CENTS = /^-?\d+\.\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const resting = (scene: Seen): boolean => scene.status !== 'PENDING';
const assetOf = (scene: Seen, symbol = scene.paid?.symbol): string | undefined => shops.world.assets[symbol ?? '']?.id;
/** The field is there with this value exactly when it should be. */
function present(of: Json, field: string, when: boolean, value: unknown): void {
  expect([field, Object.hasOwn(of, field)]).toEqual([field, when]);
  if (when) expect([field, of[field]]).toEqual([field, value]);
}

/** Every line of the contract's tables, and what it means for a scene. */
const LINES: [string, (scene: Seen) => void][] = [
  ['2.3 id', (scene) => expect(scene.read.id).toBe(scene.payment.id)],
  ['2.3 status', (scene) => expect(scene.read.status).toBe(scene.status)],
  ['2.3 checkoutMode', (scene) => expect(scene.read.checkoutMode).toBe('API')],
  ['2.3 amount: as sent', (scene) => expect(scene.read.amount).toBe(scene.amount)],
  ['2.3 amountUsd', (scene) => expect(scene.read.amountUsd).toBe(scene.amountUsd)],
  ['2.3 currencyCode', (scene) => expect(scene.read.currencyCode).toBe(scene.amountUsd === '108.00' ? 'EUR' : 'USD')],
  ['2.3 timeoutSeconds', (scene) => expect(Number.isInteger(scene.read.timeoutSeconds)).toBe(true)],
  [
    '2.3 createdAt + timeoutSeconds = expiresAt, RFC 3339',
    ({ read }) => {
      expect([String(read.createdAt), String(read.expiresAt)]).toEqual([expect.stringMatching(TIME), expect.stringMatching(TIME)]);
      expect(Date.parse(String(read.expiresAt)) - Date.parse(String(read.createdAt))).toBe(Number(read.timeoutSeconds) * 1_000);
    },
  ],
  ['2.3 openAmount', (scene) => expect(scene.read.openAmount).toBe(scene.open)],
  ['2.3 minAmountUsd: open amounts only', (scene) => present(scene.read, 'minAmountUsd', scene.open, '5')],
  ['2.3 paidAssetId: the asset actually paid', (scene) => present(scene.read, 'paidAssetId', scene.paid !== null, assetOf(scene))],
  ['2.3 paidAssetSymbol', (scene) => present(scene.read, 'paidAssetSymbol', scene.paid !== null, scene.paid?.symbol)],
  ['2.3 txHash: once resolved on chain', (scene) => present(scene.read, 'txHash', scene.paid !== null, scene.paid?.txHash)],
  ['2.3 receivedAmount: once resolved', (scene) => present(scene.read, 'receivedAmount', scene.paid !== null, scene.paid?.amount)],
  [
    '2.3 explorerTxUrl: the hash substituted',
    (scene) =>
      present(scene.read, 'explorerTxUrl', scene.paid !== null, shops.world.network.config.explorerTxUrl.replace('{txHash}', scene.paid?.txHash ?? '')),
  ],
  [
    'decisions 9: isSandbox, language, fee payers, selectedOfferId',
    ({ read, sandbox, payers, selected: symbol, payment }) => {
      const offer = payment.offers.find((one) => one.assetSymbol === symbol && one.assetNetwork === 'ethereum');
      expect(read).toMatchObject({ isSandbox: sandbox, language: null, txFeePayer: payers, commissionFeePayer: payers, selectedOfferId: offer?.id ?? null });
    },
  ],
  [
    '2.3 and decisions 9: no field beyond those',
    ({ read, open: isOpen, paid: was }) =>
      expect(Object.keys(read).toSorted()).toEqual(
        [
          ...['id', 'status', 'checkoutMode', 'amount', 'amountUsd', 'currencyCode', 'timeoutSeconds', 'createdAt', 'expiresAt', 'offers', 'openAmount'],
          ...['isSandbox', 'language', 'txFeePayer', 'commissionFeePayer', 'selectedOfferId'],
          ...(isOpen ? ['minAmountUsd'] : []),
          ...(was === null ? [] : ['paidAssetId', 'paidAssetSymbol', 'txHash', 'receivedAmount', 'explorerTxUrl']),
        ].toSorted(),
      ),
  ],
  [
    '2.4 id, assetId, assetSymbol, assetNetwork',
    ({ offers }) => {
      expect(offers.length).toBeGreaterThan(0);
      for (const offer of offers)
        expect([offer.id, offer.assetId, offer.assetSymbol, offer.assetNetwork]).toEqual([
          expect.stringMatching(UUID),
          expect.stringMatching(UUID),
          expect.any(String),
          expect.stringMatching(/^(ethereum|sidechain)$/),
        ]);
    },
  ],
  [
    '2.4 assetLogoUrl, networkLogoUrl: of this deployment',
    ({ offers }) => {
      for (const offer of offers) {
        expect(String(offer.assetLogoUrl)).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/logos/${offer.assetSymbol}\\.svg$`));
        expect(String(offer.networkLogoUrl)).toMatch(new RegExp(`/logos/${offer.assetNetwork}\\.svg$`));
      }
    },
  ],
  [
    '2.4 assetPriceUsd',
    ({ offers }) => {
      for (const offer of offers) expect(offer.assetPriceUsd).toBe(offer.assetSymbol === 'ETH' ? '2500' : '1');
    },
  ],
  [
    '2.3 and 2.4: figures are decimal strings, 0 placeholders for an open amount',
    ({ offers, open: isOpen }) => {
      for (const offer of offers)
        for (const figure of ['amount', 'txFee', 'commissionFee', 'totalValue'])
          expect([figure, offer[figure]]).toEqual([figure, isOpen ? '0' : expect.stringMatching(DECIMAL)]);
    },
  ],
  [
    '2.4 txFee, commissionFee: 0 unless the customer pays them; totalValue is then the amount',
    ({ offers }) => {
      for (const offer of offers) expect(offer).toMatchObject({ txFee: '0', commissionFee: '0', totalValue: offer.amount });
    },
  ],
  [
    '2.4 depositAddress: once assigned by select',
    ({ offers, selected: symbol, sandbox, payment }) => {
      for (const offer of offers)
        present(
          offer,
          'depositAddress',
          offer.assetSymbol === symbol && offer.assetNetwork === 'ethereum',
          sandbox ? `sandbox-${payment.id}` : expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        );
    },
  ],
  [
    'decisions 9: assetDecimals, assetType, networkId, contractAddress',
    ({ offers }) => {
      for (const offer of offers)
        expect(offer).toMatchObject(
          offer.assetSymbol === 'ETH'
            ? { assetDecimals: 18, assetType: 'NATIVE', networkId: expect.stringMatching(UUID), contractAddress: null }
            : { assetDecimals: 6, assetType: 'ERC20', networkId: expect.stringMatching(UUID), contractAddress: expect.stringMatching(/^0x/) },
        );
    },
  ],
  [
    '2.6: four fields, and reading has not verified',
    ({ statusBefore, status, payment }) => expect(statusBefore).toEqual({ paymentUid: payment.id, status, isVerified: false, verifiedAt: null }),
  ],
  [
    '2.6 isVerified, verifiedAt: verify of a resting payment sets them, nothing else does',
    (scene) =>
      expect(scene.statusAfter).toEqual({ ...scene.statusBefore, isVerified: resting(scene), verifiedAt: resting(scene) ? scene.verified.verifiedAt : null }),
  ],
  ['2.7 status', (scene) => expect(scene.verified.status).toBe(scene.status)],
  [
    '2.7 amount, amountUsd: 0 for an open amount until a deposit confirms, then what was received or the minimum',
    (scene) => expect([scene.verified.amount, scene.verified.amountUsd]).toEqual([scene.amount, scene.amountUsd]),
  ],
  [
    '2.7 expectedAmount: the quoted total; absent for open amounts and before a select',
    (scene) => present(scene.verified, 'expectedAmount', scene.selected !== null && !scene.open, '100'),
  ],
  ['2.7 assetSymbol: the quoted asset', (scene) => present(scene.verified, 'assetSymbol', scene.selected !== null, scene.selected)],
  ['2.7 receivedAssetId', (scene) => present(scene.verified, 'receivedAssetId', scene.paid !== null, assetOf(scene))],
  ['2.7 receivedAssetSymbol', (scene) => present(scene.verified, 'receivedAssetSymbol', scene.paid !== null, scene.paid?.symbol)],
  ['2.7 receivedAmount: in the received asset', (scene) => present(scene.verified, 'receivedAmount', scene.paid !== null, scene.paid?.amount)],
  ['2.7 receivedAmountUsd: in cents', (scene) => present(scene.verified, 'receivedAmountUsd', scene.paid !== null, expect.stringMatching(CENTS))],
  [
    '2.7 deviationUsd: signed; absent on SUCCESS of an open amount',
    (scene) => present(scene.verified, 'deviationUsd', scene.paid !== null && scene.deviationUsd !== null, scene.deviationUsd),
  ],
  ['2.7 depositPath', (scene) => present(scene.verified, 'depositPath', scene.paid !== null, scene.depositPath)],
  ['2.7 amlState: only when flagged', (scene) => present(scene.verified, 'amlState', scene.amlState !== null, scene.amlState)],
  [
    '2.7 txHash and other transaction fields, decisions 9: network, explorerTxUrl, confirmedAt',
    (scene) => {
      const was = scene.paid !== null;
      present(scene.verified, 'txHash', was, scene.paid?.txHash);
      present(scene.verified, 'network', was, 'ethereum');
      present(scene.verified, 'explorerTxUrl', was, scene.read.explorerTxUrl);
      present(scene.verified, 'confirmedAt', was, expect.stringMatching(TIME));
    },
  ],
  [
    'decisions 9: the fees actually taken, with their payers',
    (scene) => {
      for (const fee of ['txFee', 'commissionFee']) present(scene.verified, fee, scene.paid !== null, expect.stringMatching(DECIMAL));
      for (const payer of ['txFeePayer', 'commissionFeePayer']) present(scene.verified, payer, scene.paid !== null, scene.payers);
    },
  ],
  [
    'decisions 9: deposits[] with asset, amount, txHash, confirmations, depositPath, creditedAt',
    (scene) => {
      const deposits = scene.verified.deposits as Json[];
      if (scene.paid === null && !('state' in (deposits[0] ?? {}))) return expect(deposits).toEqual([]);
      const credited = scene.paid !== null;
      expect(deposits).toEqual([
        {
          asset: scene.paid?.symbol ?? 'USDT',
          assetId: expect.stringMatching(UUID),
          network: 'ethereum',
          amount: scene.paid?.amount ?? '100',
          txHash: scene.paid?.txHash ?? expect.any(String),
          state: credited ? 'credited' : 'seen',
          confirmations: credited ? expect.any(Number) : 1,
          depositPath: scene.depositPath,
          creditedAt: credited ? expect.stringMatching(TIME) : null,
        },
      ]);
    },
  ],
  [
    'decisions 9: paymentUid, currencyCode, isVerified, verifiedAt',
    (scene) =>
      expect(scene.verified).toMatchObject({
        paymentUid: scene.payment.id,
        currencyCode: scene.read.currencyCode,
        isVerified: resting(scene),
        verifiedAt: resting(scene) ? expect.stringMatching(TIME) : null,
      }),
  ],
  [
    '2.7 and decisions 9: no field beyond those',
    ({ verified, open: isOpen, paid: was, selected: symbol, deviationUsd, amlState }) =>
      expect(Object.keys(verified).toSorted()).toEqual(
        [
          ...['paymentUid', 'status', 'amount', 'amountUsd', 'currencyCode', 'isVerified', 'verifiedAt', 'callbackParams', 'webhookParams', 'deposits'],
          ...(symbol === null ? [] : ['assetSymbol', ...(isOpen ? [] : ['expectedAmount'])]),
          ...(was === null
            ? []
            : [
                'network',
                'receivedAssetId',
                'receivedAssetSymbol',
                'receivedAmount',
                'receivedAmountUsd',
                'depositPath',
                'txHash',
                'explorerTxUrl',
                'confirmedAt',
              ]),
          ...(was === null ? [] : ['txFee', 'commissionFee', 'txFeePayer', 'commissionFeePayer']),
          ...(deviationUsd === null ? [] : ['deviationUsd']),
          ...(amlState === null ? [] : ['amlState']),
        ].toSorted(),
      ),
  ],
];

describe.each(Object.keys(SCENES))('%s', (name) => {
  it.each(LINES)('contract %s', (_line, holds) => {
    holds(seen.get(name) as Seen);
  });
});

describe('what the merchant stored with a payment', () => {
  it('is echoed by verify as it was sent, and never shown to the payer (contract 2.1 webhookParams)', async () => {
    const webhookParams = { order: 'A-1', nested: { deep: [1, null, 'x'] }, ключ: '值' };
    const payment = await plain.create({ webhookParams, language: 'pt-BR' });
    expect(await plain.verify(payment)).toMatchObject({ webhookParams: SentJson.of(webhookParams), callbackParams: null });
    const read = await plain.read(payment);
    expect(read.language).toBe('pt-BR');
    expect(JSON.stringify(read)).not.toContain('A-1');
  });
});

it('a deadline beyond every calendar reads as the end of year 9999 (decisions 9)', async () => {
  const payment = await plain.create({ timeoutSeconds: Number.MAX_SAFE_INTEGER });
  expect(await plain.read(payment)).toMatchObject({ expiresAt: '9999-12-31T23:59:59.000Z', timeoutSeconds: Number.MAX_SAFE_INTEGER });
});
