import { afterEach, describe, expect, test, vi } from 'vitest';
import { fetchSnapshot, openSocket, sendCommand } from '#api/checkout/page/browser/wire.ts';
import type { ServerFrame } from '#api/checkout/page/snapshot.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const SNAPSHOT = checkoutScene('pay').snapshot;

afterEach(() => vi.unstubAllGlobals());

/** The server's answer to everything; a text stands for a body that is no JSON. */
function answering(status: number, body: object | string, headers: Record<string, string> = {}) {
  const fetched = vi.fn(async (_path: string, _init: RequestInit) => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }));
  vi.stubGlobal('fetch', fetched);
  return fetched;
}

const envelopeError = (code: string) => ({ success: false, error: { code, message: 'No.' } });

describe('the snapshot', () => {
  const read = () => fetchSnapshot('/p/1/snapshot', new AbortController().signal);

  test('is what the envelope holds, asked of the server each time', async () => {
    const fetched = answering(200, { success: true, data: SNAPSHOT });
    expect(await read()).toEqual({ kind: 'snapshot', snapshot: SNAPSHOT });
    expect(fetched.mock.calls[0]?.[1]).toMatchObject({ cache: 'no-store', credentials: 'omit' });
  });

  test.each([
    [403, 'forbidden', {}, { kind: 'refused' }],
    [404, 'not_found', {}, { kind: 'refused' }],
    [429, 'rate_limit_exceeded', { 'retry-after': '7' }, { kind: 'later', reason: 'busy', waitMs: 7_000 }],
    [429, 'rate_limit_exceeded', { 'retry-after': '86400' }, { kind: 'later', reason: 'busy', waitMs: 120_000 }],
    [429, 'rate_limit_exceeded', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, { kind: 'later', reason: 'busy', waitMs: 0 }],
    [500, 'internal_error', {}, { kind: 'later', reason: 'unavailable', waitMs: 0 }],
    [503, 'service_unavailable', { 'retry-after': '2' }, { kind: 'later', reason: 'unavailable', waitMs: 2_000 }],
    [418, 'teapot', {}, { kind: 'failed' }],
  ])('%i %s %o is %o', async (status, code, headers, answer) => {
    answering(status, envelopeError(code), headers);
    expect(await read()).toEqual(answer);
  });

  test('is not the sign-in page of a hotel’s network', async () => {
    answering(200, '<html>Welcome to our WiFi</html>');
    await expect(read()).rejects.toThrow();
    answering(200, { hello: 'world' });
    expect(await read()).toEqual({ kind: 'failed' });
  });

  test.each([403, 404])('is not refused by a proxy that says %i while nothing is behind it', async (status) => {
    answering(status, '<html>default backend</html>');
    await expect(read()).rejects.toThrow();
    for (const body of [{ message: 'no route matched' }, { error: { code: '404' } }, 'null']) {
      answering(status, body);
      expect(await read()).toEqual({ kind: 'failed' });
    }
  });
});

describe('a command', () => {
  const send = () => sendCommand('/p/1/select', { offerId: 'one' });

  test('is JSON by POST', async () => {
    const fetched = answering(200, { success: true, data: {} });
    expect(await send()).toEqual({ kind: 'done' });
    expect(fetched.mock.calls[0]).toMatchObject([
      '/p/1/select',
      { method: 'POST', body: '{"offerId":"one"}', headers: { 'content-type': 'application/json' } },
    ]);
  });

  test.each([
    [202, { success: true, data: { retryAfterMs: 1_000 } }, {}, { kind: 'working', waitMs: 1_000 }],
    [202, { success: true, data: {} }, {}, { kind: 'working', waitMs: 0 }],
    [409, envelopeError('conflict'), {}, { kind: 'refused' }],
    [422, envelopeError('validation_error'), {}, { kind: 'refused' }],
    [429, envelopeError('rate_limit_exceeded'), { 'retry-after': '3' }, { kind: 'later', reason: 'busy', waitMs: 3_000 }],
    [503, envelopeError('service_unavailable'), {}, { kind: 'later', reason: 'unavailable', waitMs: null }],
    [202, 'no JSON', {}, { kind: 'failed' }],
  ])('answered with %i %j %o is %o', async (status, body, headers, answer) => {
    answering(status, body, headers);
    expect(await send()).toEqual(answer);
  });

  test('that no server answers has failed', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    expect(await send()).toEqual({ kind: 'failed' });
  });
});

describe('a socket', () => {
  /** As a browser has it, without a network. */
  class FakeWebSocket {
    static last: FakeWebSocket;
    onmessage: ((event: { data: unknown }) => void) | null = null;
    onclose: ((event: { code: number }) => void) | null = null;
    closed: number[] = [];
    constructor() {
      FakeWebSocket.last = this;
    }
    close(code: number): void {
      this.closed.push(code);
    }
  }

  const opened = () => {
    const heard: (ServerFrame | number)[] = [];
    const socket = openSocket('wss://pay.example/ws', { frame: (frame) => heard.push(frame), closed: (code) => heard.push(code) });
    return { heard, socket };
  };

  test('gives frames and its end, and nothing that cannot be read', () => {
    vi.stubGlobal('WebSocket', FakeWebSocket);
    const { heard } = opened();
    const ping = { type: 'ping', serverTime: SNAPSHOT.serverTime };
    for (const data of [JSON.stringify(ping), '{"type"', 'null', '7', '{}', new Uint8Array(3)]) FakeWebSocket.last.onmessage?.({ data });
    FakeWebSocket.last.onclose?.({ code: 1001 });
    FakeWebSocket.last.onclose?.({ code: 1001 });
    expect(heard).toEqual([ping, 1001]);
  });

  test('that its owner closed says nothing any more', () => {
    vi.stubGlobal('WebSocket', FakeWebSocket);
    const { heard, socket } = opened();
    socket.close();
    FakeWebSocket.last.onmessage?.({ data: '{"type":"ping"}' });
    FakeWebSocket.last.onclose?.({ code: 1000 });
    expect(heard).toEqual([]);
    expect(FakeWebSocket.last.closed).toEqual([1000]);
  });

  test('that the browser refuses to open is a closed one, told after the owner has it', async () => {
    vi.stubGlobal('WebSocket', () => {
      throw new DOMException('Refused by policy.', 'SecurityError');
    });
    const { heard } = opened();
    expect(heard).toEqual([]);
    await expect.poll(() => heard).toEqual([1006]);
  });
});
