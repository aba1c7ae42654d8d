import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { getSettlement, listSettlements, settlementView, type SettlementView } from '#api/settlements/view.ts';
import { advance } from '#api/store/advance.ts';
import { findSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import { aParkingWorld, type ParkingWorld } from '#test/fixtures/parking.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { TestShop } from '#test/fixtures/shop.ts';
import { SentJson } from '#shared/core/sent-json.ts';

// Contract table 2.8, status by status: what create answers, and what every read answers; objects are compared whole, so that a field too many fails.

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TXID = `0x${'ab'.repeat(32)}`;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Not null in any status; the rest of the fields depends on it. */
const ALWAYS = {
  id: expect.stringMatching(UUID),
  address: ADDRESS,
  assetName: 'USDT',
  network: 'ethereum',
  source: 'API',
  amount: '10.50',
  receivedAmount: '',
  txHash: '',
  blockchainUrl: '',
  createdAt: expect.stringMatching(RFC3339),
  amountUsd: '10.50',
};
const CLAIMED = { feeLocked: '1', netAmount: '9.5', dispatchAt: expect.stringMatching(RFC3339) };
const PARKED = { feeLocked: '', netAmount: '', expiresAt: expect.stringMatching(RFC3339) };
const SMART = { routedBy: 'SMART_ROUTE', destinationRiskScore: 80 };

let world: ParkingWorld;
let shop: TestShop;
beforeAll(async () => {
  world = await aParkingWorld();
});
beforeEach(async () => {
  Object.assign(world.network, { feeUsd: 1, down: false });
  world.screening.verdict = { score: 0 };
  shop = await world.open({ screening: { enabled: true, threshold: 70 }, cashout: { approvalCapUsd: '50' } });
});
afterAll(() => world.stop());

const create = async (body: Record<string, unknown> = {}) => (await world.create(shop, { amount: '10.50', address: ADDRESS, ...body })).view;
const get = ({ id }: { id: string }) => getSettlement(world.deps, { gateway: shop.gateway, id });
const listed = async ({ id }: { id: string }) => (await listSettlements(world.deps, { gateway: shop.gateway })).items.find((item) => item.id === id);

async function reads(created: SettlementView, more: Record<string, unknown> = {}): Promise<void> {
  expect(await get(created)).toEqual({ ...created, ...more });
  expect(await listed(created)).toEqual({ ...created, ...more });
}

describe('REQUESTED', () => {
  it('has a fee and a net amount, and nothing of parking, routing or the chain; every read shows the same', async () => {
    await world.fund(shop, 20);
    const created = await create();
    expect(created).toEqual({ ...ALWAYS, ...CLAIMED, status: 'REQUESTED', route: 'GREEN' });
    await reads(created);
  });

  it('carries routedBy and the score together where SMART picked the pool, and metadata where it was sent', async () => {
    await world.fundHeld(shop, 20);
    world.screening.verdict = { score: 80 };
    const metadata = { requester: 'ana', order: 7, paid: true, note: null };
    const created = await create({ route: 'SMART', metadata });
    expect(created).toEqual({ ...ALWAYS, ...CLAIMED, ...SMART, metadata: SentJson.of(metadata), status: 'REQUESTED', route: 'AML_HELD' });
    await reads(created);
  });

  it('shows a score of 0 rather than leaving it out', async () => {
    await world.fund(shop, 20);
    expect(await create({ route: 'SMART' })).toEqual({
      ...ALWAYS,
      ...CLAIMED,
      status: 'REQUESTED',
      route: 'GREEN',
      routedBy: 'SMART_ROUTE',
      destinationRiskScore: 0,
    });
  });

  it('echoes the amount byte for byte, and empty metadata as it came', async () => {
    await world.fund(shop, 20);
    for (const amount of ['2', '2.0', '2.000000000000000000'])
      expect(await create({ amount, metadata: {} })).toMatchObject({ amount, netAmount: '1', metadata: SentJson.of({}) });
  });
});

describe('PENDING_APPROVAL', () => {
  it('has what a claimed one has', async () => {
    await world.fund(shop, 100);
    const created = await create({ amount: '60' });
    expect(created).toEqual({
      ...ALWAYS,
      amount: '60',
      amountUsd: '60.00',
      holdReason: 'approval_cap',
      feeLocked: '1',
      netAmount: '59',
      status: 'PENDING_APPROVAL',
      route: 'GREEN',
    });
    await reads(created);
  });
});

describe('UNDERFUNDED', () => {
  it.each([
    ['GREEN', {}, 3],
    ['AML_HELD', {}, 4],
  ] as const)('on the route %s has no figures and an expiresAt; only reads add the shortfall of its own pool', async (route, more, has) => {
    await world.fund(shop, 3);
    await world.fundHeld(shop, 4);
    const created = await create({ route });
    expect(created).toEqual({ ...ALWAYS, ...PARKED, ...more, status: 'UNDERFUNDED', route });
    const shortfall = (10.5 - has).toFixed(1);
    await reads(created, { shortfall, shortfallUsd: `${shortfall}0` });
  });

  it('that SMART routed reads the pool it was routed to, with routedBy and the score', async () => {
    await world.fund(shop, 100);
    await world.fundHeld(shop, 0.5);
    world.screening.verdict = { score: 80 };
    const created = await create({ route: 'SMART' });
    expect(created).toEqual({ ...ALWAYS, ...PARKED, ...SMART, status: 'UNDERFUNDED', route: 'AML_HELD' });
    await reads(created, { shortfall: '10', shortfallUsd: '10.00' });
  });

  it('values its shortfall at the price of the read, to the cent', async () => {
    const created = await create();
    await world.shops.world.setPrice('USDT', '1.0005');
    await reads(created, { shortfall: '10.5', shortfallUsd: '10.51' });
    await world.shops.world.setPrice('USDT', '1');
  });
});

describe('WAITING_AML_CREDIT', () => {
  beforeEach(() => {
    world.screening.verdict = 'out_of_credit';
  });

  it.each(['SMART', 'AML_HELD'] as const)('reads the route %s as asked, without figures, shortfall, routedBy or a score', async (route) => {
    const created = await create({ route });
    expect(created).toEqual({ ...ALWAYS, ...PARKED, status: 'WAITING_AML_CREDIT', route });
    await reads(created);
  });
});

describe('REJECTED', () => {
  it.each([
    ['UNDERFUNDED', 'GREEN', { score: 0 }],
    ['WAITING_AML_CREDIT', 'SMART', 'out_of_credit'],
  ] as const)('from %s keeps its figures empty and loses expiresAt and shortfall; it reads SMART no longer', async (status, route, verdict) => {
    world.screening.verdict = verdict;
    const created = await create({ route });
    expect(created.status).toBe(status);
    const reply = await cancelSettlement(world.deps, { gateway: shop.gateway, id: created.id, commit: plainCommit(world.deps) });
    const rejected = { status: 'REJECTED', rejectedAt: expect.stringMatching(RFC3339), rejectReason: 'CANCELLED' };
    expect(reply.data).toEqual({ ...ALWAYS, ...rejected, feeLocked: '', netAmount: '', route: 'GREEN' });
    await reads(reply.data as SettlementView);
  });
});

describe('on the chain', () => {
  /** How it reads at each step of its way, in a transaction that never commits: there is no chain behind these books. */
  async function payOut(created: SettlementView): Promise<SettlementView[]> {
    const seen: SettlementView[] = [];
    const rolledBack = new Error('rolled back');
    const { deps } = world;
    const going = deps.db.transaction(async (tx) => {
      const look = async () => seen.push(settlementView(deps, (await findSettlement(tx, created.id)) as StoredSettlement));
      await advance(tx, 'settlement', { id: created.id, event: 'DISPATCHED', actor: 'signer', facts: () => ({ facts: NO_SETTLEMENT_FACTS }) });
      await look();
      const columns = { received_amount: created.netAmount, txid: TXID };
      await advance(tx, 'settlement', {
        id: created.id,
        event: 'COMPLETED',
        actor: 'chain',
        facts: () => ({ facts: NO_SETTLEMENT_FACTS, columns }),
        effects: { settle: () => Promise.resolve() },
      });
      await look();
      throw rolledBack;
    });
    await expect(going).rejects.toBe(rolledBack);
    return seen;
  }

  it('PROCESSING differs from REQUESTED in its status alone; SETTLED adds what was sent, its transaction and the link', async () => {
    await world.fund(shop, 20);
    const created = await create();
    const [processing, settled] = await payOut(created);
    expect(processing).toEqual({ ...created, status: 'PROCESSING' });
    const link = world.shops.world.network.config.explorerTxUrl?.replace('{txHash}', TXID);
    expect(settled).toEqual({ ...created, status: 'SETTLED', receivedAmount: '9.5', txHash: TXID, blockchainUrl: link });
  });
});
