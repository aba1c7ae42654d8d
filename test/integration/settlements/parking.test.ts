import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { activateParked } from '#api/settlements/activate-parked.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import { getSettlement, listSettlements, type SettlementView } from '#api/settlements/view.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { cashoutProblem } from '#api/intents/cashout.ts';
import { grantScreeningCredits, listScreeningCredits } from '#api/store/screenings.ts';
import { findSettlement, takeParked } from '#api/store/settlements.ts';
import { ChainUnavailable, type Payer } from '#shared/chains/chain.ts';
import { formatAmount } from '#shared/core/money.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { aParkingWorld, failureOf, type ParkingWorld } from '#test/fixtures/parking.ts';
import type { TestShop } from '#test/fixtures/shop.ts';

const WEEK_MS = 7 * 86_400_000;
const SCREENS = { screening: { enabled: true, threshold: 70 } };

let world: ParkingWorld;
let deps: Deps;

beforeAll(async () => {
  world = await aParkingWorld();
  deps = world.deps;
});
beforeEach(async () => {
  await world.forget();
  Object.assign(world.network, { feeUsd: 1, down: false });
  world.screening.verdict = { score: 0 };
});
afterAll(() => world.stop());

const get = (shop: TestShop, { id }: { id: string }): Promise<SettlementView> => getSettlement(deps, { gateway: shop.gateway, id });
const retry = (shop: TestShop, { id }: { id: string }, commit = plainCommit(deps)) => retrySettlement(deps, { gateway: shop.gateway, id, commit });
const cancel = (shop: TestShop, { id }: { id: string }, commit = plainCommit(deps)) => cancelSettlement(deps, { gateway: shop.gateway, id, commit });
const park = async (shop: TestShop, body = {}): Promise<SettlementView> => {
  const { status, view } = await world.create(shop, body);
  expect(status).toBe(202);
  return view;
};
const rowOf = async ({ id }: { id: string }) => {
  const [row] = await world.shops.world.database.sql`select * from settlements where id = ${id}`;
  return row as Record<string, unknown>;
};
const balancesOf = async (shop: TestShop) => {
  const found = (await gatewayBalances(deps.db.sql, shop.gateway.id)).find((one) => one.assetId === world.usdt.id);
  return { available: formatAmount(found?.available ?? 0n), held: formatAmount(found?.held ?? 0n), reserved: formatAmount(found?.reserved ?? 0n) };
};

describe('a create above the balance', () => {
  it('is parked where the gateway parks: 202 with nothing claimed, nothing locked and no shortfall', async () => {
    const shop = await world.open();
    await world.fund(shop, 4);
    const { status, view } = await world.create(shop, { amount: '10.50', metadata: { requester: 'ada' } });
    expect(status).toBe(202);
    expect(view).toEqual({
      id: view.id,
      address: expect.stringMatching(/^0x/),
      assetName: 'USDT',
      network: 'ethereum',
      source: 'API',
      status: 'UNDERFUNDED',
      route: 'GREEN',
      metadata: SentJson.of({ requester: 'ada' }),
      amount: '10.50',
      feeLocked: '',
      netAmount: '',
      receivedAmount: '',
      expiresAt: view.expiresAt,
      txHash: '',
      blockchainUrl: '',
      createdAt: view.createdAt,
      amountUsd: '10.50',
    });
    const { createdAt } = await rowOf(view);
    expect(Date.parse(view.expiresAt ?? '') - (createdAt as Date).getTime()).toBe(WEEK_MS);
    expect(await balancesOf(shop)).toEqual({ available: '4', held: '0', reserved: '0' });
    expect(await world.shops.world.database.sql`select 1 from outbox where ref_id = ${view.id}`).toHaveLength(0);
    expect(await world.shops.world.database.sql`select tag from address_book where gateway_id = ${shop.gateway.id}`).toEqual([{ tag: 'API' }]);
  });

  it('shows on every read how much is missing at that moment', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    expect(await get(shop, parked)).toEqual({ ...parked, shortfall: '10', shortfallUsd: '10.00' });
    await world.fund(shop, 2);
    expect(await get(shop, parked)).toMatchObject({ shortfall: '8', shortfallUsd: '8.00' });
    expect((await listSettlements(deps, { gateway: shop.gateway, status: 'UNDERFUNDED' })).items).toMatchObject([{ id: parked.id, shortfall: '8' }]);
  });

  it('leaves the shortfall out, and is never 0, while the balance cannot be read', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    const { sql } = world.shops.world.database;
    const broken = new Proxy(sql, {
      apply: (target, self, args: [TemplateStringsArray, ...unknown[]]) =>
        args[0].join('').includes('from ledger_accounts') ? Promise.reject(new Error('balances are away')) : Reflect.apply(target, self, args),
    });
    const view = await getSettlement({ ...deps, db: { ...deps.db, sql: broken } }, { gateway: shop.gateway, id: parked.id });
    expect(view).toEqual(parked);
  });

  it('is refused and not parked when it could never activate: below the minimum, or below its own fee', async () => {
    const shop = await world.open();
    expect(await failureOf(world.create(shop, { amount: '0.99' }))).toMatchObject({ code: 'below_minimum_settlement', status: 422 });
    world.network.feeUsd = 10;
    expect(await failureOf(world.create(shop))).toMatchObject({ code: 'amount_below_network_fee', status: 422 });
    expect(await world.shops.world.database.sql`select 1 from settlements where gateway_id = ${shop.gateway.id}`).toHaveLength(0);
  });

  it('parks no more at once than the cap, both parked statuses together, however many ask at the same time', async () => {
    const shop = await world.open({ ...SCREENS, cashout: { parkedCap: 3 } });
    world.screening.verdict = 'out_of_credit';
    await park(shop, { route: 'SMART' });
    world.screening.verdict = { score: 0 };
    const assets = [world.usdt.id, world.shops.world.assets.USDC?.id as string];
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => world.create(shop, { assetId: assets[i % 2] as string })));
    expect(outcomes.filter((one) => one.status === 'fulfilled')).toHaveLength(2);
    for (const one of outcomes) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'too_many_parked_cashouts', status: 409 });
  });

  it('answers a repeat of its Idempotency-Key with the original, also 20 at once', async () => {
    const shop = await world.open();
    const commit = world.keyed(shop.gateway, 'createSettlement');
    const replies = await Promise.all(Array.from({ length: 20 }, () => world.create(shop, {}, commit)));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(replies[0]?.status).toBe(202);
    expect(await world.shops.world.database.sql`select 1 from settlements where gateway_id = ${shop.gateway.id}`).toHaveLength(1);
  });
});

describe('the address book', () => {
  it('keeps a destination once with its first label, also when two assets pay it at once', async () => {
    const shop = await world.open();
    const assets = [world.usdt.id, world.shops.world.assets.USDC?.id as string];
    await Promise.all(assets.map((assetId, i) => park(shop, { assetId, label: `label ${i}` })));
    const rows = await world.shops.world.database.sql<{ label: string }[]>`select label from address_book where gateway_id = ${shop.gateway.id}`;
    expect(rows).toHaveLength(1);
    expect(rows[0]?.label).toMatch(/^label [01]$/);
  });
});

describe('activation', () => {
  it('claims once the pool covers it, with a fresh fee, and keeps what was sent', async () => {
    const shop = await world.open({ cashout: { dispatchDelaySeconds: 30 } });
    const parked = await park(shop, { amount: '10.50', metadata: { order: 7 } });
    expect(await world.aMinute()).toBe(0);
    await world.fund(shop, 20);
    world.network.feeUsd = 2;
    expect(await world.aMinute()).toBe(1);
    const { expiresAt: _, ...kept } = parked;
    expect(await get(shop, parked)).toEqual({ ...kept, status: 'REQUESTED', feeLocked: '2', netAmount: '8.5', dispatchAt: expect.stringMatching(/Z$/) });
    expect(await balancesOf(shop)).toEqual({ available: '9.5', held: '0', reserved: '10.5' });
    const [{ delay } = { delay: null }] = await world.shops.world.database.sql<{ delay: number }[]>`
      select extract(epoch from due_at - sluice_now())::float8 as delay from outbox where ref_id = ${parked.id} and topic = 'settlement.dispatch'`;
    expect(delay).toBeGreaterThan(20);
    expect(delay).toBeLessThanOrEqual(30);
    expect(await rowOf(parked)).toMatchObject({ intentMac: expect.any(Buffer), waitReason: null });
  });

  it('looks at each about once a minute, and asks nobody about one whose pool is short', async () => {
    const shop = await world.open(SCREENS);
    await park(shop);
    const [quotes, screens] = [world.network.asked, world.screening.asked];
    expect(await world.aMinute()).toBe(0);
    expect([world.network.asked, world.screening.asked]).toEqual([quotes, screens]);
    await world.fund(shop, 10);
    world.network.feeUsd = 50;
    expect(await world.aMinute()).toBe(0);
    const asked = world.network.asked;
    await world.shops.world.advance(30);
    await activateParked(deps);
    expect(world.network.asked).toBe(asked);
  });

  it('is no work while its pool is short and its time not over', async () => {
    const { sql } = world.shops.world.database;
    const works = async (): Promise<unknown> => {
      const looks = (['activate-parked', 'expire-parked'] as const).map((name) => periodicWork[name].look(sql));
      return (await sql`select ${looks[0] as never} as activate, ${looks[1] as never} as expire`)[0];
    };
    const shop = await world.open();
    const parked = await park(shop);
    await world.shops.world.advance(61);
    expect(await works()).toEqual({ activate: false, expire: false });
    await world.fund(shop, 20);
    expect(await works()).toEqual({ activate: true, expire: false });
    world.network.down = true;
    await activateParked(deps);
    await sql`update settlements set expires_at = sluice_now() where id = ${parked.id}`;
    expect(await works()).toEqual({ activate: false, expire: true });
    await cancel(shop, parked);
    expect(await works()).toEqual({ activate: false, expire: false });
  });

  it('serves the oldest first when the pool covers one only, and the other later', async () => {
    const shop = await world.open();
    const [first, second] = [await park(shop), await park(shop)];
    await world.fund(shop, 15);
    expect(await world.aMinute()).toBe(1);
    expect([(await get(shop, first)).status, (await get(shop, second)).status]).toEqual(['REQUESTED', 'UNDERFUNDED']);
    expect(await get(shop, second)).toMatchObject({ shortfall: '5' });
    await world.fund(shop, 5);
    expect(await world.aMinute()).toBe(1);
    expect((await get(shop, second)).status).toBe('REQUESTED');
  });

  it('asks for approval above the cap, and when the destination does not pass its new screen', async () => {
    const capped = await world.open({ cashout: { approvalCapUsd: '9.99' } });
    const screened = await world.open(SCREENS);
    const parked = [await park(capped), await park(screened), await park(screened, { amount: '11' })] as const;
    await world.fund(capped, 10);
    await world.fund(screened, 10);
    world.screening.verdict = { score: 70 };
    expect(await world.aMinute()).toBe(2);
    await world.fund(screened, 11);
    world.screening.verdict = 'out_of_credit';
    expect(await world.aMinute()).toBe(1);
    const rows = await Promise.all(parked.map(rowOf));
    expect(rows.map((row) => [row.status, row.holdReason])).toEqual([
      ['PENDING_APPROVAL', 'approval_cap'],
      ['PENDING_APPROVAL', 'destination_flagged'],
      ['PENDING_APPROVAL', 'screening_unavailable'],
    ]);
    expect((await balancesOf(capped)).reserved).toBe('10');
    expect(await world.shops.world.database.sql`select 1 from outbox where ref_id = any(${parked.map(({ id }) => id)}::uuid[])`).toHaveLength(0);
  });

  it('leaves one parked whose fee has risen above its amount, says why, and activates it when the fee falls', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    await world.fund(shop, 10);
    world.network.feeUsd = 10;
    expect(await world.aMinute()).toBe(0);
    expect(await rowOf(parked)).toMatchObject({ status: 'UNDERFUNDED', waitReason: 'amount: the network fee alone is 10' });
    expect(await failureOf(retry(shop, parked))).toMatchObject({ code: 'conflict', message: expect.stringContaining('the network fee alone is 10') });
    world.network.feeUsd = 5;
    expect(await world.aMinute()).toBe(1);
    expect(await get(shop, parked)).toMatchObject({ status: 'REQUESTED', netAmount: '5' });
  });

  it('lets a worker claim no higher fee than ten times what was accepted, nor more than half of the amount: the merchant accepts it by a retry', async () => {
    const shop = await world.open();
    const [small, large] = [await park(shop), await park(shop, { amount: '100' })];
    await world.fund(shop, 110);
    const risen = (now: string, most: string): string =>
      `its network fee is ${now} by now, and ${most} was accepted at most; its merchant can retry it, which accepts the fee of that moment`;
    // Accepted at 1: half of ten is less than ten times that, and half of a hundred is more.
    world.network.feeUsd = 11;
    expect(await world.aMinute()).toBe(0);
    expect(await rowOf(large)).toMatchObject({ status: 'UNDERFUNDED', waitReason: risen('11', '10') });
    world.network.feeUsd = 6;
    expect(await world.aMinute()).toBe(1);
    expect(await rowOf(small)).toMatchObject({ status: 'UNDERFUNDED', waitReason: risen('6', '5') });
    expect(await get(shop, large)).toMatchObject({ status: 'REQUESTED', netAmount: '94' });
    expect(await balancesOf(shop)).toMatchObject({ available: '10', reserved: '100' });
    expect(await retry(shop, small)).toMatchObject({ status: 200, data: { status: 'REQUESTED', netAmount: '4' } });
    for (const { id } of [small, large]) {
      const row = await findSettlement(deps.db.sql, id);
      if (row === undefined) throw new Error('it is gone');
      expect(await cashoutProblem(deps.db.sql, deps, row)).toBeNull();
    }
  });

  it('never claims without a person what was accepted for approval only, whatever the cap is by then', async () => {
    const shop = await world.open({ cashout: { approvalCapUsd: '5' } });
    const parked = await park(shop);
    await world.shops.world.database.sql`update gateways set settings = jsonb_set(settings, '{cashout,approvalCapUsd}', 'null') where id = ${shop.gateway.id}`;
    await world.fund(shop, 10);
    expect(await world.aMinute()).toBe(1);
    expect(await rowOf(parked)).toMatchObject({ status: 'PENDING_APPROVAL', holdReason: 'approval_cap' });
  });

  it('moves nothing while the chain cannot be reached, nor for a gateway that is suspended or may not cash out', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    await world.fund(shop, 10);
    world.network.down = true;
    expect(await world.aMinute()).toBe(0);
    expect(await failureOf(retry(shop, parked))).toMatchObject({ code: 'fee_estimation_unavailable', status: 503 });
    world.network.down = false;
    await world.shops.world.database.sql`update gateways set status = 'SUSPENDED' where id = ${shop.gateway.id}`;
    expect(await world.aMinute()).toBe(0);
    await world.shops.world.database.sql`update gateways set status = 'VERIFIED' where id = ${shop.gateway.id}`;
    const allow = (enabled: boolean) =>
      world.shops.world.database
        .sql`update gateways set settings = jsonb_set(settings, '{cashout,enabled}', ${String(enabled)}::text::jsonb) where id = ${shop.gateway.id}`;
    await allow(false);
    expect(await world.aMinute()).toBe(0);
    await allow(true);
    expect(await world.aMinute()).toBe(1);
  });

  it('is looked at although a node is slow about the destinations of other gateways', async () => {
    const shops = await Promise.all(Array.from({ length: 10 }, () => world.open()));
    const [hostile, ...others] = shops as [TestShop, ...TestShop[]];
    const trap = '0x00000000000000000000000000000000cafe0002';
    const slow = [await park(hostile, { address: trap }), await park(hostile, { address: trap })];
    const parked: SettlementView[] = [];
    for (const shop of others) parked.push(await park(shop));
    for (const shop of shops) await world.fund(shop, 20);
    let asked = 0;
    const [name, chain] = [...deps.chains][0] as [string, Chain];
    const estimate: Payer['estimate'] = async (intent) => {
      if (intent.recipient !== trap) return chain.payer.estimate(intent);
      asked += 1;
      throw new ChainUnavailable('timed out', { trouble: 'slow' });
    };
    const chains = new Map([...deps.chains, [name, { ...chain, payer: { ...chain.payer, estimate } }]]);
    await world.shops.world.advance(60);
    expect(await activateParked({ ...deps, chains })).toBe(others.length);
    expect(new Set(await Promise.all(parked.map(async (one) => (await rowOf(one)).status)))).toEqual(new Set(['REQUESTED']));
    expect(await Promise.all(slow.map(async (one) => (await rowOf(one)).status))).toEqual(['UNDERFUNDED', 'UNDERFUNDED']);
    // Its own gateway waits no second time for what is slow.
    expect(asked).toBe(1);
  });

  it('says why the network refuses it, cut short and without what no column holds: a recipient chooses such words', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    await world.fund(shop, 10);
    const rejected = `execution reverted: \u0000\ud800${'x'.repeat(5_000)}`;
    const refusing = new Map(
      [...deps.chains].map(([name, chain]) => [name, { ...chain, payer: { ...chain.payer, estimate: async () => ({ ok: false as const, rejected }) } }]),
    );
    const refused: Deps = { ...deps, chains: refusing };
    await world.shops.world.advance(60);
    expect(await activateParked(refused)).toBe(0);
    expect(await rowOf(parked)).toMatchObject({
      waitReason: expect.stringMatching(/^address: the network refuses this transfer: execution reverted: \ufffd\ufffdx{100,300}$/),
    });
    const again = await failureOf(retrySettlement(refused, { gateway: shop.gateway, id: parked.id, commit: plainCommit(deps) }));
    expect(again).toMatchObject({ code: 'conflict', message: expect.stringMatching(/^.{100,400}$/) });
  });

  it('pays only what the merchant asked for: a row that somebody changed or made up stays where it is', async () => {
    const shop = await world.open(SCREENS);
    const { sql } = world.shops.world.database;
    const elsewhere = await park(shop, { address: '0x00000000000000000000000000000000cafe0002' });
    await cancel(shop, elsewhere);
    world.screening.verdict = 'out_of_credit';
    const smart = await park(shop, { route: 'SMART' });
    world.screening.verdict = { score: 0 };
    expect(await world.aMinute()).toBe(1);
    await world.fund(shop, 50);
    await world.fundHeld(shop, 50);
    const { addressId } = await rowOf(elsewhere);
    const { addressId: before } = await rowOf(smart);
    const forgeries: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        'destination',
        () => sql`update settlements set address_id = ${String(addressId)} where id = ${smart.id}`,
        () => sql`update settlements set address_id = ${String(before)} where id = ${smart.id}`,
      ],
      ['amount', () => sql`update settlements set amount = 11 where id = ${smart.id}`, () => sql`update settlements set amount = 10 where id = ${smart.id}`],
      ['pool', () => sql`update settlements set pool = 'held' where id = ${smart.id}`, () => sql`update settlements set pool = 'green' where id = ${smart.id}`],
    ];
    for (const [what, forge, mend] of forgeries) {
      await forge();
      expect([what, await world.aMinute()]).toEqual([what, 0]);
      expect(await failureOf(retry(shop, smart))).toMatchObject({ code: 'conflict', status: 409 });
      await mend();
    }
    const invented = randomUUID();
    await sql`insert into settlements select (jsonb_populate_record(s, jsonb_build_object('id', ${invented}::text))).* from settlements s where id = ${smart.id}`;
    expect(await world.aMinute()).toBe(1);
    expect([(await rowOf(smart)).status, (await rowOf({ id: invented })).status]).toEqual(['REQUESTED', 'UNDERFUNDED']);
    expect(await cancel(shop, { id: invented })).toMatchObject({ status: 200 });
    expect(await balancesOf(shop)).toEqual({ available: '40', held: '50', reserved: '10' });
  });
});

describe('the routes', () => {
  it('SMART draws from green for a clean destination and from the held pool for a flagged one, with one screen each', async () => {
    const shop = await world.open(SCREENS);
    await world.fundHeld(shop, 10);
    await world.fund(shop, 10);
    const asked = world.screening.asked;
    world.screening.verdict = { score: 12 };
    expect((await world.create(shop, { route: 'SMART' })).view).toMatchObject({
      status: 'REQUESTED',
      route: 'GREEN',
      routedBy: 'SMART_ROUTE',
      destinationRiskScore: 12,
    });
    world.screening.verdict = { score: 88 };
    expect((await world.create(shop, { route: 'SMART' })).view).toMatchObject({
      status: 'REQUESTED',
      route: 'AML_HELD',
      routedBy: 'SMART_ROUTE',
      destinationRiskScore: 88,
    });
    expect(world.screening.asked).toBe(asked + 2);
    // The fee is that of the wallet which pays.
    expect(world.network.payer).toBe(world.shops.world.network.config.wallets.held.address.toLowerCase());
    expect(await balancesOf(shop)).toEqual({ available: '0', held: '0', reserved: '20' });
  });

  it('AML_HELD pays exact parts of the held pool, and is an over-request beyond it', async () => {
    const shop = await world.open({ ...SCREENS, cashout: { parkingEnabled: false } });
    await world.fundHeld(shop, 10);
    const { view } = await world.create(shop, { route: 'AML_HELD', amount: '4' });
    expect(view).toMatchObject({ status: 'REQUESTED', route: 'AML_HELD' });
    expect(view).not.toHaveProperty('routedBy');
    expect(await balancesOf(shop)).toMatchObject({ held: '6', reserved: '4' });
    expect(await failureOf(world.create(shop, { route: 'AML_HELD', amount: '6.000001' }))).toMatchObject({ code: 'insufficient_balance', status: 409 });
  });

  it('without screening AML_HELD is an over-request and SMART is refused', async () => {
    const [parks, refuses] = [await world.open(), await world.open({ cashout: { parkingEnabled: false } })];
    expect(await park(parks, { route: 'AML_HELD' })).toMatchObject({ status: 'UNDERFUNDED', route: 'AML_HELD' });
    expect(await failureOf(world.create(refuses, { route: 'AML_HELD' }))).toMatchObject({ code: 'insufficient_balance' });
    for (const shop of [parks, refuses])
      expect(await failureOf(world.create(shop, { route: 'SMART' }))).toMatchObject({ code: 'screening_required', status: 409 });
  });

  it('SMART is refused with the provider down, where the named routes ask for approval', async () => {
    const shop = await world.open(SCREENS);
    await world.fundHeld(shop, 10);
    await world.fund(shop, 10);
    world.screening.verdict = 'unavailable';
    expect(await failureOf(world.create(shop, { route: 'SMART' }))).toMatchObject({ code: 'screening_required', status: 409 });
    for (const route of ['GREEN', 'AML_HELD']) expect((await world.create(shop, { route })).view).toMatchObject({ status: 'PENDING_APPROVAL', route });
  });

  it('without credit SMART and AML_HELD wait for it, whatever the parking switch says, and GREEN asks for approval', async () => {
    const shop = await world.open({ ...SCREENS, cashout: { parkingEnabled: false } });
    await world.fund(shop, 10);
    world.screening.verdict = 'out_of_credit';
    const smart = await park(shop, { route: 'SMART' });
    expect(smart).toMatchObject({ status: 'WAITING_AML_CREDIT', route: 'SMART', feeLocked: '', netAmount: '' });
    expect(Object.keys(smart)).not.toEqual(expect.arrayContaining(['routedBy']));
    expect(await park(shop, { route: 'AML_HELD' })).toMatchObject({ status: 'WAITING_AML_CREDIT', route: 'AML_HELD' });
    expect((await world.create(shop)).view).toMatchObject({ status: 'PENDING_APPROVAL', route: 'GREEN' });
    expect(await get(shop, smart)).not.toHaveProperty('shortfall');
  });
});

describe('one that waits for screening credit', () => {
  it('is routed by the verdict once there is credit: claimed, held for approval, or parked until its pool covers it', async () => {
    const shop = await world.open({ ...SCREENS, cashout: { approvalCapUsd: '100' } });
    await world.fund(shop, 200);
    world.screening.verdict = 'out_of_credit';
    const [covered, large] = [await park(shop, { route: 'SMART' }), await park(shop, { route: 'SMART', amount: '101' })];
    expect(await world.aMinute()).toBe(0);
    expect(await rowOf(covered)).toMatchObject({ status: 'WAITING_AML_CREDIT', waitReason: 'its screening credit is used up' });
    world.screening.verdict = { score: 5 };
    expect(await world.aMinute()).toBe(2);
    const routed = { route: 'GREEN', routedBy: 'SMART_ROUTE', destinationRiskScore: 5 };
    expect(await get(shop, covered)).toMatchObject({ status: 'REQUESTED', ...routed });
    expect(await get(shop, large)).toMatchObject({ status: 'PENDING_APPROVAL', ...routed });

    world.screening.verdict = 'out_of_credit';
    const short = await park(shop, { route: 'SMART' });
    world.screening.verdict = { score: 90 };
    expect(await world.aMinute()).toBe(1);
    expect(await get(shop, short)).toEqual({
      ...short,
      status: 'UNDERFUNDED',
      route: 'AML_HELD',
      routedBy: 'SMART_ROUTE',
      destinationRiskScore: 90,
      shortfall: '10',
      shortfallUsd: '10.00',
    });
  });

  it('resumes with the real credits: one buys the verdict, and the next cashout to that address uses it again', async () => {
    const real: Deps = { ...deps, screening: world.shops.world.deps.screening };
    const shop = await world.open({ screening: { enabled: true, threshold: 70, credits: 0 } });
    await world.fund(shop, 20);
    const create = async () => {
      const body = { assetId: world.usdt.id, amount: '10', address: '0x00000000000000000000000000000000cafe0009', route: 'SMART' };
      return (await createSettlement(real, { gateway: shop.gateway, body, commit: plainCommit(real) })).data as SettlementView;
    };
    const waiting = await create();
    expect(waiting.status).toBe('WAITING_AML_CREDIT');
    await deps.db.transaction((tx) => grantScreeningCredits(tx, shop.gateway.id, 1));
    await world.shops.world.advance(60);
    expect(await activateParked(real)).toBe(1);
    expect(await get(shop, waiting)).toMatchObject({ status: 'REQUESTED', route: 'GREEN', routedBy: 'SMART_ROUTE' });
    expect(await listScreeningCredits(deps.db.sql, [shop.gateway.id])).toEqual(new Map([[shop.gateway.id, 0]]));
    expect((await create()).status).toBe('REQUESTED');
  });

  it('is served oldest first, whatever the asset, when there is credit for one only', async () => {
    const shop = await world.open(SCREENS);
    world.screening.verdict = 'out_of_credit';
    const parked = [];
    for (const symbol of ['USDC', 'USDT', 'USDC']) parked.push(await park(shop, { route: 'SMART', assetId: world.shops.world.assets[symbol]?.id as string }));
    let credits = 1;
    const once: Deps = { ...deps, screening: { ...deps.screening, destination: async () => (credits-- > 0 ? { score: 1 } : 'out_of_credit') } };
    await world.shops.world.advance(60);
    expect(await activateParked(once)).toBe(1);
    expect((await Promise.all(parked.map(rowOf))).map((row) => row.status)).toEqual(['UNDERFUNDED', 'WAITING_AML_CREDIT', 'WAITING_AML_CREDIT']);
  });

  it('has its turn however many there are, also where looking at those before takes longer than they are left alone', async () => {
    const shop = await world.open(SCREENS);
    world.screening.verdict = 'out_of_credit';
    const parked = [await park(shop, { route: 'SMART' }), await park(shop, { route: 'SMART' }), await park(shop, { route: 'SMART' })];
    const looked: string[][] = [];
    for (let look = 0; look < 3; look++) {
      looked.push((await takeParked(deps.db.sql, { seconds: 60, limit: 2 })).map(({ id }) => id));
      await world.shops.world.advance(61);
    }
    const [first, second, third] = parked.map(({ id }) => id);
    expect(looked).toEqual([
      [first, second],
      [first, third],
      [first, second],
    ]);
  });

  it('goes on waiting while the provider gives no verdict, or screening was switched off', async () => {
    const shop = await world.open(SCREENS);
    await world.fund(shop, 100);
    world.screening.verdict = 'out_of_credit';
    const parked = [await park(shop, { route: 'SMART' }), await park(shop, { route: 'AML_HELD' })];
    world.screening.verdict = 'unavailable';
    expect(await world.aMinute()).toBe(0);
    for (const one of parked) expect(await rowOf(one)).toMatchObject({ status: 'WAITING_AML_CREDIT', waitReason: 'the screening provider gives no verdict' });
    await world.shops.world.database.sql`update gateways set settings = jsonb_set(settings, '{screening,enabled}', 'false') where id = ${shop.gateway.id}`;
    expect(await world.aMinute()).toBe(1);
    expect((await Promise.all(parked.map(rowOf))).map((row) => row.status)).toEqual(['WAITING_AML_CREDIT', 'UNDERFUNDED']);
  });
});

describe('retry', () => {
  it('activates at once what the pool covers, and replays its answer for the same key', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    const commit = world.keyed(shop.gateway, 'retrySettlement');
    expect(await failureOf(retry(shop, parked, commit))).toMatchObject({ code: 'conflict', message: expect.stringContaining('still short') });
    await world.fund(shop, 10);
    const replies = await Promise.all(Array.from({ length: 10 }, () => retry(shop, parked, commit)));
    expect(replies[0]).toMatchObject({ status: 200, data: { id: parked.id, status: 'REQUESTED', feeLocked: '1' } });
    expect(new Set(replies.map((reply) => JSON.stringify(reply.data))).size).toBe(1);
    expect(await balancesOf(shop)).toEqual({ available: '0', held: '0', reserved: '10' });
    expect(await failureOf(retry(shop, parked))).toMatchObject({ code: 'conflict', message: 'The cashout is no longer parked.' });
  });

  it('refuses one that waits for screening credit, and knows nothing of strangers', async () => {
    const shop = await world.open(SCREENS);
    world.screening.verdict = 'out_of_credit';
    const waiting = await park(shop, { route: 'SMART' });
    expect(await failureOf(retry(shop, waiting))).toMatchObject({ code: 'conflict', message: expect.stringContaining('screening credit') });
    const stranger = await world.open();
    for (const call of [retry, cancel]) {
      for (const [who, id] of [
        [stranger, waiting.id],
        [shop, randomUUID()],
        [shop, 'nonsense'],
      ] as const)
        expect(await failureOf(call(who, { id }))).toMatchObject({ code: 'not_found', message: 'Not found.' });
    }
  });
});

describe('cancel', () => {
  it('rejects either parked status once, releases nothing, and replays its answer', async () => {
    const shop = await world.open(SCREENS);
    await world.fund(shop, 3);
    const underfunded = await park(shop);
    world.screening.verdict = 'out_of_credit';
    const waiting = await park(shop, { route: 'SMART' });
    const commit = world.keyed(shop.gateway, 'cancelSettlement');
    const { expiresAt: _, ...rest } = underfunded;
    const [first, again] = [await cancel(shop, underfunded, commit), await cancel(shop, underfunded, commit)];
    expect(first).toMatchObject({ status: 200, data: { ...rest, status: 'REJECTED' } });
    expect(Object.keys(first.data)).not.toContain('expiresAt');
    expect(again.data).toEqual(first.data);
    expect((await cancel(shop, waiting)).data).toMatchObject({ status: 'REJECTED', route: 'GREEN' });
    for (const one of [underfunded, waiting]) expect(await failureOf(cancel(shop, one))).toMatchObject({ code: 'conflict' });
    expect(await balancesOf(shop)).toEqual({ available: '3', held: '0', reserved: '0' });
    await world.fund(shop, 20);
    expect(await world.aMinute()).toBe(0);
  });

  it('refuses what is claimed, and leaves its claim alone', async () => {
    const shop = await world.open();
    await world.fund(shop, 10);
    const { view } = await world.create(shop);
    expect(await failureOf(cancel(shop, view))).toMatchObject({ code: 'conflict', status: 409 });
    expect((await balancesOf(shop)).reserved).toBe('10');
  });
});
