import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Lane, type Lanes, openLanes } from '#api/jobs/lanes.ts';
import { POLICY } from '#shared/core/policy.ts';

let lanes: Lanes;
beforeEach(() => {
  vi.useFakeTimers();
  lanes = openLanes(POLICY.webhookLanes, () => Date.now());
});
afterEach(() => vi.useRealTimers());

const TIMED_OUT = { tookMs: 10_000, timedOut: true };
const QUICK = { tookMs: 20, timedOut: false };

/** Asks for a lane and lets the time pass that asking may take. */
async function enter(host: string, gatewayId = 'shop'): Promise<Lane | { pauseMs: number }> {
  const entering = lanes.enter({ target: host, tenant: gatewayId });
  await vi.advanceTimersByTimeAsync(1_000);
  return entering;
}
async function taken(host: string, gatewayId?: string): Promise<Lane> {
  const lane = await enter(host, gatewayId);
  if ('pauseMs' in lane) throw new Error(`no lane to ${host}`);
  lane.sent();
  return lane;
}
const pause = async (host: string, gatewayId?: string): Promise<number> => {
  const lane = await enter(host, gatewayId);
  if ('leave' in lane) throw new Error(`a lane to ${host}`);
  return lane.pauseMs;
};

describe('lanes', () => {
  it('are four per host, whatever the path and the gateway', async () => {
    for (let index = 0; index < 4; index++) await taken('slow.example', `shop-${index}`);
    expect(await pause('slow.example', 'another')).toBeGreaterThan(0);
    await taken('other.example');
    await taken('slow.example:8443');
  });

  it('are free again when left', async () => {
    const four = await Promise.all([1, 2, 3, 4].map(() => taken('shop.example')));
    four[0]?.leave(QUICK);
    await taken('shop.example');
    expect(await pause('shop.example')).toBeGreaterThan(0);
  });

  it('of a quick host are waited for in memory, in order, so that a burst is not put back', async () => {
    const four = await Promise.all([1, 2, 3, 4].map(() => taken('shop.example')));
    const order: number[] = [];
    const waiting = [0, 1, 2, 3].map((index) =>
      lanes.enter({ target: 'shop.example', tenant: 'shop' }).then((lane) => {
        order.push(index);
        return lane;
      }),
    );
    await vi.advanceTimersByTimeAsync(100);
    expect(order).toEqual([]);
    for (const lane of four) lane.leave(QUICK);
    await vi.advanceTimersByTimeAsync(1);
    expect(order).toEqual([0, 1, 2, 3]);
    for (const lane of await Promise.all(waiting)) expect(lane).toHaveProperty('leave');
  });

  /** Asks for `count` lanes at once; how many were sent away at once, and with which pauses. */
  async function askAtOnce(count: number, host = 'shop.example', gatewayId = 'shop'): Promise<number[]> {
    const pauses: number[] = [];
    for (let asked = 0; asked < count; asked++)
      void lanes.enter({ target: host, tenant: gatewayId }).then((lane) => ('pauseMs' in lane ? pauses.push(lane.pauseMs) : lane.sent()));
    await vi.advanceTimersByTimeAsync(0);
    return [...pauses];
  }
  /** A host that is known to take this long. */
  async function known(tookMs: number, host = 'shop.example'): Promise<void> {
    for (let round = 0; round < 20; round++) (await taken(host)).leave({ tookMs, timedOut: false });
  }

  it('of a quick host are waited for by as many as should be through in a quarter of a second, and by no more than a quarter of all places', async () => {
    await known(220);
    // Four are sent, and five wait a moment for lanes that are left every 55 ms.
    expect(await askAtOnce(100)).toHaveLength(100 - 4 - 5);
    await known(5, 'quick.example');
    expect(await askAtOnce(100, 'quick.example', 'another')).toHaveLength(100 - Math.floor((POLICY.webhookLanes.places - 4) / 4));
  });

  it('of a host that is not known yet are waited for as of one that takes 25 ms, and as of one that takes 250 as soon as that is over', async () => {
    const early = await askAtOnce(100);
    expect(early).toHaveLength(100 - 4 - 40);
    expect(early.at(-1)).toBeCloseTo(56 * 6.25);
    await vi.advanceTimersByTimeAsync(400);
    const later = await askAtOnce(20);
    expect(later.at(-1)).toBeCloseTo((later.at(-2) as number) + 62.5);
  });

  it('of a host are not taken for slow because this process is: what is not on its way yet tells nothing of it', async () => {
    for (let lane = 0; lane < 4; lane++) await lanes.enter({ target: 'busy.example', tenant: 'another' });
    await vi.advanceTimersByTimeAsync(10_000);
    // Forty wait for a host that nothing is known of.
    expect(await askAtOnce(60, 'busy.example', 'another')).toHaveLength(60 - 40);
  });

  it('that are kept by what this process cannot begin are asked for by a backlog no more than some 20 times a second to one host, and 70 times by one gateway', async () => {
    const comeBack = (pausesMs: readonly number[]): number => pausesMs.filter((pauseMs) => pauseMs < 10_000).length;
    for (let lane = 0; lane < 4; lane++) await lanes.enter({ target: 'shop.example', tenant: 'shop' });
    for (let lane = 0; lane < POLICY.webhookLanes.perTenant; lane++) await lanes.enter({ target: `shop-${lane}.example`, tenant: 'another' });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(comeBack(await askAtOnce(2_000))).toBeLessThan(10 * 20);
    expect(comeBack(await askAtOnce(2_000, 'other.example', 'another'))).toBeLessThan(10 * 70);
  });

  it('of a quick host that nobody waits for have the next one sent away come back at once, however many were before it', async () => {
    const four = await Promise.all([1, 2, 3, 4].map(() => taken('shop.example')));
    const before = await askAtOnce(300);
    expect(before.at(-1)).toBeGreaterThan(10_000);
    await vi.advanceTimersByTimeAsync(600);
    four[0]?.leave(QUICK);
    await taken('shop.example');
    expect((await askAtOnce(100)).find((pauseMs) => pauseMs > 100)).toBeLessThan(1_000);
  });

  it('of a quick host that are idle again and again bring only the next few back sooner, so that its backlog asks no more than some 25 times a second', async () => {
    const comesMs: number[] = [];
    const ask = async (tookMs: number): Promise<void> => {
      const lane = await lanes.enter({ target: 'shop.example', tenant: 'shop' });
      if ('pauseMs' in lane) return void comesMs.push(Date.now() + lane.pauseMs);
      lane.sent();
      setTimeout(() => lane.leave({ tookMs, timedOut: false }), tookMs);
    };
    for (let round = 0; round < 20; round++) {
      for (let index = 0; index < 4; index++) void ask(300);
      await vi.advanceTimersByTimeAsync(260);
      // Four or so wait, are answered at once, and leave lanes that nobody waits for.
      for (let index = 0; index < 200; index++) void ask(1);
      await vi.advanceTimersByTimeAsync(100);
    }
    const inTenSeconds = comesMs.filter((atMs) => atMs > Date.now() && atMs <= Date.now() + 10_000);
    expect(inTenSeconds.length).toBeGreaterThan(10 * 10);
    expect(inTenSeconds.length).toBeLessThan(10 * 25);
  });

  it('that are free, where a gateway has all its places taken by what nobody can write down, are not asked for by its backlog more than some 20 times a second', async () => {
    const { places, perTenant, together } = POLICY.webhookLanes;
    for (let place = 0; place < (places * perTenant) / together; place++) {
      const lane = await lanes.enter({ target: 'shop.example', tenant: 'shop' });
      if ('pauseMs' in lane) throw new Error('no lane');
      lane.sent();
      lane.answered({ tookMs: 1, timedOut: false });
    }
    // What each asks when it comes back after as long as it was told to.
    const comeBack = (pausesMs: readonly number[]): number => pausesMs.filter((pauseMs) => pauseMs < 10_000).length;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(comeBack(await askAtOnce(1_000))).toBeLessThan(10 * 20);
    expect(comeBack(await askAtOnce(1_000, 'another.example'))).toBe(0);
    (await taken('shop.example', 'honest')).leave(QUICK);
  });

  it('that are free, where a gateway writes for two seconds in each of its places, are asked for by its backlog no more often than places are left', async () => {
    const { places, perTenant, together } = POLICY.webhookLanes;
    const share = (places * perTenant) / together;
    const fill = async (count: number): Promise<Lane[]> => {
      const held: Lane[] = [];
      for (let place = 0; place < count; place++) {
        const lane = (await lanes.enter({ target: 'shop.example', tenant: 'shop' })) as Lane;
        lane.sent();
        lane.answered({ tookMs: 1, timedOut: false });
        held.push(lane);
      }
      return held;
    };
    const held = await fill(share);
    await vi.advanceTimersByTimeAsync(2_000);
    for (const lane of held.slice(1)) lane.leave({ tookMs: 1, timedOut: false });
    await fill(share - 1);
    const pauses = await askAtOnce(1_000);
    expect(pauses.filter((pauseMs) => pauseMs < 10_000).length).toBeLessThan(10 * (share / 2) * 1.1);
  });

  it('of a gateway of which nothing is in flight now and then bring only the next few back sooner, so that its backlog asks no more than some 25 times a second', async () => {
    const comesMs: number[] = [];
    for (let round = 0; round < 20; round++) {
      const held: Lane[] = [];
      for (let index = 0; index < POLICY.webhookLanes.perTenant; index++)
        held.push((await lanes.enter({ target: `shop-${index}.example`, tenant: 'shop' })) as Lane);
      for (const lane of held) lane.sent();
      await vi.advanceTimersByTimeAsync(300);
      const pauses = await askAtOnce(600, 'another.example');
      expect(Math.min(...pauses)).toBeLessThan(500);
      for (const pauseMs of pauses) comesMs.push(Date.now() + pauseMs);
      await vi.advanceTimersByTimeAsync(700);
      for (const lane of held) lane.leave({ tookMs: 1_000, timedOut: false });
    }
    const inTenSeconds = comesMs.filter((atMs) => atMs > Date.now() && atMs <= Date.now() + 10_000);
    expect(inTenSeconds.length).toBeGreaterThan(10 * 10);
    expect(inTenSeconds.length).toBeLessThan(10 * 25);
  });

  it('of a gateway whose receivers were slow, and of which nothing has waited since, are asked for again as soon as of any other', async () => {
    const fill = async (): Promise<Lane[]> => {
      const held: Lane[] = [];
      for (let index = 0; index < POLICY.webhookLanes.perTenant; index++)
        held.push((await lanes.enter({ target: `shop-${index}.example`, tenant: 'shop' })) as Lane);
      return held;
    };
    const held = await fill();
    expect(await askAtOnce(20, 'another.example')).toHaveLength(20);
    await vi.advanceTimersByTimeAsync(9_000);
    for (const lane of held) lane.leave({ tookMs: 9_000, timedOut: false });
    await fill();
    expect((await askAtOnce(20, 'another.example')).at(-1)).toBe(100);
  });

  it('of a quick host are asked for again by each of a backlog in its turn, however long it is, and of one that hangs twenty times a second', async () => {
    const quick = await askAtOnce(12_000);
    expect(quick.at(-1)).toBeCloseTo((12_000 - 4 - 40) * 6.25);
    await vi.advanceTimersByTimeAsync(400);
    const hanging = await askAtOnce(100);
    expect((hanging.at(-1) as number) - (hanging.at(-2) as number)).toBeCloseTo(50);
  });

  it('of a host that several gateways share are asked for again by each gateway in its turn, however many another has waiting, and by that one as soon as without them', async () => {
    await known(1_000);
    for (let lane = 0; lane < 4; lane++) await taken('shop.example', `another-${lane}`);
    const backlog = await askAtOnce(1_000, 'shop.example', 'greedy');
    expect(backlog.at(-1)).toBeGreaterThan(90_000);
    // A lane is left each quarter of a second, in turns of two gateways.
    expect(await askAtOnce(3, 'shop.example', 'honest')).toEqual([500, 1_000, 1_500].map((pauseMs) => expect.closeTo(pauseMs, -1)));
    expect(await askAtOnce(1, 'shop.example', 'third')).toEqual([expect.closeTo(750, -1)]);
    expect(await askAtOnce(1, 'shop.example', 'greedy')).toEqual([expect.closeTo((backlog.at(-1) as number) + 5 * 50, -1)]);
  });

  it('of a host that hangs for one gateway are there for others, but for one', async () => {
    for (let round = 0; round < 3; round++) (await taken('shop.example', 'greedy')).leave(TIMED_OUT);
    await taken('shop.example', 'greedy');
    expect(await askAtOnce(10, 'shop.example', 'greedy')).toHaveLength(10);
    expect(await askAtOnce(10, 'shop.example', 'honest')).toHaveLength(10 - 3);
    // Nor has another for which it hangs a lane besides that one.
    for (let round = 0; round < 6; round++) (await taken('other.example', `greedy-${round % 2}`)).leave(TIMED_OUT);
    await taken('other.example', 'greedy-0');
    expect(await askAtOnce(1, 'other.example', 'greedy-1')).toHaveLength(1);
    await taken('other.example', 'honest');
  });

  it('to hosts that hang are together half of all, however many gateways name each, of which none was there before', async () => {
    const hosts = Array.from({ length: 12 }, (_, at) => `shared-${at}.example`);
    for (const host of hosts) for (let round = 0; round < 3; round++) (await taken(host, `first-${round}`)).leave(TIMED_OUT);
    let flying = 0;
    for (const host of hosts) for (let at = 0; at < 4; at++) flying += 'leave' in (await lanes.enter({ target: host, tenant: `${host}-${at}` })) ? 1 : 0;
    expect(flying).toBe(POLICY.webhookLanes.slowTargets);
    await taken('shop.example', 'honest');
  });

  it('of a host that is not quick are not all one gateway’s while those of another come back, and are as soon as nobody else’s do', async () => {
    await known(2_000);
    const four = await Promise.all([1, 2, 3, 4].map(() => taken('shop.example', 'greedy')));
    const [comesBackMs] = (await askAtOnce(1, 'shop.example', 'honest')) as [number];
    four[0]?.leave({ tookMs: 2_000, timedOut: false });
    expect(await askAtOnce(5, 'shop.example', 'greedy')).toHaveLength(5);
    const honest = await taken('shop.example', 'honest');
    honest.leave({ tookMs: 20, timedOut: false });
    await vi.advanceTimersByTimeAsync(comesBackMs + 1_000);
    await taken('shop.example', 'greedy');
  });

  /** Each gateway keeps a lane for so long, and has another one at once. */
  async function keepBusy(host: string, gatewayIds: readonly string[], keptMs: number, attempt: { tookMs: number; timedOut: boolean }): Promise<Lane[]> {
    const ask = (tenant: string): Promise<Lane | { pauseMs: number }> => lanes.enter({ target: host, tenant });
    const before = await Promise.all(gatewayIds.map(ask));
    await vi.advanceTimersByTimeAsync(keptMs);
    for (const lane of before) (lane as Lane).leave(attempt);
    const taken = await Promise.all(gatewayIds.map(ask));
    for (const lane of taken) (lane as Lane).sent();
    return taken as Lane[];
  }

  it.each([2, 4])(
    'of a host that is not quick are left to a gateway which has had less of them, however %i others share them, and a second longer than it was told',
    async (greedy) => {
      const greedyIds = Array.from({ length: 4 }, (_, at) => `greedy-${at % greedy}`);
      const four = await keepBusy('shop.example', greedyIds, 9_900, { tookMs: 9_900, timedOut: false });
      const comesBackMs = await pause('shop.example', 'honest');
      four[0]?.leave({ tookMs: 9_900, timedOut: false });
      await vi.advanceTimersByTimeAsync(comesBackMs - 1_000 + 900);
      for (const gatewayId of greedyIds) expect(await askAtOnce(1, 'shop.example', gatewayId)).toHaveLength(1);
      (await taken('shop.example', 'honest')).leave(QUICK);
      await taken('shop.example', 'greedy-0');
    },
  );

  it('of a host that hangs for several gateways are left to the one which has had less of them, so that it notices that it is answered again', async () => {
    for (let round = 0; round < 3; round++) (await taken('shop.example', 'honest')).leave(TIMED_OUT);
    for (let round = 0; round < 3; round++) {
      const lane = await taken('shop.example', 'greedy');
      await vi.advanceTimersByTimeAsync(10_000);
      lane.leave(TIMED_OUT);
    }
    const only = await taken('shop.example', 'greedy');
    const comesBackMs = await pause('shop.example', 'honest');
    only.leave(TIMED_OUT);
    expect(await askAtOnce(1, 'shop.example', 'greedy')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(comesBackMs - 1_000);
    (await taken('shop.example', 'honest')).leave(QUICK);
    await taken('shop.example', 'honest');
  });

  it('to hosts that run into the deadline are left to a gateway which has had less of them, however many such hosts others name', async () => {
    const hosts = Array.from({ length: POLICY.webhookLanes.slowTargets }, (_, at) => ({ host: `tarpit-${at}.example`, gatewayId: `greedy-${at % 4}` }));
    for (const { host, gatewayId } of hosts)
      for (let round = 0; round < 3; round++) (await keepBusy(host, [gatewayId], 10_000, TIMED_OUT))[0]?.leave(TIMED_OUT);
    const all: Lane[] = [];
    for (const { host, gatewayId } of hosts) all.push(await taken(host, gatewayId));
    for (let round = 0; round < 3; round++) {
      const lane = await enter('shop.example', `other-${round}`);
      if ('leave' in lane) lane.leave(TIMED_OUT);
    }
    const comesBackMs = await pause('shop.example', 'honest');
    all[0]?.leave(TIMED_OUT);
    expect(await askAtOnce(1, 'tarpit-0.example', 'greedy-0')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(Math.max(comesBackMs - 1_000, 0));
    await taken('shop.example', 'honest');
  });

  it('that are left by one who waited, and may not have it, are given to the next who waits', async () => {
    lanes = openLanes({ ...POLICY.webhookLanes, together: 8, perTenant: 2, tenantShare: 1 }, () => Date.now());
    const ask = (target: string, tenant: string): Promise<Lane | { pauseMs: number }> => lanes.enter({ target, tenant });
    const four = await Promise.all(['a', 'b', 'c', 'd'].map((tenant) => ask('shop.example', tenant)));
    const order: string[] = [];
    for (const tenant of ['a', 'e']) void ask('shop.example', tenant).then((lane) => order.push(`${tenant} ${'leave' in lane ? 'sent' : 'away'}`));
    expect(await ask('other.example', 'a')).toHaveProperty('leave');
    (four[3] as Lane).leave(QUICK);
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['a away', 'e sent']);
  });

  it('of a slow host are not waited for, and those sent away come back one after the other, the first of them within a minute', async () => {
    for (let round = 0; round < 4; round++) (await taken('slow.example')).leave({ tookMs: 8_000, timedOut: false });
    for (let index = 0; index < 4; index++) await taken('slow.example');
    const began = Date.now();
    const pauses: number[] = [];
    for (let index = 0; index < 100; index++) {
      const lane = await lanes.enter({ target: 'slow.example', tenant: 'shop' });
      if ('pauseMs' in lane) pauses.push(lane.pauseMs);
    }
    expect(Date.now()).toBe(began);
    expect(pauses).toHaveLength(100);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(pauses[0]).toBeLessThan(3_000);
    expect(pauses[10]).toBeGreaterThan(10_000);
    // Twenty a second from then on, so that no backlog asks the database more often.
    const later = pauses.filter((pauseMs) => pauseMs > 60_000);
    expect(later.length).toBeGreaterThan(20);
    for (const [at, pauseMs] of later.slice(1).entries()) expect(pauseMs).toBe((later[at] ?? 0) + 50);
  });

  it('shrink to one after three timeouts in a row, and are four again after an answer', async () => {
    for (let index = 0; index < 2; index++) (await taken('tarpit.example')).leave(TIMED_OUT);
    (await taken('tarpit.example')).leave(QUICK);
    for (let index = 0; index < 3; index++) (await taken('tarpit.example')).leave(TIMED_OUT);
    const only = await taken('tarpit.example');
    expect(await pause('tarpit.example')).toBeGreaterThan(1_000);
    only.leave({ tookMs: 9_000, timedOut: false });
    for (let index = 0; index < 4; index++) await taken('tarpit.example');
  });

  it('stay one where an attempt did not come about, which is no answer', async () => {
    for (let index = 0; index < 3; index++) (await taken('tarpit.example')).leave(TIMED_OUT);
    (await taken('tarpit.example')).leave();
    await taken('tarpit.example');
    expect(await pause('tarpit.example')).toBeGreaterThan(1_000);
  });

  it('are sixteen per gateway over all hosts, so that one with many slow hosts leaves room', async () => {
    const held: Lane[] = [];
    for (let index = 0; index < POLICY.webhookLanes.perTenant; index++) held.push(await taken(`tarpit-${index}.example`, 'greedy'));
    expect(await pause('another.example', 'greedy')).toBeGreaterThan(0);
    (await taken('another.example', 'honest')).leave(QUICK);
    held[0]?.leave(QUICK);
    await taken('another.example', 'greedy');
  });

  it('of a gateway that has all it may have are asked for again one after the other, within a minute, however many hosts it names', async () => {
    for (let index = 0; index < POLICY.webhookLanes.perTenant; index++) await taken(`tarpit-${index}.example`, 'greedy');
    const pauses: number[] = [];
    for (let index = 0; index < 1_000; index++) {
      const lane = await lanes.enter({ target: `another-${index}.example`, tenant: 'greedy' });
      if ('pauseMs' in lane) pauses.push(lane.pauseMs);
    }
    expect(pauses).toHaveLength(1_000);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(pauses.at(-1)).toBeGreaterThan(10_000);
    expect(pauses.at(-1)).toBeLessThanOrEqual(60_000);
  });

  it.each([4, 16, 50])('leave room in a process when %i gateways take all they may, each to hosts of its own that hang', async (gateways) => {
    let held = 0;
    for (let at = 0; at < POLICY.webhookLanes.together * gateways; at++) {
      const lane = await lanes.enter({ target: `tarpit-${at}.example`, tenant: `greedy-${at % gateways}` });
      if ('leave' in lane) held += 1;
    }
    expect(held).toBeGreaterThan(POLICY.webhookLanes.together / 2 - 1);
    expect(held).toBeLessThan(POLICY.webhookLanes.together - 5);
    await taken('shop.example', 'honest');
  });

  it('are counted for a gateway while its deliveries wait in memory, so that many quick hosts of its own take no more of the workers', async () => {
    const asked: Promise<Lane | { pauseMs: number }>[] = [];
    for (let at = 0; at < 200; at++) asked.push(lanes.enter({ target: `shop-${at % 3}.example`, tenant: 'greedy' }));
    let answered = 0;
    for (const entering of asked) void entering.then((lane) => (answered += 'pauseMs' in lane ? 1 : 0));
    await vi.advanceTimersByTimeAsync(1);
    // The rest was sent away at once.
    const { places, perTenant, together } = POLICY.webhookLanes;
    expect(answered).toBe(200 - (places * perTenant) / together);
  });

  it('to hosts that run into the deadline are half of all, so that the receivers of one provider that is away leave room', async () => {
    for (let at = 0; at < 60; at++) {
      for (let round = 0; round < 3; round++) (await taken(`shop-${at}.example`, `shop-${at}`)).leave(TIMED_OUT);
    }
    const held: Lane[] = [];
    for (let at = 0; at < 60; at++) {
      const lane = await enter(`shop-${at}.example`, `shop-${at}`);
      if ('leave' in lane) held.push(lane);
    }
    expect(held).toHaveLength(POLICY.webhookLanes.slowTargets);
    expect(await pause('shop-59.example', 'shop-59')).toBeLessThanOrEqual(60_000);
    await taken('quick.example', 'honest');
    held[0]?.leave(TIMED_OUT);
    await taken('shop-59.example', 'shop-59');
  });

  it('to hosts that run into the deadline, where those of others have them all, are not asked for by a gateway more than some 20 times a second, however many such hosts it names', async () => {
    const makeSlow = async (host: string, gatewayId: string): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        const lane = (await lanes.enter({ target: host, tenant: gatewayId })) as Lane;
        lane.sent();
        lane.leave(TIMED_OUT);
      }
    };
    for (let at = 0; at < POLICY.webhookLanes.slowTargets; at++) {
      await makeSlow(`tarpit-${at}.example`, `shop-${at}`);
      await lanes.enter({ target: `tarpit-${at}.example`, tenant: `shop-${at}` });
    }
    const pauses: number[] = [];
    for (let at = 0; at < 2_000; at++) {
      await makeSlow(`one-of-many-${at}.example`, 'greedy');
      pauses.push(...(await askAtOnce(1, `one-of-many-${at}.example`, 'greedy')));
    }
    expect(pauses).toHaveLength(2_000);
    expect(pauses.filter((pauseMs) => pauseMs < 10_000).length).toBeLessThan(10 * 20);
    // Nobody else's come back later for that, nor do those of its own that find a lane.
    await makeSlow('away.example', 'honest');
    expect((await askAtOnce(1, 'away.example', 'honest'))[0]).toBeLessThan(10_000);
    await taken('shop.example', 'greedy');
  });

  it('of hosts that nobody has used for long are forgotten, so that memory is bounded', async () => {
    for (let round = 0; round < 3; round++) (await taken('h.example')).leave(TIMED_OUT);
    for (let index = 0; index < 10_000; index++) {
      const lane = await lanes.enter({ target: `h${index}.example`, tenant: 'shop' });
      if ('leave' in lane) lane.leave(QUICK);
    }
    for (let index = 0; index < 4; index++) await taken('h.example');
  });

  it('are answered within half a second, never more than there are, and all free once left, in whatever order they are asked for, answered and left', async () => {
    const { together, places, perTarget, perTenant } = POLICY.webhookLanes;
    const [hosts, tenants] = [5, 6];
    const act = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          what: fc.constant('enter' as const),
          host: fc.nat(hosts - 1),
          tenant: fc.nat(tenants - 1),
          times: fc.integer({ min: 1, max: 30 }),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          what: fc.constantFrom('answered' as const, 'leave' as const),
          which: fc.nat(),
          timedOut: fc.boolean(),
          times: fc.integer({ min: 1, max: 20 }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ what: fc.constant('pass' as const), milliseconds: fc.integer({ min: 0, max: 700 }) }) },
    );
    const aLane = async (host: string, tenant = 0): Promise<Lane> => {
      const lane = await lanes.enter({ target: host, tenant: `t${tenant}` });
      if ('pauseMs' in lane) throw new Error(`no lane to ${host}`);
      return lane;
    };
    const holds = fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 120 }), async (acts) => {
      lanes = openLanes(POLICY.webhookLanes, () => Date.now());
      const asking = new Set<{ host: number; tenant: number; atMs: number }>();
      const taken: { lane: Lane; host: number; tenant: number; flies: boolean }[] = [];
      const timedOutOnce = new Set<number>();
      const sentAway: number[] = [];
      const count = <T>(all: Iterable<T>, counts: (one: T) => boolean): number => [...all].filter(counts).length;
      for (const one of acts) {
        for (let time = 0; 'times' in one && time < one.times; time++) {
          if (one.what === 'enter') {
            const { host, tenant } = one;
            const asked = { host, tenant, atMs: Date.now() };
            asking.add(asked);
            void lanes.enter({ target: `h${host}`, tenant: `t${tenant}` }).then((lane) => {
              asking.delete(asked);
              if ('leave' in lane) taken.push({ lane, host, tenant, flies: true });
              else sentAway.push(lane.pauseMs);
            });
          } else if (taken.length > 0) {
            const at = one.which % taken.length;
            const of = taken[at] as (typeof taken)[number];
            const attempt = one.timedOut && one.which % 3 === 0 ? TIMED_OUT : QUICK;
            if (of.flies && attempt.timedOut) timedOutOnce.add(of.host);
            of.flies = false;
            of.lane[one.what](attempt);
            if (one.what === 'leave') taken.splice(at, 1);
          }
        }
        await vi.advanceTimersByTimeAsync(one.what === 'pass' ? one.milliseconds : 0);
        expect(count(asking, ({ atMs }) => Date.now() - atMs >= 500)).toBe(0);
        expect(count(taken, ({ flies }) => flies)).toBeLessThanOrEqual(together + tenants);
        for (let host = 0; host < hosts; host++) {
          const flying = count(taken, (of) => of.flies && of.host === host);
          expect(flying).toBeLessThanOrEqual(perTarget);
          // Who waits does so for a lane that is taken.
          if (!timedOutOnce.has(host) && count(asking, (asked) => asked.host === host) > 0) expect(flying).toBe(perTarget);
        }
        for (let tenant = 0; tenant < tenants; tenant++) {
          const isIts = (of: { tenant: number }): boolean => of.tenant === tenant;
          expect(count(taken, (of) => of.flies && isIts(of))).toBeLessThanOrEqual(perTenant);
          expect(count(taken, isIts) + count(asking, isIts)).toBeLessThanOrEqual((places * perTenant) / together);
        }
      }
      await vi.advanceTimersByTimeAsync(500);
      expect(asking.size).toBe(0);
      for (const pauseMs of sentAway) expect(pauseMs).toBeGreaterThanOrEqual(100);
      for (const { lane } of taken.splice(0)) lane.leave(QUICK);
      // A lane is kept a second longer for those that come back.
      await vi.advanceTimersByTimeAsync(Math.max(0, ...sentAway) + 1_000);
      // As if nothing had been: a gateway has all its lanes, to one host as many as ever, and all its places.
      for (let host = 0; host < hosts; host++) {
        if (timedOutOnce.has(host)) (await aLane(`h${host}`)).leave(QUICK);
        for (const lane of await Promise.all(Array.from({ length: perTarget }, () => aLane(`h${host}`)))) lane.leave(QUICK);
      }
      const free: Lane[] = [];
      for (const [tenant, lanesOfIt] of [16, 12, 9].entries()) {
        for (let at = 0; at < lanesOfIt; at++) free.push(await aLane(`another-${tenant}-${at}`, tenant));
        expect(await askAtOnce(1, 'one-more.example', `t${tenant}`)).toHaveLength(1);
      }
      for (const lane of free) lane.leave(QUICK);
      for (let round = 0; round < 20; round++) (await aLane('quick')).leave({ tookMs: 1, timedOut: false });
      expect(await askAtOnce(100, 'quick', 't0')).toHaveLength(100 - 64);
      expect(await askAtOnce(100, 'quick', 't1')).toHaveLength(100 - 48);
    });
    await fc.assert(holds, { numRuns: 60 });
  });
});
