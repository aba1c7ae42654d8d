import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { getSettlement, type SettlementView } from '#api/settlements/view.ts';
import { formatAmount } from '#shared/core/money.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { aParkingWorld, failureOf, type ParkingWorld } from '#test/fixtures/parking.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { TestShop } from '#test/fixtures/shop.ts';
import type { Route, Screen } from '#state-machines/settlement/settlement.ts';

// The numbered rules of contract 4.3, one block each; how parked cashouts end, and races, are parking.test.ts and parking-ends.test.ts.

const SCREENS = { screening: { enabled: true, threshold: 70 } };
const WEEK_MS = 7 * 86_400_000;
const ROUTES: readonly Route[] = ['GREEN', 'AML_HELD', 'SMART'];

let world: ParkingWorld;
/** A thousand in each pool, for rows that only look at what one cashout took. */
let plenty: TestShop;
beforeAll(async () => {
  world = await aParkingWorld();
  plenty = await rich({}, [1_000, 1_000]);
});
beforeEach(async () => {
  await world.forget();
  Object.assign(world.network, { feeUsd: 1, down: false });
  world.screening.verdict = { score: 0 };
  await world.shops.world.setPrice('USDT', '1');
});
afterAll(() => world.stop());

/** What a create comes to: its HTTP status and what it says. */
async function outcome(shop: TestShop, body: Record<string, unknown>): Promise<[number, string]> {
  try {
    const { status, view } = await world.create(shop, body);
    return [status, view.status];
  } catch (error) {
    const { status, code } = error as { status: number; code: string };
    return [status, code];
  }
}
async function balances(shop: TestShop): Promise<[green: string, held: string, reserved: string]> {
  const found = (await gatewayBalances(world.deps.db.sql, shop.gateway.id)).find((one) => one.assetId === world.usdt.id);
  return [formatAmount(found?.available ?? 0n), formatAmount(found?.held ?? 0n), formatAmount(found?.reserved ?? 0n)];
}
async function rich(settings: Record<string, unknown> = {}, [green, held] = [100, 100]): Promise<TestShop> {
  const shop = await world.open({ ...SCREENS, ...settings });
  await world.fund(shop, green as number);
  await world.fundHeld(shop, held as number);
  return shop;
}
/** What each balance changed by since then; whole dollars. */
const change = async (shop: TestShop, before: string[]) => (await balances(shop)).map((now, i) => Number(now) - Number(before[i]));
const count = async (shop: TestShop) => (await world.shops.world.database.sql`select 1 from settlements where gateway_id = ${shop.gateway.id}`).length;

describe('route rule 1', () => {
  it.each([
    ['GREEN', 7, ['0', '5', '7']],
    ['AML_HELD', 5, ['7', '0', '5']],
  ] as const)('%s has exactly its own pool as its ceiling', async (route, ceiling, left) => {
    const shop = await rich({ cashout: { parkingEnabled: false } }, [7, 5]);
    const error = await failureOf(world.create(shop, { route, amount: `${ceiling}.000001` }));
    expect([error.code, error.message]).toEqual(['insufficient_balance', `amount: requested ${ceiling}.000001, available ${ceiling}`]);
    expect(await balances(shop)).toEqual(['7', '5', '0']);
    expect(await outcome(shop, { route, amount: String(ceiling) })).toEqual([200, 'REQUESTED']);
    expect(await balances(shop)).toEqual(left);
  });

  it.each([
    [0, 'GREEN', [-10, 0, 10]],
    [69, 'GREEN', [-10, 0, 10]],
    [70, 'AML_HELD', [0, -10, 10]],
    [100, 'AML_HELD', [0, -10, 10]],
  ] as const)('SMART with the verdict %d draws from %s after one screen, and says so', async (score, route, taken) => {
    world.screening.verdict = { score };
    const [before, asked] = [await balances(plenty), world.screening.asked];
    const { status, view } = await world.create(plenty, { route: 'SMART' });
    expect([status, view]).toMatchObject([200, { status: 'REQUESTED', route, routedBy: 'SMART_ROUTE', destinationRiskScore: score }]);
    expect(world.screening.asked - asked).toBe(1);
    expect(await change(plenty, before)).toEqual(taken);
  });

  it.each(['GREEN', 'AML_HELD'] as const)('%s was named by the caller: neither routedBy nor a score', async (route) => {
    const { view } = await world.create(plenty, { route });
    expect(view).not.toHaveProperty('routedBy');
    expect(view).not.toHaveProperty('destinationRiskScore');
  });
});

describe('route rule 2', () => {
  it('takes the same fee, approval cap and dispatch delay on every route', async () => {
    world.network.feeUsd = 3;
    const shop = await rich({ cashout: { approvalCapUsd: '20', dispatchDelaySeconds: 90 } });
    for (const route of ROUTES) {
      const { view } = await world.create(shop, { route, amount: '20' });
      expect([route, view.status, view.feeLocked, view.netAmount]).toEqual([route, 'REQUESTED', '3', '17']);
      const [row] = await world.shops.world.database
        .sql`select extract(epoch from dispatch_at - created_at)::int as delay from settlements where id = ${view.id}`;
      expect(row).toEqual({ delay: 90 });
      expect((await world.create(shop, { route, amount: '20.000001' })).view).toMatchObject({
        status: 'PENDING_APPROVAL',
        feeLocked: '3',
        netAmount: '17.000001',
      });
    }
  });

  // A coin worth a million makes one unit of it a cashout.
  it.each([
    ['GREEN', ['66.666667', '100', '33.333333']],
    ['AML_HELD', ['100', '66.666667', '33.333333']],
  ] as const)('pays exact partial amounts of the pool of %s', async (route, left) => {
    const shop = await rich();
    world.network.feeUsd = 0;
    await world.shops.world.setPrice('USDT', '1000000');
    for (const amount of ['33.333332', '0.000001']) await world.create(shop, { route, amount });
    expect(await balances(shop)).toEqual(left);
  });
});

describe('route rule 3', () => {
  it('starts a held-pool cashout REQUESTED without an operator, whether it was named or routed there', async () => {
    expect((await world.create(plenty, { route: 'AML_HELD' })).view).toMatchObject({ status: 'REQUESTED', route: 'AML_HELD' });
    world.screening.verdict = { score: 100 };
    expect((await world.create(plenty, { route: 'SMART' })).view).toMatchObject({ status: 'REQUESTED', route: 'AML_HELD' });
  });
});

describe('route rules 4 and 5: what each route comes to by what screening says (decisions 10)', () => {
  const off = 'off' as const;
  let unscreened: TestShop;
  beforeAll(async () => {
    unscreened = await world.open();
    await world.fund(unscreened, 100);
  });
  it.each<[Route, Screen | typeof off, number, string]>([
    ['GREEN', off, 200, 'REQUESTED'],
    ['AML_HELD', off, 202, 'UNDERFUNDED'],
    ['SMART', off, 409, 'screening_required'],
    ['GREEN', { score: 69 }, 200, 'REQUESTED'],
    ['AML_HELD', { score: 69 }, 200, 'REQUESTED'],
    ['SMART', { score: 69 }, 200, 'REQUESTED'],
    ['GREEN', { score: 70 }, 200, 'PENDING_APPROVAL'],
    ['AML_HELD', { score: 70 }, 200, 'PENDING_APPROVAL'],
    ['SMART', { score: 70 }, 200, 'REQUESTED'],
    ['GREEN', 'unavailable', 200, 'PENDING_APPROVAL'],
    ['AML_HELD', 'unavailable', 200, 'PENDING_APPROVAL'],
    ['SMART', 'unavailable', 409, 'screening_required'],
    ['GREEN', 'out_of_credit', 200, 'PENDING_APPROVAL'],
    ['AML_HELD', 'out_of_credit', 202, 'WAITING_AML_CREDIT'],
    ['SMART', 'out_of_credit', 202, 'WAITING_AML_CREDIT'],
  ])('%s with %j is %d %s', async (route, verdict, status, said) => {
    const shop = verdict === off ? unscreened : plenty;
    if (verdict !== off) world.screening.verdict = verdict;
    const [before, rows, asked] = [await balances(shop), await count(shop), world.screening.asked];
    expect(await outcome(shop, { route })).toEqual([status, said]);
    expect(world.screening.asked - asked).toBe(verdict === off ? 0 : 1);
    expect((await change(shop, before))[2]).toBe(status === 200 ? 10 : 0);
    expect((await count(shop)) - rows).toBe(status === 409 ? 0 : 1);
  });

  it('AML_HELD without screening is refused as an over-request where the gateway does not park', async () => {
    const shop = await world.open({ cashout: { parkingEnabled: false } });
    const error = await failureOf(world.create(shop, { route: 'AML_HELD' }));
    expect([error.status, error.code, error.message]).toEqual([409, 'insufficient_balance', 'amount: requested 10, available 0']);
  });

  it.each(['SMART', 'AML_HELD'] as const)('%s waits for credit also where the gateway does not park what is underfunded', async (route) => {
    const shop = await world.open({ ...SCREENS, cashout: { parkingEnabled: false } });
    world.screening.verdict = 'out_of_credit';
    expect(await outcome(shop, { route })).toEqual([202, 'WAITING_AML_CREDIT']);
  });
});

describe('the over-request rule', () => {
  it('is a refusal by default, with both figures, and nothing is kept', async () => {
    const shop = await world.shops.open({ cashout: { enabled: true, allowlist: [] }, settings: { maturitySeconds: 0 } });
    await world.fund(shop, 4);
    const error = await failureOf(world.create(shop, { amount: '4.5' }));
    expect([error.status, error.code, error.message]).toEqual([409, 'insufficient_balance', 'amount: requested 4.5, available 4']);
    expect([await count(shop), await balances(shop)]).toEqual([0, ['4', '0', '0']]);
  });

  it('parks where parking is enabled for the gateway', async () => {
    const shop = await world.open();
    await world.fund(shop, 4);
    expect(await outcome(shop, { amount: '4.5' })).toEqual([202, 'UNDERFUNDED']);
    expect(await balances(shop)).toEqual(['4', '0', '0']);
  });
});

describe('parked rule 1', () => {
  it('reserves nothing and locks no fee; the fee is quoted fresh at activation', async () => {
    const shop = await world.open();
    await world.fund(shop, 9);
    const { view } = await world.create(shop);
    expect([view.feeLocked, view.netAmount, await balances(shop)]).toEqual(['', '', ['9', '0', '0']]);
    world.network.feeUsd = 4;
    await world.fund(shop, 1);
    await world.aMinute();
    expect(await read(shop, view)).toMatchObject({ status: 'REQUESTED', feeLocked: '4', netAmount: '6' });
  });
});

describe('parked rule 2', () => {
  it('activates by itself within a minute and keeps amount, address and metadata as sent', async () => {
    const shop = await world.open();
    const body = { amount: '10.500', metadata: { requester: 'ada', n: 1.5, nil: null }, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
    const { view } = await world.create(shop, body);
    await world.fund(shop, 11);
    expect(await world.aMinute()).toBe(1);
    expect(await read(shop, view)).toMatchObject({ ...body, metadata: SentJson.of(body.metadata), status: 'REQUESTED' });
  });
});

describe('parked rule 3', () => {
  it.each([
    ['0.999999', 0, 422, 'below_minimum_settlement'],
    ['1', 0, 202, 'UNDERFUNDED'],
    ['5', 5, 422, 'amount_below_network_fee'],
    ['4.999999', 5, 422, 'amount_below_network_fee'],
    ['5.000001', 5, 202, 'UNDERFUNDED'],
  ] as const)('an amount of %s at a fee of %d dollars is %d %s', async (amount, feeUsd, status, said) => {
    const shop = await world.open();
    world.network.feeUsd = feeUsd;
    expect(await outcome(shop, { amount })).toEqual([status, said]);
  });

  it('holds for what would wait for screening credit too, and no credit is asked for it', async () => {
    const shop = await world.open(SCREENS);
    world.screening.verdict = 'out_of_credit';
    const before = world.screening.asked;
    for (const route of ['SMART', 'AML_HELD']) expect(await outcome(shop, { route, amount: '0.5' })).toEqual([422, 'below_minimum_settlement']);
    world.network.feeUsd = 10;
    for (const route of ['SMART', 'AML_HELD']) expect(await outcome(shop, { route })).toEqual([422, 'amount_below_network_fee']);
    expect(world.screening.asked).toBe(before);
  });
});

describe('parked rule 4', () => {
  it('parks 20 per gateway, both parked statuses together, and refuses the next until one leaves (decisions 10)', async () => {
    const shop = await world.open(SCREENS);
    const parked = [];
    for (let n = 0; n < 20; n++) {
      world.screening.verdict = n % 2 === 0 ? { score: 0 } : 'out_of_credit';
      parked.push((await world.create(shop, { route: 'SMART' })).view);
    }
    expect(new Set(parked.map((view) => view.status))).toEqual(new Set(['UNDERFUNDED', 'WAITING_AML_CREDIT']));
    for (const verdict of [{ score: 0 }, 'out_of_credit'] as const) {
      world.screening.verdict = verdict;
      expect(await outcome(shop, { route: 'SMART' })).toEqual([409, 'too_many_parked_cashouts']);
    }
    await cancelSettlement(world.deps, { gateway: shop.gateway, id: parked[0]?.id ?? '', commit: plainCommit(world.deps) });
    expect(await outcome(shop, { route: 'SMART' })).toEqual([202, 'WAITING_AML_CREDIT']);
  });
});

describe('parked rule 5', () => {
  it('clears WAITING_AML_CREDIT on the same schedule once there is credit', async () => {
    const shop = await rich();
    world.screening.verdict = 'out_of_credit';
    const { view } = await world.create(shop, { route: 'SMART' });
    expect(await world.aMinute()).toBe(0);
    expect((await read(shop, view)).route).toBe('SMART');
    world.screening.verdict = { score: 75 };
    expect(await world.aMinute()).toBe(1);
    expect(await read(shop, view)).toMatchObject({ status: 'REQUESTED', route: 'AML_HELD', routedBy: 'SMART_ROUTE', destinationRiskScore: 75 });
  });
});

describe('parked rule 6', () => {
  it('gives both parked statuses an expiresAt seven days after their creation', async () => {
    const shop = await world.open(SCREENS);
    const underfunded = (await world.create(shop)).view;
    world.screening.verdict = 'out_of_credit';
    const waiting = (await world.create(shop, { route: 'AML_HELD' })).view;
    expect([underfunded.status, waiting.status]).toEqual(['UNDERFUNDED', 'WAITING_AML_CREDIT']);
    for (const view of [underfunded, waiting]) {
      const [row] = await world.shops.world.database.sql<[{ createdAt: Date }]>`select created_at from settlements where id = ${view.id}`;
      expect(Date.parse(view.expiresAt ?? '') - row.createdAt.getTime()).toBe(WEEK_MS);
    }
  });
});

describe('the approval cap', () => {
  it.each([
    ['10', '1', '10', 'REQUESTED'],
    ['10', '1', '10.000001', 'PENDING_APPROVAL'],
    ['10', '1.01', '10', 'PENDING_APPROVAL'],
    ['10', '0.5', '20', 'REQUESTED'],
    ['10', '0.5', '20.000001', 'PENDING_APPROVAL'],
    ['10', '0.999999999999999999', '10.000000', 'REQUESTED'],
    [null, '1', '100', 'REQUESTED'],
  ] as const)('of %s with a coin at %s dollars and an amount of %s is %s: strictly greater waits', async (approvalCapUsd, price, amount, status) => {
    const shop = await world.open({ cashout: { approvalCapUsd } });
    await world.fund(shop, 100);
    await world.shops.world.setPrice('USDT', price);
    expect(await outcome(shop, { amount })).toEqual([200, status]);
    expect((await balances(shop))[2]).toBe(formatAmount(BigInt(Math.round(Number(amount) * 1e6)) * 10n ** 12n));
  });
});

describe('the gates', () => {
  it('are asked in the order of decisions 10: minimum, fee, route and screen, pool, parked cap, approval cap', async () => {
    const shop = await world.open({ cashout: { parkingEnabled: false, approvalCapUsd: '0.5' } });
    const full = await world.open({ cashout: { parkedCap: 0, approvalCapUsd: '0.5' } });
    world.network.feeUsd = 20;
    expect(await outcome(shop, { route: 'SMART', amount: '0.5' })).toEqual([422, 'below_minimum_settlement']);
    expect(await outcome(shop, { route: 'SMART', amount: '20' })).toEqual([422, 'amount_below_network_fee']);
    expect(await outcome(shop, { route: 'SMART', amount: '21' })).toEqual([409, 'screening_required']);
    expect(await outcome(shop, { route: 'AML_HELD', amount: '21' })).toEqual([409, 'insufficient_balance']);
    expect(await outcome(full, { amount: '21' })).toEqual([409, 'too_many_parked_cashouts']);
  });
});

function read(shop: TestShop, { id }: SettlementView): Promise<SettlementView> {
  return getSettlement(world.deps, { gateway: shop.gateway, id });
}
