import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Connection, connect, type Health } from '#api/checkout/page/browser/connection.ts';
import { checkoutScene, SCENE_TIME } from '#test/fixtures/checkout-scenes.ts';
import { type FakeNetwork, fakeNetwork, pass, snapshotAt } from './fake-browser.ts';

const PAGE = checkoutScene('pay').snapshot;
const RETURN_LIMIT_MS = 3_000;
const now = () => snapshotAt(PAGE, Date.now());

let network: FakeNetwork;
let health: Health[];
let heard: number[];
let moments: string[];
let refused: number;
let connection: Connection;

beforeEach(() => {
  vi.useFakeTimers({ now: SCENE_TIME });
  network = fakeNetwork();
  network.answer(() => ({ kind: 'snapshot', snapshot: now() }));
  health = [];
  heard = [];
  moments = [];
  refused = 0;
  connection = connect(
    { ...network.effects, pollEveryMs: () => 3_000 },
    {
      snapshot: () => heard.push(Date.now()),
      serverTime: (moment) => moments.push(moment),
      health: (next) => health.push(next),
      refused: () => {
        refused += 1;
      },
    },
  );
});
afterEach(() => {
  connection.left();
  vi.useRealTimers();
});

const greet = () => network.socket().say({ type: 'snapshot', ...now() });

describe('while the socket works', () => {
  test('nothing is polled, pings keep it and set the clock', async () => {
    greet();
    for (let pings = 0; pings < 8; pings += 1) {
      await pass(25_000);
      network.socket().say({ type: 'ping', serverTime: new Date().toISOString() });
    }
    expect(network.asked).toEqual([]);
    expect(network.sockets).toHaveLength(1);
    expect(moments).toHaveLength(8);
    expect(health.at(-1)).toBe('socket');
  });

  test('a socket that says nothing for 40 s is dead: the snapshot is asked for, another one opened', async () => {
    greet();
    await pass(39_999);
    expect(network.asked).toEqual([]);
    await pass(1_000);
    expect(network.asked).toHaveLength(1);
    expect(network.sockets).toHaveLength(2);
    expect(network.sockets[0]?.isOpen()).toBe(false);
  });

  test('frames it does not know, and errors of commands, change nothing and count as life', async () => {
    greet();
    await pass(30_000);
    network.socket().say({ type: 'error', command: 'select', error: { code: 'conflict', message: 'Expired.' } });
    await pass(30_000);
    expect(heard).toHaveLength(1);
    expect(network.sockets).toHaveLength(1);
  });
});

describe('without a socket', () => {
  test('the snapshot is asked for at once and every 3 s, one at a time, until a socket speaks', async () => {
    greet();
    await pass(20_000);
    network.socket().drop();
    const from = Date.now();
    await pass(0);
    const refusing = setInterval(() => network.socket().drop(), 50);
    await pass(9_500);
    clearInterval(refusing);
    expect(network.asked.map((at) => Math.round((at - from) / 1_000))).toEqual([0, 3, 6, 9]);
    expect(network.underWay.most).toBe(1);
    expect(health.at(-1)).toBe('polling');
    while (!network.socket().isOpen()) await pass(100);
    const polls = network.asked.length;
    greet();
    await pass(20_000);
    expect(network.asked).toHaveLength(polls);
    expect(health.at(-1)).toBe('socket');
  });

  test('sockets that do not last are opened ever later, up to 15 s', async () => {
    const opened: number[] = [];
    for (let tries = 0; tries < 12; tries += 1) {
      const count = network.sockets.length;
      opened.push(Date.now());
      greet();
      network.socket().drop(1001);
      while (network.sockets.length === count) await pass(50);
    }
    const pauses = opened.slice(1).map((at, index) => at - opened[index]!);
    expect(pauses[0]).toBeLessThan(1_000);
    expect(pauses.at(-1)).toBeGreaterThan(10_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15_100);
    expect([...pauses].sort((a, b) => a - b)).toEqual(pauses);
  });

  test('a socket that worked for a while is replaced within a second, at the tenth deployment too', async () => {
    for (let deployments = 1; deployments <= 10; deployments += 1) {
      greet();
      await pass(20_000);
      network.socket().drop(1001);
      await pass(1_000);
      expect(network.sockets).toHaveLength(deployments + 1);
    }
  });

  test('one that the server will not have is not opened again until the payer returns', async () => {
    greet();
    network.socket().drop(1008);
    await pass(120_000);
    expect(network.sockets).toHaveLength(1);
    expect(network.asked.length).toBeGreaterThan(30);
    connection.returned();
    expect(network.sockets).toHaveLength(2);
  });

  test('a server that is too busy is asked again when it said, also when sockets fail meanwhile', async () => {
    network.answer(() => ({ kind: 'later', reason: 'busy', waitMs: 30_000 }));
    network.socket().drop();
    await pass(0);
    network.answer(() => ({ kind: 'snapshot', snapshot: now() }));
    for (let drops = 0; drops < 10; drops += 1) {
      await pass(2_900);
      network.socket().drop();
    }
    expect(network.asked).toHaveLength(1);
    await pass(1_100);
    expect(network.asked).toHaveLength(2);
    expect(health).not.toContain('lost');
  });

  test('a payment that may not be read is told as such each time, and asked for more and more rarely', async () => {
    network.answer(() => ({ kind: 'refused' }));
    network.socket().drop();
    await pass(60_000);
    expect(refused).toBe(network.asked.length);
    expect(network.asked.length).toBeGreaterThan(5);
    expect(network.asked.at(-1)! - network.asked.at(-2)!).toBeGreaterThanOrEqual(5_000);
    expect(health.at(-1)).toBe('lost');
  });
});

describe('what the payer is told', () => {
  test('one lost answer is nothing to tell, the second in a row is, and any answer ends it', async () => {
    network.answer(() => ({ kind: 'failed' }));
    network.socket().drop();
    await pass(0);
    expect(health.at(-1)).toBe('polling');
    await pass(300);
    expect(health.at(-1)).toBe('lost');
    network.answer(() => ({ kind: 'snapshot', snapshot: now() }));
    await pass(1_000);
    expect(health.at(-1)).toBe('polling');
  });

  test('a server that fails is not a lost connection, and is asked ever less often', async () => {
    network.answer(() => ({ kind: 'later', reason: 'unavailable', waitMs: 0 }));
    network.socket().drop();
    await pass(120_000);
    expect(health.at(-1)).toBe('unavailable');
    expect(health).not.toContain('lost');
    expect(network.asked.length).toBeLessThan(25);
  });

  test('a network that is gone is told at once, and not again by a socket that has not noticed', async () => {
    greet();
    connection.offline();
    expect(health.at(-1)).toBe('lost');
    connection.returned();
    await pass(0);
    expect(health.at(-1)).not.toBe('lost');
  });

  test('a frame that was under way when the network went hides nothing; one that comes later says that it is back', async () => {
    greet();
    connection.offline();
    await pass(200);
    greet();
    expect(health.at(-1)).toBe('lost');
    await pass(2_000);
    greet();
    expect(health.at(-1)).toBe('socket');
  });

  test('a device that wakes up before its network does is not told that it is connected', async () => {
    greet();
    connection.offline();
    network.answer(() => ({ kind: 'failed' }));
    connection.returned();
    await pass(0);
    expect(health.at(-1)).toBe('lost');
    network.answer(() => ({ kind: 'snapshot', snapshot: now() }));
    await pass(1_000);
    expect(health.at(-1)).toBe('polling');
  });
});

describe('a payer who returns', () => {
  test('sees the truth at once, although the old socket is dead without saying so', async () => {
    greet();
    await pass(5_000);
    const dead = network.socket();
    connection.returned();
    await pass(0);
    expect(heard).toHaveLength(2);
    expect(dead.isOpen()).toBe(false);
    expect(network.sockets).toHaveLength(2);
  });

  test.each([
    ['first try vanishes', 1],
    ['network fails four times', 4],
  ])('sees it within 3 s when the %s', async (_name, misses) => {
    greet();
    await pass(5_000);
    let left = misses;
    network.answer(() => {
      if (left === 0) return { kind: 'snapshot', snapshot: now() };
      left -= 1;
      return misses === 1 ? new Promise(() => {}) : { kind: 'failed' };
    });
    const from = Date.now();
    connection.returned();
    await pass(RETURN_LIMIT_MS);
    expect(heard).toHaveLength(2);
    expect(heard[1]! - from).toBeLessThanOrEqual(RETURN_LIMIT_MS);
  });

  test('sees it within 3 s by the new socket where HTTP stays dead', async () => {
    greet();
    await pass(5_000);
    network.answer('silence');
    const from = Date.now();
    connection.returned();
    await pass(400);
    greet();
    expect(heard[1]! - from).toBeLessThan(RETURN_LIMIT_MS);
  });

  test('is not made to wait by a question that was asked before and will never be answered', async () => {
    network.answer('silence');
    network.socket().drop();
    await pass(100);
    network.answer(() => ({ kind: 'snapshot', snapshot: now() }));
    connection.returned();
    await pass(0);
    expect(heard).toHaveLength(1);
  });

  test('is one return, however many events tell of it; the network coming back is another', async () => {
    greet();
    await pass(5_000);
    for (let events = 0; events < 4; events += 1) connection.returned();
    await pass(0);
    expect(network.asked).toHaveLength(1);
    expect(network.sockets).toHaveLength(2);
    connection.offline();
    connection.returned();
    await pass(0);
    expect(network.asked).toHaveLength(2);
  });

  test('a slow network is let finish: tries get longer', async () => {
    network.answer(() => new Promise((answer) => setTimeout(() => answer({ kind: 'snapshot', snapshot: now() }), 6_000)));
    connection.returned();
    await pass(30_000);
    expect(heard.length).toBeGreaterThan(0);
  });
});

test('a page that goes away holds nothing open, asks nothing, and comes back with both', async () => {
  greet();
  connection.left();
  expect(network.socket().isOpen()).toBe(false);
  await pass(120_000);
  expect(network.asked).toEqual([]);
  expect(network.sockets).toHaveLength(1);
  connection.returned();
  await pass(0);
  expect(network.asked).toHaveLength(1);
  expect(network.sockets).toHaveLength(2);
});

test('refresh asks once while the socket works, and starts no polling', async () => {
  greet();
  await connection.refresh();
  await pass(20_000);
  expect(network.asked).toHaveLength(1);
});

test('refresh asks anew where an answer under way may be older than what was done', async () => {
  network.answer(() => new Promise((answer) => setTimeout(() => answer({ kind: 'snapshot', snapshot: now() }), 500)));
  network.socket().drop();
  await pass(100);
  let isDone = false;
  void connection.refresh().then(() => {
    isDone = true;
  });
  await pass(600);
  expect(isDone).toBe(false);
  await pass(500);
  expect(isDone).toBe(true);
  expect(network.asked).toHaveLength(2);
  expect(network.underWay.most).toBe(1);
});
