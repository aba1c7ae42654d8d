import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { committer, fingerprint } from '#api/http/idempotency.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { createSettlement } from '#api/settlements/create.ts';
import type { CreateSettlementBody } from '#api/settlements/read-request.ts';
import { estimateFee } from '#api/settlements/estimate-fee.ts';
import { getSettlement, listSettlements, type SettlementView } from '#api/settlements/view.ts';
import { deletePrice } from '#api/store/prices.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';

/** A test vector of EIP-55. */
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

let treasury: Treasury;
let shop: Gateway;

beforeAll(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
  await treasury.earn(shop, 'USDT', '200');
  await treasury.earn(shop, 'ETH', '1');
});
afterAll(async () => {
  try {
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const usdt = (): string => treasury.assets.USDT?.id as string;
const body = (over: Record<string, unknown> = {}): CreateSettlementBody => ({ assetId: usdt(), amount: '10', address: MERCHANT, ...over });

async function create(over: Record<string, unknown> = {}, gateway = shop, deps: Deps = treasury.deps): Promise<SettlementView> {
  const reply = await createSettlement(deps, { gateway, body: body(over), commit: plainCommit(deps) });
  expect(reply.status).toBe(200);
  return reply.data as SettlementView;
}

/** The error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<ServiceError> {
  return call.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: ServiceError) => error,
  );
}

/** Deps whose chain cannot be reached. */
function unreachable(): Deps {
  const [name, chain] = [...treasury.deps.chains][0] as [string, NonNullable<ReturnType<Deps['chains']['get']>>];
  const down = async (): Promise<never> => {
    throw new ChainUnavailable('no endpoint answers');
  };
  return { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, estimate: down, quote: down, balance: down, nonce: down } }]]) };
}

describe('creating a settlement', () => {
  it('claims the amount and answers the slim object with only the fields that are present', async () => {
    const before = await listBalances(treasury.deps, { gateway: shop });
    const view = await create({ amount: '10.50', metadata: { requester: 'ada', retries: 3 }, label: 'payroll' });
    expect(Object.keys(view).sort()).toEqual(
      [
        'address',
        'amount',
        'amountUsd',
        'assetName',
        'blockchainUrl',
        'createdAt',
        'dispatchAt',
        'feeLocked',
        'id',
        'metadata',
        'netAmount',
        'network',
        'receivedAmount',
        'route',
        'source',
        'status',
        'txHash',
      ].sort(),
    );
    expect(view).toMatchObject({
      status: 'REQUESTED',
      route: 'GREEN',
      source: 'API',
      amount: '10.50',
      assetName: 'USDT',
      network: 'ethereum',
      metadata: SentJson.of({ requester: 'ada', retries: 3 }),
    });
    expect(view).toMatchObject({ receivedAmount: '', txHash: '', blockchainUrl: '' });
    expect(parseTrusted(view.feeLocked) + parseTrusted(view.netAmount)).toBe(parseTrusted('10.5'));
    const after = await listBalances(treasury.deps, { gateway: shop });
    const available = (list: typeof before): bigint => parseTrusted(list.items.find((item) => item.symbol === 'USDT')?.totalAvailable ?? '0');
    expect(available(before) - available(after)).toBe(parseTrusted('10.5'));
    expect(await getSettlement(treasury.deps, { gateway: shop, id: view.id })).toEqual(view);
  });

  it('omits metadata when none was sent', async () => {
    expect(await create({ metadata: null })).not.toHaveProperty('metadata');
  });

  it('stores an EVM destination once in lower case, whatever case it came in, and shows its checksum', async () => {
    const views = [await create({ address: MIXED, label: 'first' }), await create({ address: MIXED.toLowerCase(), label: 'second' })];
    expect(views.map((view) => view.address)).toEqual([MIXED, MIXED]);
    const rows = await treasury.world.database
      .sql`select address, label, tag from address_book where gateway_id = ${shop.id} and address = ${MIXED.toLowerCase()}`;
    expect(rows).toEqual([{ address: MIXED.toLowerCase(), label: 'first', tag: 'API' }]);
  });

  it('labels an address nobody named with api- and random letters', async () => {
    await create({ address: '0x00000000000000000000000000000000cafe0002' });
    const [row] = await treasury.world.database.sql<
      { label: string }[]
    >`select label from address_book where gateway_id = ${shop.id} and address like '%cafe0002'`;
    expect(row?.label).toMatch(/^api-[0-9a-f]{16}$/);
  });

  it.each([
    ['assetId', { assetId: randomUUID() }],
    ['assetId', { assetId: 'usdt' }],
    ['amount', { amount: '0' }],
    ['amount', { amount: '-1' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: '01' }],
    ['amount', { amount: '1.0000001' }],
    ['amount', { amount: 5 }],
    ['route', { route: 'BLUE' }],
    ['route', { isQuarantined: false }],
    ['address', { address: 'nowhere' }],
    ['address', { address: MIXED.replace('aA', 'Aa') }],
    ['address', { address: '0x0000000000000000000000000000000000000000' }],
    ['address', { address: '41a614f803b6fd780986a42c78ec9c7f77e6ded13c' }],
    ['label', { label: '' }],
    ['label', { label: 'nul\u0000' }],
    ['metadata', { metadata: { nested: { a: 1 } } }],
    ['metadata', { metadata: { list: [1] } }],
    ['metadata', { metadata: [] }],
    ['metadata', { metadata: { text: 'é'.repeat(2_100) } }],
    ['metadata', { metadata: { half: '\ud800' } }],
  ])('refuses a bad %s with 422 naming it: %j', async (field, over) => {
    const error = await failure(create(over));
    expect(error).toMatchObject({ code: 'validation_error', status: 422, field });
    expect(error.message).toContain(field);
  });

  it('accepts metadata of exactly 4 KB and refuses one byte more', async () => {
    const fits = { note: 'x'.repeat(4_096 - JSON.stringify({ note: '' }).length) };
    expect((await create({ metadata: fits })).metadata).toEqual(SentJson.of(fits));
    expect(await failure(create({ metadata: { note: `${fits.note}x` } }))).toMatchObject({ field: 'metadata' });
  });

  it('accepts trailing zeros beyond the decimals of the asset and echoes them', async () => {
    expect((await create({ amount: '2.50000000' })).amount).toBe('2.50000000');
  });

  it('refuses a token contract, a wallet and a deposit address of this deployment as destination', async () => {
    const [deposit] = await treasury.world.database.sql<{ address: string }[]>`select address from deposit_addresses limit 1`;
    for (const address of [
      treasury.assets.USDT?.contract,
      treasury.assets.USDC?.contract,
      treasury.wallet('hot'),
      treasury.wallet('funding'),
      deposit?.address,
    ]) {
      expect(await failure(create({ address })), String(address)).toMatchObject({ code: 'validation_error', field: 'address' });
    }
  });

  it('refuses an amount above the pool with both figures, and one below the minimum or its own fee', async () => {
    const over = await failure(create({ amount: '100000' }));
    expect(over).toMatchObject({ code: 'insufficient_balance', status: 409 });
    expect(over.message).toMatch(/requested 100000, available \d/);
    expect(await failure(create({ amount: '0.99' }))).toMatchObject({ code: 'below_minimum_settlement', status: 422 });
    await treasury.world.setPrice('ETH', '2000000');
    expect(await failure(create({ amount: '1.5' }))).toMatchObject({ code: 'amount_below_network_fee', status: 422 });
    await treasury.world.setPrice('ETH', '2000');
  });

  it('finds nothing in the held pool, and nobody who could route, where nobody screens', async () => {
    expect(await failure(create({ route: 'AML_HELD' }))).toMatchObject({ code: 'insufficient_balance', status: 409 });
    expect(await failure(create({ route: 'SMART' }))).toMatchObject({ code: 'screening_required', status: 409 });
  });

  it('holds what is worth more than the approval cap, with its funds reserved and nothing dispatched', async () => {
    const careful = await treasury.world.aGateway({ cashout: { enabled: true, allowlist: [], approvalCapUsd: '5' } });
    await treasury.earn(careful, 'USDC', '20');
    const assetId = treasury.assets.USDC?.id as string;
    expect(await create({ assetId, amount: '5' }, careful)).toMatchObject({ status: 'REQUESTED' });
    const held = await create({ assetId, amount: '5.000001' }, careful);
    expect(held.status).toBe('PENDING_APPROVAL');
    expect(await treasury.world.database.sql`select 1 from outbox where ref_id = ${held.id}`).toHaveLength(0);
  });

  it('answers 503 while the chain or a price cannot be reached, and claims nothing', async () => {
    expect(await failure(create({}, shop, unreachable()))).toMatchObject({ code: 'fee_estimation_unavailable', status: 503 });
    await treasury.deps.db.transaction((tx) => deletePrice(tx, 'USDT'));
    expect(await failure(create())).toMatchObject({ code: 'fee_estimation_unavailable', status: 503 });
    await treasury.world.setPrice('USDT', '1');
  });
});

describe('estimating a fee', () => {
  const estimate = (over: Record<string, unknown> = {}, gateway = shop, deps = treasury.deps) => estimateFee(deps, { gateway, body: body(over) });

  it('quotes without creating anything and without looking at what the hot wallet holds', async () => {
    const rows = async () =>
      treasury.world.database.sql`select (select count(*) from settlements) as settlements, (select count(*) from address_book) as addresses`;
    const before = await rows();
    const address = '0x00000000000000000000000000000000cafe0003';
    const quote = await estimate({ amount: '1000000', address });
    expect(quote).toMatchObject({ address, assetName: 'USDT', network: 'ethereum', amount: '1000000', sufficient: true });
    expect(parseTrusted(quote.feeLocked)).toBeGreaterThan(0n);
    expect(parseTrusted(quote.netAmount) + parseTrusted(quote.feeLocked)).toBe(parseTrusted('1000000'));
    expect(await treasury.chain.balance(treasury.wallet('hot'))).toBe(0n);
    expect(await rows()).toEqual(before);
  });

  it('shows a negative net amount when the fee is more than the amount', async () => {
    const quote = await estimate({ amount: '0.000001' });
    expect(quote.sufficient).toBe(false);
    expect(quote.netAmount).toMatch(/^-/);
  });

  it('charges a monthly-billed gateway nothing for tokens, even with the chain down, and the fee for native coins', async () => {
    const monthly = await treasury.world.aGateway({ billing: 'MONTHLY' });
    expect(await estimate({}, monthly, unreachable())).toMatchObject({ feeLocked: '0', netAmount: '10', sufficient: true });
    expect(parseTrusted((await estimate({ assetId: treasury.assets.ETH?.id, amount: '1' }, monthly)).feeLocked)).toBeGreaterThan(0n);
  });

  it('names a malformed address before it quotes anything, and answers 503 when it cannot quote', async () => {
    expect(await failure(estimate({ address: '0x12' }, shop, unreachable()))).toMatchObject({ code: 'validation_error', field: 'address' });
    expect(await failure(estimate({}, shop, unreachable()))).toMatchObject({ code: 'fee_estimation_unavailable' });
  });
});

describe('balances', () => {
  it('has one item per asset with a balance, with every field of the contract, and none for a gateway that earned nothing', async () => {
    const { items } = await listBalances(treasury.deps, { gateway: shop });
    expect(items.map((item) => item.symbol)).toEqual(['ETH', 'USDT']);
    expect(items[0]).toMatchObject({
      type: 'NATIVE',
      networkName: 'ethereum',
      networkSymbol: 'ETH',
      totalAvailable: '0.9995',
      totalAvailableUsd: '1999.00',
      payments: 1,
      totalPendingAvailable: '0',
      totalPendingUsd: '0.00',
      pendingPayments: 0,
      nextMaturityAt: null,
      totalQuarantinedAvailable: '0',
      totalQuarantinedAvailableUsd: '0.00',
      quarantinedPayments: 0,
      totalQuarantinedReceived: '0',
      totalQuarantinedPendingAvailable: '0',
      quarantinedPendingPayments: 0,
      totalReceived: '1',
      totalTxFee: '0.0005',
      totalCommission: '0',
      totalPendingReceived: '0',
      totalPendingTxFee: '0',
      totalPendingCommission: '0',
    });
    expect(Object.keys(items[0] ?? {})).toHaveLength(26);
    expect(await listBalances(treasury.deps, { gateway: await treasury.world.aGateway() })).toEqual({ items: [] });
  });

  it('shows what is still maturing apart, with the moment it matures', async () => {
    const slow = await treasury.world.aGateway({ settings: { maturitySeconds: 3_600 } });
    await treasury.earn(slow, 'USDC', '7');
    const [item] = (await listBalances(treasury.deps, { gateway: slow })).items;
    expect(item).toMatchObject({
      totalAvailable: '0',
      payments: 0,
      totalPendingAvailable: '6.5',
      totalPendingUsd: '6.50',
      pendingPayments: 1,
      totalPendingReceived: '7',
      totalPendingTxFee: '0.5',
    });
    expect(Date.parse(item?.nextMaturityAt ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
    expect(
      await failure(
        createSettlement(treasury.deps, { gateway: slow, body: body({ assetId: treasury.assets.USDC?.id, amount: '2' }), commit: plainCommit(treasury.deps) }),
      ),
    ).toMatchObject({
      code: 'insufficient_balance',
    });
  });
});

describe('reading settlements', () => {
  it('answers the same 404 for an unknown id, a malformed one and one of another gateway', async () => {
    const mine = await create();
    const other = await treasury.world.aGateway();
    for (const [gateway, id] of [
      [other, mine.id],
      [shop, randomUUID()],
      [shop, 'nonsense'],
    ] as const) {
      expect(await failure(getSettlement(treasury.deps, { gateway, id }))).toMatchObject({ code: 'not_found', message: 'Not found.' });
    }
  });

  it('pages newest first without losing or repeating any, by page and by cursor', async () => {
    const rich = await treasury.world.aGateway();
    await treasury.earn(rich, 'USDT', '50');
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await create({ amount: '2' }, rich)).id);
    const list = (query: object) => listSettlements(treasury.deps, { gateway: rich, ...query });
    const first = await list({ limit: 2 });
    expect(first.items.map((item) => item.id)).toEqual(made.slice(0, 2));
    expect(first.pagination).toMatchObject({ total: 5, limit: 2, page: 1, hasMore: true });
    expect((await list({ limit: 2, page: 3 })).items.map((item) => item.id)).toEqual(made.slice(4));
    const second = await list({ limit: 2, page: 9, after: first.pagination.nextCursor ?? '' });
    expect(second.items.map((item) => item.id)).toEqual(made.slice(2, 4));
    const last = await list({ limit: 2, after: second.pagination.nextCursor ?? '' });
    expect(last).toMatchObject({ items: [{ id: made[4] }], pagination: { hasMore: false, nextCursor: null } });
    expect((await list({ limit: 1, status: 'SETTLED' })).pagination.total).toBe(0);
    expect((await list({ limit: 1_000, status: 'REQUESTED' })).pagination).toMatchObject({ total: 5, limit: 100 });
    for (const bad of [{ status: 'DONE' }, { limit: 0 }, { page: 0 }, { limit: 1.5 }, { after: 'xyz' }, { after: Buffer.alloc(16).toString('base64url') }]) {
      expect(await failure(list(bad)), JSON.stringify(bad)).toMatchObject({ code: 'validation_error', field: Object.keys(bad)[0] });
    }
  });
});

describe('races', () => {
  it('makes one settlement of 200 identical creates under one Idempotency-Key, even when it takes the whole balance', async () => {
    const racer = await treasury.world.aGateway();
    await treasury.earn(racer, 'USDT', '10.5');
    const request = body({ amount: '10' });
    const raw = Buffer.from(JSON.stringify(request));
    const keyed = {
      scope: { gatewayId: racer.id, operation: 'createSettlement', key: randomUUID() },
      fingerprint: fingerprint('POST', '/api/v1/merchant/settlements', raw),
    };
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => createSettlement(treasury.deps, { gateway: racer, body: request, commit: committer(treasury.deps, keyed).commit })),
    );
    expect(new Set(replies.map((reply) => JSON.stringify(reply.data))).size).toBe(1);
    expect(await treasury.world.database.sql`select 1 from settlements where gateway_id = ${racer.id}`).toHaveLength(1);
  });
});
