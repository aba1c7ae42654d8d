import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { enrolTotp } from '#api/operator/gateways.ts';
import { activateById } from '#api/settlements/activate-parked.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { expireById, expireParked } from '#api/settlements/expire-parked.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import type { SettlementView } from '#api/settlements/view.ts';
import { advance } from '#api/store/advance.ts';
import { formatAmount } from '#shared/core/money.ts';
import { NO_SETTLEMENT_FACTS, type SettlementStatus } from '#state-machines/settlement/machine.ts';
import { aParkingWorld, failureOf, type ParkingWorld } from '#test/fixtures/parking.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { TestShop } from '#test/fixtures/shop.ts';

// Contract table 3.2, row by row, then every move that it does not have. What the chain does (dispatch, completion) is
// pay-out.test.ts and held-pool.test.ts; the machine by itself is test/unit/machines.

const WEEK = 7 * 86_400;
const DELAY = 90;
/** Above this many dollars a person is asked. */
const CAP = '50';

let world: ParkingWorld;
let shop: TestShop;
beforeAll(async () => {
  world = await aParkingWorld();
});
beforeEach(async () => {
  Object.assign(world.network, { feeUsd: 1, down: false });
  world.screening.verdict = { score: 0 };
  await world.forget();
});
afterAll(async () => {
  // The two statuses that only a chain gives are written by hand below, after the books were audited.
  await world.shops.stop({ audit: false });
});

const sql = () => world.shops.world.database.sql;
const open = () => world.open({ screening: { enabled: true, threshold: 70 }, cashout: { approvalCapUsd: CAP, dispatchDelaySeconds: DELAY } });
const call = (id: string) => ({ gateway: shop.gateway, id, commit: plainCommit(world.deps) });
const create = async (body: Record<string, unknown> = {}) => (await world.create(shop, body)).view;

async function rowOf({ id }: { id: string }) {
  const [row] = await sql()<Record<string, unknown>[]>`select * from settlements where id = ${id}`;
  return row as Record<string, unknown>;
}
async function code(): Promise<string> {
  const { data } = await enrolTotp(world.deps, { params: { id: shop.gateway.id }, query: {}, body: {} });
  return generateSync({ secret: (data as { secret: string }).secret });
}

interface Seen {
  status: SettlementStatus;
  /** Of the pools and what is reserved. */
  balance: [available: string, reserved: string];
  /** Seconds from `since` until it is dispatched; null when that is not queued. */
  dispatchIn: number | null;
  queued: number;
  /** Who moved it last. */
  actor: string;
}

/** What one has come to; the delay counts from its last event. */
async function seen({ id }: { id: string }): Promise<Seen> {
  const [row] = await sql()<{ status: SettlementStatus; dispatchIn: number | null; actor: string; queued: number }[]>`
    select s.status, extract(epoch from s.dispatch_at - e.at)::int as "dispatchIn", e.actor,
      (select count(*) from outbox o where o.ref_id = s.id and o.topic = 'settlement.dispatch') as queued
    from settlements s join lateral (select * from settlement_events e where e.settlement_id = s.id order by e.at desc, e.id desc limit 1) e on true
    where s.id = ${id}`;
  const found = (await gatewayBalances(sql(), shop.gateway.id)).find((one) => one.assetId === world.usdt.id);
  const { status, dispatchIn, actor, queued } = row as Omit<Seen, 'balance'>;
  return { status, balance: [formatAmount(found?.available ?? 0n), formatAmount(found?.reserved ?? 0n)], dispatchIn, queued: Number(queued), actor };
}

const REQUESTED = (actor: string, balance: [string, string]) => ({ status: 'REQUESTED', balance, dispatchIn: DELAY, queued: 1, actor });
const UNQUEUED = { dispatchIn: null, queued: 0 };

describe('the rows', () => {
  beforeEach(async () => {
    shop = await open();
  });
  afterAll(() => assertCleanAudit(world.shops.world.database));

  it('(create), claimed and no gate hit: REQUESTED (200), queued after the delay of the gateway', async () => {
    await world.fund(shop, 100);
    const { status, view } = await world.create(shop);
    expect([status, await seen(view)]).toEqual([200, REQUESTED('merchant', ['90', '10'])]);
  });

  it.each([
    ['its value is strictly above the cap', { amount: '50.000001' }, { score: 0 }, ['49.999999', '50.000001']],
    ['its destination is flagged', {}, { score: 70 }, ['90', '10']],
    ['its destination cannot be screened', {}, 'unavailable', ['90', '10']],
  ] as const)('(create), %s: PENDING_APPROVAL (200), reserved and not queued', async (_why, body, verdict, balance) => {
    await world.fund(shop, 100);
    world.screening.verdict = verdict;
    const { status, view } = await world.create(shop, body);
    expect([status, await seen(view)]).toEqual([200, { status: 'PENDING_APPROVAL', balance, ...UNQUEUED, actor: 'merchant' }]);
  });

  it('(create), above the pool with parking: UNDERFUNDED (202), nothing reserved', async () => {
    await world.fund(shop, 5);
    const { status, view } = await world.create(shop);
    expect([status, await seen(view)]).toEqual([202, { status: 'UNDERFUNDED', balance: ['5', '0'], ...UNQUEUED, actor: 'merchant' }]);
  });

  it.each(['SMART', 'AML_HELD'])('(create), %s without screening credit: WAITING_AML_CREDIT (202), nothing reserved', async (route) => {
    await world.fund(shop, 100);
    world.screening.verdict = 'out_of_credit';
    const { status, view } = await world.create(shop, { route });
    expect([status, await seen(view)]).toEqual([202, { status: 'WAITING_AML_CREDIT', balance: ['100', '0'], ...UNQUEUED, actor: 'merchant' }]);
  });

  it('PENDING_APPROVAL, approved: REQUESTED, and the delay starts now', async () => {
    await world.fund(shop, 100);
    const view = await create({ amount: '60' });
    await world.shops.world.advance(1_000);
    await approveSettlement(world.deps, { ...call(view.id), totpCode: await code() });
    expect(await seen(view)).toEqual(REQUESTED('merchant', ['40', '60']));
  });

  it.each(['60', '10'])('PENDING_APPROVAL or REQUESTED (an amount of %s), rejected by the operator: REJECTED, and all of it is released', async (amount) => {
    await world.fund(shop, 100);
    const view = await create({ amount });
    expect(view.status).toBe(amount === '60' ? 'PENDING_APPROVAL' : 'REQUESTED');
    await rejectSettlement(world.deps, { id: view.id, reason: 'asked for' });
    expect(await seen(view)).toMatchObject({ status: 'REJECTED', balance: ['100', '0'], actor: 'operator' });
  });

  const tries: [string, string, (view: SettlementView) => Promise<unknown>][] = [
    ['the check of the minute', 'sweeper', () => world.aMinute()],
    ['a retry', 'merchant', (view) => retrySettlement(world.deps, call(view.id))],
  ];
  it.each(tries)('UNDERFUNDED, funded, %s: REQUESTED with a fresh fee', async (_by, actor, act) => {
    const view = await create();
    await world.fund(shop, 100);
    world.network.feeUsd = 3;
    await act(view);
    expect([await seen(view), await rowOf(view)]).toMatchObject([REQUESTED(actor, ['90', '10']), { feeLocked: expect.stringMatching(/^3\.?0*$/) }]);
  });

  const gates: [string, string, { score: number } | 'unavailable', string][] = [
    ['over the cap', '60', { score: 0 }, 'approval_cap'],
    ['its new screen flagged', '10', { score: 90 }, 'destination_flagged'],
    ['its new screen not to be had', '10', 'unavailable', 'screening_unavailable'],
  ];
  it.each(gates.flatMap(([why, ...rest]) => tries.map(([by, , act]) => [why, by, act, ...rest] as const)))(
    'UNDERFUNDED, funded but %s, %s: PENDING_APPROVAL, reserved and not queued',
    async (_why, _by, act, amount, verdict, reason) => {
      const view = await create({ amount });
      await world.fund(shop, 100);
      world.screening.verdict = verdict;
      await act(view);
      expect([await seen(view), await rowOf(view)]).toMatchObject([
        { status: 'PENDING_APPROVAL', ...UNQUEUED, balance: [String(100 - Number(amount)), amount] },
        { holdReason: reason },
      ]);
    },
  );

  it.each([
    ['REQUESTED', '10', 100],
    ['PENDING_APPROVAL', '60', 100],
    ['UNDERFUNDED', '10', 5],
  ] as const)('WAITING_AML_CREDIT, credit topped up: resumes as %s', async (status, amount, funds) => {
    await world.fund(shop, funds);
    world.screening.verdict = 'out_of_credit';
    const view = await create({ route: 'SMART', amount });
    expect(await world.aMinute()).toBe(0);
    world.screening.verdict = { score: 10 };
    expect(await world.aMinute()).toBe(1);
    expect((await seen(view)).status).toBe(status);
  });

  it.each(['UNDERFUNDED', 'WAITING_AML_CREDIT'])('%s, cancelled: REJECTED, nothing to release', async (status) => {
    await world.fund(shop, 5);
    const view = await parked(status as SettlementStatus);
    await cancelSettlement(world.deps, call(view.id));
    expect(await seen(view)).toEqual({ status: 'REJECTED', balance: ['5', '0'], ...UNQUEUED, actor: 'merchant' });
  });

  it.each(['UNDERFUNDED', 'WAITING_AML_CREDIT'])('%s, seven days later: REJECTED, and a mail is queued', async (status) => {
    const view = await parked(status as SettlementStatus);
    await world.shops.world.advance(WEEK);
    expect(await expireParked(world.deps)).toBeGreaterThanOrEqual(1);
    expect(await seen(view)).toMatchObject({ status: 'REJECTED', balance: ['0', '0'], ...UNQUEUED, actor: 'sweeper' });
    expect(await sql()`select 1 from outbox where ref_id = ${view.id} and topic = 'settlement.mail'`).toHaveLength(1);
  });
});

async function parked(status: SettlementStatus): Promise<SettlementView> {
  world.screening.verdict = status === 'UNDERFUNDED' ? { score: 0 } : 'out_of_credit';
  const view = await create({ route: 'SMART', amount: '40' });
  expect(view.status).toBe(status);
  return view;
}

/** Writes by hand what only a chain brings about. */
async function onChain({ id, netAmount }: SettlementView, status: 'REQUESTED' | 'PROCESSING' | 'SETTLED'): Promise<void> {
  const facts = { facts: NO_SETTLEMENT_FACTS };
  await world.deps.db.transaction(async (tx) => {
    if (status !== 'REQUESTED') await advance(tx, 'settlement', { id, event: 'DISPATCHED', actor: 'signer', facts: () => facts });
    const columns = { received_amount: netAmount, txid: `0x${'ab'.repeat(32)}` };
    if (status === 'SETTLED')
      await advance(tx, 'settlement', {
        id,
        event: 'COMPLETED',
        actor: 'chain',
        facts: () => ({ ...facts, columns }),
        effects: { settle: () => Promise.resolve() },
      });
  });
}

describe('no row', () => {
  const CLAIMED = ['PENDING_APPROVAL', 'REQUESTED', 'PROCESSING'] as const;
  const PARKED = ['UNDERFUNDED', 'WAITING_AML_CREDIT'] as const;
  const ENDED = ['SETTLED', 'REJECTED'] as const;
  const settlements = new Map<SettlementStatus, SettlementView>();
  beforeAll(async () => {
    shop = await open();
    await code();
    world.screening.verdict = { score: 0 };
    for (const status of PARKED) settlements.set(status, await parked(status));
    await world.forget();
    // Held for its flagged destination, so that the pool stays short of the parked ones.
    await world.fund(shop, 20);
    world.screening.verdict = { score: 90 };
    settlements.set('PENDING_APPROVAL', await create({ amount: '2' }));
    world.screening.verdict = { score: 0 };
    for (const status of ['REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'] as const) {
      const view = await create({ amount: '2' });
      settlements.set(status, view);
      if (status === 'REJECTED') await rejectSettlement(world.deps, { id: view.id, reason: 'asked for' });
      else await onChain(view, status);
    }
    for (const [status, view] of settlements) expect([status, (await rowOf(view)).status]).toEqual([status, status]);
  });
  const of = (status: SettlementStatus): SettlementView => settlements.get(status) as SettlementView;
  /** The row, its draws and its history, before and after. */
  async function unchanged(status: SettlementStatus, act: () => Promise<unknown>): Promise<void> {
    const { id } = of(status);
    const look = async () => [
      await rowOf({ id }),
      await sql()`select * from credit_draws where settlement_id = ${id}`,
      await sql()`select id from settlement_events where settlement_id = ${id}`,
    ];
    const before = await look();
    await act();
    expect(await look()).toEqual(before);
  }
  const conflicts = (status: SettlementStatus, act: (id: string) => Promise<unknown>) =>
    unchanged(status, async () => expect(await failureOf(act(of(status).id))).toMatchObject({ status: 409, code: 'conflict' }));

  it.each(['REQUESTED', 'PROCESSING', ...PARKED, ...ENDED] as const)('lets %s be approved', async (status) => {
    await conflicts(status, async (id) => approveSettlement(world.deps, { ...call(id), totpCode: '000000' }));
  });

  it.each([...CLAIMED, ...ENDED, ...PARKED] as const)('lets %s be retried (the parked ones are still short, or wait for credit)', async (status) => {
    world.screening.verdict = status === 'WAITING_AML_CREDIT' ? 'out_of_credit' : { score: 0 };
    if (status === 'UNDERFUNDED') await failureOf(retrySettlement(world.deps, call(of(status).id)));
    await conflicts(status, (id) => retrySettlement(world.deps, call(id)));
  });

  it.each([...CLAIMED, ...ENDED] as const)('lets %s be cancelled', async (status) => {
    await conflicts(status, (id) => cancelSettlement(world.deps, call(id)));
  });

  it.each([...PARKED, ...ENDED] as const)('lets the operator reject %s', async (status) => {
    await conflicts(status, (id) => rejectSettlement(world.deps, { id, reason: 'asked for' }));
  });

  it.each([...CLAIMED, ...ENDED] as const)('activates %s, or expires it however old it is', async (status) => {
    await unchanged(status, async () => expect(await activateById(world.deps, of(status).id)).toBeNull());
    await world.shops.world.advance(WEEK);
    await unchanged(status, async () => expect(await expireById(world.deps, of(status).id)).toBe(false));
  });
});
