import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { previewPayment } from '#api/payments/preview.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { times } from '#test/harness/counts.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let assets: StoredAsset[];
let gateways: Gateway[];
const clientIp = '127.0.0.1';

beforeAll(async () => {
  world = await inProcess({ moreNetworks: (demo) => [oddChain(demo)] });
  for (const [symbol, usd] of Object.entries({ WHOLE: '7', CENTS: '0.000012', MOTE: '0.000000000000000001', GOLD: '99999999999999999999' }))
    await world.setPrice(symbol, usd);
  assets = await listAssets(world.deps.db.sql);
  gateways = [
    await world.aGateway(),
    await world.aGateway({
      settings: {
        txFeePayer: 'CUSTOMER',
        commissionFeePayer: 'CUSTOMER',
        commissionBps: 137,
        commissionMinUsd: '0.33',
        overAcceptableDiff: '1',
        underAcceptableDiff: '2',
      },
    }),
    await world.aGateway({ billing: 'MONTHLY', settings: { commissionBps: 10_000, acceptableDiffKind: 'PERCENTAGE', underAcceptableDiff: '5' } }),
    await world.aGateway({ billing: 'PLATFORM' }),
  ];
});
afterAll(async () => {
  try {
    await assertCleanAudit(world.database);
  } finally {
    await world.stop();
  }
});

/** A second chain whose coins have no decimals, two, and eighteen, and prices from next to nothing to absurd. */
function oddChain(demo: NetworkConfig): NetworkConfig {
  const template = demo.assets.filter((asset) => asset.contract !== null);
  const token = (index: number, symbol: string, decimals: number, networkFee: string) => ({
    ...(template[0] as NetworkConfig['assets'][number]),
    symbol,
    name: symbol,
    decimals,
    networkFee,
    dustFloor: '0',
    minimumSettlement: null,
    contract: `0x${`${index}`.repeat(40)}`,
  });
  return {
    ...demo,
    name: 'odd',
    chainId: '31338',
    assets: [token(1, 'WHOLE', 0, '1'), token(2, 'CENTS', 2, '0.01'), token(3, 'MOTE', 18, '0.000000000000000001'), token(4, 'GOLD', 18, '0')],
  };
}

const money = fc.oneof(
  fc.constantFrom('0', '0.01', '1', '49.90', '100', '0.000000000000000001', '9'.repeat(38), `${'9'.repeat(38)}.${'9'.repeat(18)}`, '-1', '1e3', 'x'),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }))
    .map(([whole, part]) => `${whole}.${part.toString().padStart(18, '0')}`),
  fc.nat({ max: 1_000_000 }).map(String),
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Requests that the contract file allows: mostly good, often extreme, sometimes wrong. */
const body: fc.Arbitrary<CreatePaymentBody & { picks?: { pick: number; assetPriceUsd: string }[] | undefined }> = fc.record({
  currencyCode: fc.constantFrom('USD', 'usd', 'EUR', 'JPY', 'KWD', 'idr', 'HRK', 'XXX'),
  amount: money,
  callbackUrl: fc.constant('https://shop.example/thanks'),
  txFeePayer: optional(fc.constantFrom('MERCHANT', 'CUSTOMER', 'PLATFORM')),
  commissionFeePayer: optional(fc.constantFrom('MERCHANT', 'CUSTOMER')),
  overAcceptableDiff: optional(money),
  underAcceptableDiff: optional(money),
  acceptableDiffKind: optional(fc.constantFrom('ABSOLUTE' as const, 'PERCENTAGE' as const)),
  checkAmountDeviation: optional(fc.boolean()),
  picks: optional(fc.array(fc.record({ pick: fc.nat(6), assetPriceUsd: money }), { maxLength: 4 })),
  isSandbox: optional(fc.boolean()),
});

interface Priced {
  amount: string;
  amountUsd: string;
  currencyCode: string;
  txFeePayer: string;
  commissionFeePayer: string;
  timeoutSeconds: number;
  offers: ({ id: string; assetId: string } & Record<string, string>)[];
}

/** What was priced without the ids, which are random; or the error. */
async function outcome(run: () => Promise<Priced>): Promise<unknown> {
  try {
    const { amount, amountUsd, currencyCode, txFeePayer, commissionFeePayer, timeoutSeconds, offers } = await run();
    return { amount, amountUsd, currencyCode, txFeePayer, commissionFeePayer, timeoutSeconds, offers: offers.map(({ id: _, ...offer }) => offer) };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return { code: error.code, message: error.message };
  }
}

describe('whatever preview prices', () => {
  it('create prices too, to the last digit, and what one refuses the other refuses in the same words', async () => {
    const seen = { priced: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat(3), body, async (which, { picks, ...request }) => {
        const gateway = gateways[which] as Gateway;
        const named = picks?.map(({ pick, assetPriceUsd }) => ({ assetId: assets[pick]?.id ?? 'none', assetPriceUsd }));
        const asked = {
          ...request,
          checkoutMode: 'API' as const,
          callbackUrl: null,
          webhookUrl: 'http://127.0.0.1:4242/webhook',
          ...(named === undefined ? {} : { assets: named }),
        };
        const previewed = await outcome(async () => (await previewPayment(world.deps, { gateway, body: asked, clientIp })).data as Priced);
        const created = await outcome(async () => {
          const reply = await createPayment(world.deps, { gateway, body: asked, clientIp, commit: plainCommit(world.deps) });
          return (reply.data as { payment: Priced }).payment;
        });
        expect(created).toEqual(previewed);
        if ('message' in (created as object)) seen.refused += 1;
        else {
          seen.priced += 1;
          checkOffers(created as Priced);
        }
      }),
      { numRuns: times(6_000) },
    );
    // Neither side may be all there is.
    expect(Math.min(seen.priced, seen.refused)).toBeGreaterThan(20);
  }, 300_000);
});

it('a deposit on a network none of whose assets is offered would resolve nothing; one on an offered network is judged', async () => {
  const asset = (symbol: string): string => assets.find((one) => one.symbol === symbol)?.id ?? '';
  const whatIf = async (symbol: string, amount: string): Promise<unknown> => {
    const offered = [{ assetId: asset('USDT'), assetPriceUsd: '1' }];
    const request = { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/thanks', assets: offered };
    const body = { ...request, whatIf: { assetId: asset(symbol), amount } };
    return ((await previewPayment(world.deps, { gateway: gateways[0] as Gateway, body, clientIp })).data as { whatIf: unknown }).whatIf;
  };
  expect(await whatIf('GOLD', '1')).toEqual({ status: 'PENDING', rule: 'network_not_offered', assetSymbol: 'GOLD', network: 'odd' });
  expect(await whatIf('USDC', '10')).toMatchObject({ status: 'SUCCESS', rule: 'no_deviation', judgedByAssetId: asset('USDT') });
});

/** What holds for every offer whatever it was made of. */
function checkOffers({ offers }: Priced): void {
  expect(offers.length).toBeGreaterThan(0);
  for (const offer of offers) {
    const asset = assets.find((one) => one.id === offer.assetId) as StoredAsset;
    const figure = (name: string): bigint => parseTrusted(offer[name] as string);
    expect(figure('totalValue')).toBe(figure('amount') + figure('txFee') + figure('commissionFee'));
    expect(figure('totalValue')).toBeGreaterThanOrEqual(asset.dustFloor);
    expect(figure('amount')).toBeGreaterThan(0n);
    for (const name of ['amount', 'txFee', 'commissionFee', 'totalValue']) {
      expect(toUnits(parseTrusted<'asset'>(offer[name] as string), asset.decimals), `${name} of ${asset.symbol}`).toBeDefined();
      expect(offer[name]).toMatch(/^(0|[1-9]\d{0,37})(\.\d{1,18})?$/);
    }
  }
}
