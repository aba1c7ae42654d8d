import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { AddressRefused } from '#api/clients/mail.ts';
import { mailRejectionJob } from '#api/jobs/outbox-jobs.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { activateById, activateParked } from '#api/settlements/activate-parked.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { expireById, expireParked } from '#api/settlements/expire-parked.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import type { SettlementView } from '#api/settlements/view.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import { times } from '#test/harness/counts.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { aParkingWorld, failureOf, type ParkingWorld } from '#test/fixtures/parking.ts';
import type { TestShop } from '#test/fixtures/shop.ts';

const WEEK = 7 * 86_400;
const SCREENS = { screening: { enabled: true, threshold: 70 } };

let world: ParkingWorld;
let deps: Deps;

beforeAll(async () => {
  world = await aParkingWorld();
  deps = world.deps;
});
beforeEach(async () => {
  await runDueJobs(deps, [mailRejectionJob]);
  world.shops.world.mails.length = 0;
  Object.assign(world.network, { feeUsd: 1, down: false });
  world.screening.verdict = { score: 0 };
});
afterAll(() => world.stop());

const park = async (shop: TestShop, body = {}): Promise<SettlementView> => {
  const { status, view } = await world.create(shop, body);
  expect(status).toBe(202);
  return view;
};
const statusOf = async (id: string): Promise<string> => {
  const [row] = await world.shops.world.database.sql<{ status: string }[]>`select status from settlements where id = ${id}`;
  return row?.status as string;
};
const balanceOf = async (shop: TestShop) => {
  const found = (await gatewayBalances(deps.db.sql, shop.gateway.id)).find((one) => one.assetId === world.usdt.id);
  return [formatAmount(found?.available ?? 0n), formatAmount(found?.reserved ?? 0n)];
};
const advance = (seconds: number): Promise<void> => world.shops.world.advance(seconds);

describe('seven days after its creation', () => {
  it('what is still blocked is rejected and not a second earlier, and the merchant is told once', async () => {
    const shop = await world.open(SCREENS);
    const short = await park(shop, { amount: '10.50', metadata: { secret: 'hunter2' }, label: 'x' });
    world.screening.verdict = 'out_of_credit';
    const waiting = await park(shop, { route: 'SMART', amount: '7' });
    await advance(WEEK - 60);
    expect(await expireParked(deps)).toBe(0);
    expect(await expireById(deps, short.id)).toBe(false);
    await advance(60);
    expect(await expireParked(deps)).toBe(2);
    expect([await statusOf(short.id), await statusOf(waiting.id)]).toEqual(['REJECTED', 'REJECTED']);
    expect(await expireParked(deps)).toBe(0);
    await runDueJobs(deps, [mailRejectionJob]);
    await runDueJobs(deps, [mailRejectionJob]);
    const { mails } = world.shops.world;
    expect(mails.map(({ id, to, subject }) => ({ id, to, subject })).sort((a, b) => (a.subject < b.subject ? -1 : 1))).toEqual([
      { id: `settlement-rejected-${short.id}`, to: 'ada@shop.example', subject: 'Cashout of 10.50 USDT was rejected' },
      { id: `settlement-rejected-${waiting.id}`, to: 'ada@shop.example', subject: 'Cashout of 7 USDT was rejected' },
    ]);
    const texts = new Map(mails.map((mail) => [mail.id, mail.text]));
    expect(texts.get(`settlement-rejected-${short.id}`)).toContain('the balance it draws from did not cover it');
    expect(texts.get(`settlement-rejected-${waiting.id}`)).toContain('screening credit was used up');
    for (const text of texts.values()) expect(text).not.toContain('hunter2');
  });

  it('what nobody foresaw of one that is blocked keeps none behind it', async () => {
    const shop = await world.open();
    const [odd, behind] = [await park(shop), await park(shop)];
    await advance(WEEK);
    const { sql } = world.shops.world.database;
    await sql.unsafe(`
      create function odd() returns trigger language plpgsql as $$ begin raise exception 'nobody foresaw this'; end $$;
      create trigger odd before update of status on settlements for each row when (new.id = '${odd.id}') execute function odd()`);
    await expect(expireParked(deps)).rejects.toThrow('nobody foresaw this');
    expect([await statusOf(odd.id), await statusOf(behind.id)]).toEqual(['UNDERFUNDED', 'REJECTED']);
    await sql.unsafe('drop trigger odd on settlements; drop function odd()');
    expect(await expireParked(deps)).toBe(1);
    expect(await statusOf(odd.id)).toBe('REJECTED');
  });

  it('what the pool covers at that moment is paid instead', async () => {
    const shop = await world.open();
    const parked = await park(shop);
    await advance(WEEK);
    await world.fund(shop, 10);
    expect(await expireParked(deps)).toBe(0);
    expect(await statusOf(parked.id)).toBe('REQUESTED');
  });

  it('what its own fee eats, and what cannot be asked about, is blocked like any other', async () => {
    const shop = await world.open();
    const parked = [await park(shop), await park(shop, { amount: '12' })];
    await world.fund(shop, 22);
    world.network.feeUsd = 10;
    await advance(60);
    expect(await expireParked(deps)).toBe(0);
    await advance(WEEK);
    world.network.down = true;
    expect(await expireParked(deps)).toBe(2);
    expect(await Promise.all(parked.map(({ id }) => statusOf(id)))).toEqual(['REJECTED', 'REJECTED']);
    expect(await balanceOf(shop)).toEqual(['22', '0']);
  });

  it('a gateway without a contact is told nothing, and a mail server that is away is asked again', async () => {
    const [silent, shop] = [await world.open({ contactEmail: null }), await world.open()];
    await park(silent);
    const parked = await park(shop);
    await advance(WEEK);
    expect(await expireParked(deps)).toBe(2);
    const away: Deps = {
      ...deps,
      mail: {
        send: async () => {
          throw new Error('no mail server answers');
        },
      },
    };
    await runDueJobs(away, [mailRejectionJob]);
    expect(world.shops.world.mails).toEqual([]);
    await advance(3_600);
    await runDueJobs(deps, [mailRejectionJob]);
    expect(world.shops.world.mails.map((mail) => mail.id)).toEqual([`settlement-rejected-${parked.id}`]);
  });
  it('is told to nobody at an address that no mail reaches, and no job is given up for it', async () => {
    await park(await world.open());
    await advance(WEEK);
    expect(await expireParked(deps)).toBe(1);
    let tried = 0;
    const bouncing: Deps = {
      ...deps,
      mail: {
        send: async () => {
          tried += 1;
          throw new AddressRefused('550 5.1.1 no such user');
        },
      },
    };
    await runDueJobs(bouncing, [mailRejectionJob]);
    expect([tried, await world.shops.world.database.sql`select 1 from outbox where topic = 'settlement.mail' and state <> 'done'`]).toEqual([1, []]);
  });
});

/** What its caller was told: done, the refusal's code, or the new status. */
const told = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => (value === null || value === false ? 'nothing' : 'done'),
    (error: unknown) => {
      if (error instanceof ServiceError) return error.code;
      throw error;
    },
  );

describe('retry, cancel, activation and expiry of one cashout at the same instant', () => {
  it('have one winner, and claim once or not at all', async () => {
    const shop = await world.open({ cashout: { parkedCap: 10_000 } });
    const rounds = times(200);
    // Coverable only once all are parked, and overdue by hand, so that every one of the four could win.
    const ids: string[] = [];
    for (let i = 0; i < rounds; i++) ids.push((await park(shop)).id);
    await world.fund(shop, 10 * rounds);
    await world.shops.world.database.sql`update settlements set expires_at = sluice_now() where id = any(${ids}::uuid[])`;
    for (const id of ids) {
      const call = { gateway: shop.gateway, id, commit: plainCommit(deps) };
      const [retried, cancelled, activated, expired] = await Promise.all([
        told(retrySettlement(deps, call)),
        told(cancelSettlement(deps, call)),
        told(activateById(deps, id)),
        told(expireById(deps, id)),
      ]);
      const status = await statusOf(id);
      const won = { retried, cancelled, activated, expired };
      // The last look of an expiry may be what activated it; then nobody else was told that he did.
      const done = Object.entries(won).filter(([, answer]) => answer === 'done');
      expect({ id, won, done: done.length <= 1 }).toEqual({ id, won, done: true });
      expect(status).toBe(cancelled === 'done' || expired === 'done' ? 'REJECTED' : 'REQUESTED');
      for (const answer of [retried, cancelled]) expect(['done', 'conflict']).toContain(answer);
      const events = await world.shops.world.database.sql`select 1 from settlement_events where settlement_id = ${id}`;
      expect(events).toHaveLength(2);
    }
    const claimed = await world.shops.world.database.sql`select 1 from settlements where id = any(${ids}::uuid[]) and status = 'REQUESTED'`;
    expect(await balanceOf(shop)).toEqual([String(10 * (rounds - claimed.length)), String(10 * claimed.length)]);
  });

  it('never claims more than the pool holds, however many are looked at together with new creates', async () => {
    const shop = await world.open({ cashout: { parkedCap: 1_000 } });
    const parked: string[] = [];
    for (let i = 0; i < 10; i++) parked.push((await park(shop)).id);
    await world.fund(shop, 75);
    await advance(60);
    const creates = Array.from({ length: 5 }, () => world.create(shop).then(({ view }) => view.id));
    const [made] = await Promise.all([Promise.all(creates), activateParked(deps), activateParked(deps), ...parked.map((id) => activateById(deps, id))]);
    const statuses = await Promise.all([...parked, ...made].map(statusOf));
    expect(statuses.filter((status) => status === 'REQUESTED')).toHaveLength(7);
    expect(statuses.filter((status) => status === 'UNDERFUNDED')).toHaveLength(8);
    expect(await balanceOf(shop)).toEqual(['5', '70']);
  });
});

it('a retry or cancel that failed is not stored against its key, and may be repeated with it', async () => {
  const shop = await world.open();
  const parked = await park(shop);
  const key = randomUUID();
  const call = { gateway: shop.gateway, id: parked.id };
  expect(await failureOf(retrySettlement(deps, { ...call, commit: world.keyed(shop.gateway, 'retrySettlement', key) }))).toMatchObject({ code: 'conflict' });
  await world.fund(shop, 10);
  const [retried, replayed] = [
    await retrySettlement(deps, { ...call, commit: world.keyed(shop.gateway, 'retrySettlement', key) }),
    await retrySettlement(deps, { ...call, commit: world.keyed(shop.gateway, 'retrySettlement', key) }),
  ];
  expect(retried).toMatchObject({ status: 200, data: { status: 'REQUESTED' } });
  expect(replayed.data).toEqual(retried.data);
  expect(await failureOf(cancelSettlement(deps, { ...call, commit: world.keyed(shop.gateway, 'cancelSettlement', key) }))).toMatchObject({ code: 'conflict' });
});
