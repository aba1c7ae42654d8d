import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openPlaces } from '#api/http/socket-places.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { aSocketStage, type SocketStage, type SocketStageOptions } from '#test/fixtures/socket-stage.ts';
import { openSocket, refusedSocket } from '#test/harness/socket-client.ts';
import { dial } from '#test/contract/raw-http.ts';

const stages: SocketStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

async function aStage(options: SocketStageOptions = {}): Promise<{ stage: SocketStage; id: string }> {
  const stage = await aSocketStage(options);
  stages.push(stage);
  const id = randomUUID();
  stage.put(id);
  return { stage, id };
}

/** How many sockets ended so. */
async function ended(stage: SocketStage, reason: string): Promise<number> {
  const { body } = await stage.metrics.scrape();
  return Number(new RegExp(`sluice_ws_closed_total\\{reason="${reason}"\\} (\\d+)`).exec(body)?.[1]);
}
const open = async (stage: SocketStage): Promise<number> => Number(/sluice_ws_connections (\d+)/.exec((await stage.metrics.scrape()).body)?.[1]);

describe('an upgrade', () => {
  it('begins with a snapshot and goes on with updates, each whole', async () => {
    const { stage, id } = await aStage();
    const page = await openSocket(stage.origin, id.toUpperCase());
    expect(page.frames[0]).toMatchObject({ type: 'snapshot', payment: { id, status: 'PENDING' } });
    stage.put(id, { status: 'SUCCESS' });
    await page.shows(({ payment }) => payment.status === 'SUCCESS');
    const [first, second] = page.shown();
    expect(Object.keys(second ?? {}).sort()).toEqual(Object.keys(first ?? {}).sort());
    expect(page.frames.map((frame) => frame.type)).toEqual(['snapshot', 'update']);
    page.socket.close();
  });

  it.each([
    ['a payment nobody knows', new ServiceError('not_found'), 404],
    ['a payment in API mode', new ServiceError('forbidden'), 403],
    ['a database that is away', Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), 503],
    ['a bug', new Error('canary'), 500],
  ])('of %s is refused in the envelope before there is a socket, and leaves nothing behind', async (_what, error, status) => {
    const { stage, id } = await aStage({ places: openPlaces({ perClient: 1, together: 1 }) });
    stage.refuse(id, error);
    for (let times = 0; times < 3; times++) {
      const refused = await refusedSocket(stage.origin, id);
      expect(refused).toMatchObject({
        status,
        headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', connection: 'close' },
      });
      expect(refused.headers['x-request-id']).toBeDefined();
    }
    expect(await open(stage)).toBe(0);
    stage.put(id);
    (await openSocket(stage.origin, id)).socket.terminate();
  });

  it.each([
    ['the checkout', 'https://pay.example', 101],
    ['the api', 'https://api.example', 101],
    ['the host it came from, on this machine', 'same', 101],
    ["a stranger's name that points here", 'rebound', 403],
    ['another port of this machine', 'http://127.0.0.1:1', 403],
    ['no browser', undefined, 101],
    ['another site', 'https://evil.example', 403],
    ['the checkout without its encryption', 'http://pay.example', 403],
    ['a page that hides where it comes from', 'null', 403],
    ['a file', 'file://', 403],
    ['something that is no origin', 'pay.example', 403],
    ['a name that begins like the checkout', 'https://pay.example.evil.example', 403],
  ])('by %s: %s answers %i', async (_who, origin, status) => {
    const { stage, id } = await aStage();
    const named: Record<string, Record<string, string>> = {
      same: { origin: stage.origin },
      rebound: { origin: 'http://evil.example:8080', host: 'evil.example:8080' },
    };
    const headers: Record<string, string> = origin === undefined ? {} : (named[origin] ?? { origin });
    if (status === 403) expect(await refusedSocket(stage.origin, id, { headers })).toMatchObject({ status, code: 'forbidden' });
    else (await openSocket(stage.origin, id, { headers })).socket.terminate();
  });

  it('is refused with 429 and when to come back, beyond the rate limit and beyond its share of sockets', async () => {
    const limited = await aStage({ rateLimitScale: 1 / 120 });
    (await openSocket(limited.stage.origin, limited.id)).socket.terminate();
    const refused = await refusedSocket(limited.stage.origin, limited.id);
    expect([refused.status, refused.code, Number(refused.headers['retry-after']) > 0]).toEqual([429, 'rate_limit_exceeded', true]);

    const { stage, id } = await aStage({ places: openPlaces({ perClient: 2, together: 9 }) });
    const pages = [await openSocket(stage.origin, id), await openSocket(stage.origin, id)];
    expect(await refusedSocket(stage.origin, id)).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    pages[0]?.socket.close();
    await waitFor(async () => (await ended(stage, 'client')) === 1, { what: 'the place to be free' });
    (await openSocket(stage.origin, id)).socket.terminate();
  });

  it.each([
    ['without a key', 'Sec-WebSocket-Version: 13\r\n'],
    ['with a key that is none', 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n'],
    ['of a version nobody speaks', 'Sec-WebSocket-Version: 7\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'],
  ])('%s is told how to ask', async (_what, headers) => {
    const { stage, id } = await aStage();
    const connection = dial(stage.origin);
    connection.write(`GET /ws/payments/${id} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`);
    const answer = await connection.next();
    expect([answer.status, JSON.parse(answer.body).error.code, answer.headers['sec-websocket-version']]).toEqual([426, 'upgrade_required', '13']);
    expect(await connection.closed()).toBe('');
    expect(await open(stage)).toBe(0);
    expect((await stage.metrics.scrape()).body).toContain('sluice_api_errors_total{route="/ws/payments/{paymentId}",code="upgrade_required"} 1');
  });

  it('of a caller that is gone before it is answered takes nothing down', async () => {
    const { stage, id } = await aStage({ places: openPlaces({ perClient: 30, together: 30 }) });
    const release = stage.hold();
    for (let times = 0; times < 30; times++) {
      const { socket } = dial(stage.origin);
      const text = `GET /ws/payments/${id} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
      socket.write(text, () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    release();
    const page = await waitFor(() => openSocket(stage.origin, id), { what: 'a free place' });
    page.socket.terminate();
    await waitFor(async () => (await open(stage)) === 0, { what: 'all of them to be gone' });
  });
});

describe('an upgrade to something else', () => {
  const offer = 'Host: x\r\nConnection: Upgrade\r\nUpgrade:';
  it.each([
    ['is answered after it', `GET /after HTTP/1.1\r\n${offer} h2c\r\n\r\n`, 200],
    ['and to a payment too', `GET /ws/payments/${randomUUID()} HTTP/1.1\r\n${offer} websocket\r\n\r\n`, 404],
  ])('behind a request that takes its time %s', async (_what, text, status) => {
    const { stage } = await aStage();
    const connection = dial(stage.origin);
    const release = stage.hold();
    connection.write(`GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /slower HTTP/1.1\r\nHost: x\r\n\r\n${text}`);
    await waitFor(() => stage.slow() === 2, { what: 'the requests before it' });
    release();
    expect(JSON.parse((await connection.next()).body)).toMatchObject({ path: '/slow' });
    expect(JSON.parse((await connection.next()).body)).toMatchObject({ path: '/slower' });
    expect((await connection.next()).status).toBe(status);
    connection.socket.destroy();
  });

  it('behind a request whose caller hangs up takes nothing down', async () => {
    const { stage, id } = await aStage();
    const release = stage.hold();
    const { socket } = dial(stage.origin);
    socket.write(`GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /after HTTP/1.1\r\n${offer} h2c\r\n\r\n`);
    await waitFor(() => stage.slow() === 1, { what: 'the request before it' });
    socket.resetAndDestroy();
    await once(socket, 'close');
    release();
    (await openSocket(stage.origin, id)).socket.terminate();
  });

  const body = 'a body';
  const h2c = 'Content-Type: text/plain\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n';
  it.each([
    [
      'HTTP/2, with a body, as Java offers it with its first request',
      `POST /there?x=1 HTTP/1.1\r\nHost: x\r\n${h2c}Content-Length: ${body.length}\r\n\r\n${body}`,
      body,
    ],
    ['HTTP/2, with a body in chunks', `POST /there?x=1 HTTP/1.1\r\nHost: x\r\n${h2c}Transfer-Encoding: chunked\r\n\r\n6\r\n${body}\r\n0\r\n\r\n`, body],
    ['a WebSocket elsewhere', 'GET /there?x=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', undefined],
    ['a WebSocket of no payment', 'GET /ws/payments/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', undefined],
    ['a WebSocket below a payment', 'GET /ws/payments/a/b HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', undefined],
    ['a WebSocket by another method', 'PUT /there?x=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', undefined],
  ])('(%s) is answered like a request without one, and so is what comes after it', async (_what, text, expected) => {
    const { stage } = await aStage();
    const connection = dial(stage.origin);
    connection.write(text);
    const answer = await connection.next();
    const [method, path] = text.split(' ');
    const echo = { method, path, ...(expected !== undefined && { body: expected }) };
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expect.objectContaining(echo)]);
    expect(JSON.parse(answer.body)).not.toHaveProperty('upgrade');
    connection.write(`GET /next HTTP/1.1\r\nHost: x\r\n\r\n${text}`);
    expect(JSON.parse((await connection.next()).body)).toMatchObject({ path: '/next' });
    expect(JSON.parse((await connection.next()).body)).toMatchObject(echo);
    connection.socket.destroy();
  });
});

describe('a command', () => {
  const offerId = randomUUID();

  it('is carried out and answered with an update, also when nothing changed', async () => {
    const asked: unknown[] = [];
    const { stage, id } = await aStage({
      hosted: {
        async select(_deps, call) {
          asked.push(call);
          return { status: 200, data: {} };
        },
        async simulate(_deps, call) {
          asked.push(call);
          stage.put(id, { status: 'SUCCESS' });
        },
      },
    });
    const page = await openSocket(stage.origin, id);
    page.send({ type: 'select', offerId });
    await page.heard('update', ({ payment }) => payment.status === 'PENDING');
    page.send({ type: 'simulate', scenario: 'success', amount: '1' });
    await page.heard('update', ({ payment }) => payment.status === 'SUCCESS');
    expect(asked).toEqual([
      { paymentId: id, offerId },
      { paymentId: id, clientIp: '127.0.0.1', simulation: { scenario: 'success', amount: '1' } },
    ]);
    page.socket.terminate();
  });

  it('that fails is answered with the error, in the words of an error response', async () => {
    const { stage, id } = await aStage({
      hosted: {
        select: async () => {
          throw new ServiceError('conflict', { message: 'The payment has expired.' });
        },
        simulate: async () => {
          throw new Error('canary');
        },
      },
    });
    const page = await openSocket(stage.origin, id);
    page.send({ type: 'select', offerId });
    expect(await page.heard('error')).toEqual({ type: 'error', command: 'select', error: { code: 'conflict', message: 'The payment has expired.' } });
    page.send({ type: 'simulate', scenario: 'success' });
    const crash = await page.heard('error', ({ command }) => command === 'simulate');
    expect([crash.error.code, JSON.stringify(crash).includes('canary')]).toEqual(['internal_error', false]);
    page.socket.terminate();
  });

  it('draws on the rate limit of its operation', async () => {
    const { stage, id } = await aStage({ rateLimitScale: 3 / 120 });
    const page = await openSocket(stage.origin, id);
    const updates = () => page.frames.filter((frame) => frame.type === 'update').length;
    for (let times = 1; times <= 3; times++) {
      page.send({ type: 'select', offerId });
      await waitFor(() => updates() === times, { what: 'its answer' });
    }
    page.send({ type: 'select', offerId });
    const { error } = await page.heard('error');
    expect([error.code, (error.retryAfterSeconds ?? 0) > 0]).toEqual(['rate_limit_exceeded', true]);
    page.socket.terminate();
  });

  it('waits for no more than a few others', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begun = 0;
    const { stage, id } = await aStage({
      hosted: {
        select: async () => {
          begun += 1;
          await finished;
          return { status: 200, data: {} };
        },
        simulate: async () => undefined,
      },
    });
    const page = await openSocket(stage.origin, id);
    for (let times = 0; times < 6; times++) page.send({ type: 'select', offerId });
    await waitFor(() => page.frames.filter((frame) => frame.type === 'error').length === 2, { what: 'two refusals' });
    expect(begun).toBe(4);
    finish();
    await page.heard('update');
    page.socket.terminate();
  });
});

describe('a page that speaks otherwise', () => {
  it('is told what is wrong with a message, and closed after too many of them', async () => {
    const { stage, id } = await aStage();
    const page = await openSocket(stage.origin, id);
    for (let times = 0; times < 12; times++) page.send('{"type":"pay"}');
    expect(await page.closed).toBe(1008);
    expect(page.frames.filter((frame) => frame.type === 'error').length).toBeGreaterThanOrEqual(10);
    await waitFor(async () => (await ended(stage, 'protocol')) === 1, { what: 'the count' });
  });

  it('or more than anybody could press is cut off, however well it speaks', async () => {
    const { stage, id } = await aStage();
    const page = await openSocket(stage.origin, id);
    for (let times = 0; times < 200; times++) page.send({ type: 'select', offerId: randomUUID() });
    await page.closed;
    await waitFor(async () => (await ended(stage, 'protocol')) === 1, { what: 'the count' });
    expect(page.frames.length).toBeLessThan(100);
  });

  it.each([
    ['a message above 4,096 bytes', 'x'.repeat(4_097), 1009],
    ['a binary message', new Uint8Array(3), 1003],
  ])('is closed at %s', async (_what, message, code) => {
    const { stage, id } = await aStage();
    const page = await openSocket(stage.origin, id);
    page.send(message);
    expect(await page.closed).toBe(code);
    await waitFor(async () => (await ended(stage, 'protocol')) === 1, { what: 'the count' });
  });

  it('may send 4,096 bytes', async () => {
    const { stage, id } = await aStage();
    const page = await openSocket(stage.origin, id);
    page.send(JSON.stringify({ type: 'select', offerId: randomUUID() }).padEnd(4_096));
    await page.heard('update');
    page.socket.terminate();
  });
});

describe('a page that is gone', () => {
  it('and answers no ping is let go after the next one', async () => {
    const { stage, id } = await aStage({ pingMs: 20 });
    const page = await openSocket(stage.origin, id);
    const ping = await page.heard('ping');
    expect(Number.isNaN(Date.parse(ping.serverTime))).toBe(false);
    expect(await ended(stage, 'dead')).toBe(0);
    page.socket.pause();
    await waitFor(async () => (await ended(stage, 'dead')) === 1, { what: 'the dead one to be noticed' });
    expect(await open(stage)).toBe(0);
    page.socket.terminate();
  });

  it('or reads nothing is cut off before what it does not read piles up', async () => {
    const { stage, id } = await aStage({ backlogBytes: 100_000 });
    const page = await openSocket(stage.origin, id);
    page.socket.pause();
    let times = 0;
    const say = async (): Promise<boolean> => {
      times += 1;
      stage.put(id, { language: `${times} `.repeat(100_000) });
      await stage.live.refresh(id);
      return (await ended(stage, 'slow')) === 1;
    };
    await waitFor(say, { what: 'the slow one to be cut off', everyMs: 1 });
    expect(await open(stage)).toBe(0);
    page.socket.terminate();
  });

  it('is counted by how it went', async () => {
    const { stage, id } = await aStage();
    (await openSocket(stage.origin, id)).socket.close(1000);
    (await openSocket(stage.origin, id)).socket.terminate();
    await waitFor(async () => (await ended(stage, 'client')) === 1 && (await ended(stage, 'lost')) === 1, { what: 'both' });
    expect(await open(stage)).toBe(0);
  });
});

describe('a process that stops', () => {
  it('sends every page elsewhere, and takes no more', async () => {
    const { stage, id } = await aStage();
    const pages = await Promise.all(Array.from({ length: 20 }, () => openSocket(stage.origin, id)));
    await stage.sockets.close();
    expect(await Promise.all(pages.map((page) => page.closed))).toEqual(pages.map(() => 1001));
    expect(await ended(stage, 'shutdown')).toBe(20);
    expect(await refusedSocket(stage.origin, id)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });

  it('waits for no page that does not answer', async () => {
    const { stage, id } = await aStage();
    const page = await openSocket(stage.origin, id);
    page.socket.pause();
    await stage.sockets.close();
    expect(await open(stage)).toBe(0);
    page.socket.terminate();
  });
});

it('hundreds of pages of one payment are brought up to date at once', async () => {
  const { stage, id } = await aStage({ places: openPlaces({ perClient: 300, together: 300 }) });
  const pages = await Promise.all(Array.from({ length: 300 }, () => openSocket(stage.origin, id)));
  stage.put(id, { status: 'SUCCESS' });
  await Promise.all(pages.map((page) => page.shows(({ payment }) => payment.status === 'SUCCESS')));
  for (const page of pages) page.socket.terminate();
  await waitFor(async () => (await open(stage)) === 0, { what: 'all of them to be gone' });
});

it('what is sent over a socket before it is opened waits for it', async () => {
  const { stage, id } = await aStage();
  const socket = connect(Number(new URL(stage.origin).port), '127.0.0.1');
  // A masked text frame of two bytes, in the same packet as the handshake.
  const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, ...Buffer.from('{}')]);
  const hello = `GET /ws/payments/${id} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  socket.write(Buffer.concat([Buffer.from(hello), frame]));
  let heard = '';
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString('latin1');
  });
  await waitFor(() => heard.includes('"type":"error"'), { what: 'the answer to it' });
  expect(heard.indexOf('"type":"snapshot"')).toBeLessThan(heard.indexOf('"type":"error"'));
  socket.destroy();
});
