import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Gate, openGate } from '#shared/chains/budget-gate.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { RpcObserver } from '#shared/chains/rpc.ts';
import { openTronApi, TronRefused } from '#shared/chains/tron/http.ts';
import { readReply } from '#shared/chains/tron/unread-reply.ts';

interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let server: Server;
let origin: string;
let asked: Asked[];
let answers: ((response: ServerResponse) => void)[];
const observed: Parameters<RpcObserver>[0][] = [];

beforeEach(async () => {
  asked = [];
  answers = [];
  observed.length = 0;
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    asked.push({ path: request.url as string, headers: request.headers, body });
    // The last answer is given again and again.
    ((answers.length > 1 ? answers.shift() : answers[0]) as (response: ServerResponse) => void)(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const saying =
  (text: string, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(text);
const api = (url = origin, options: { timeoutMs?: number; gate?: Gate } = {}) =>
  openTronApi(url, (request) => observed.push(request), { retryMs: 0, ...options });
const troubleOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'none',
    (error: unknown) => (error instanceof ChainUnavailable ? error.trouble : error),
  );

describe('one request to a TRON node', () => {
  it('is a POST of JSON to the path, and its answer keeps every digit', async () => {
    answers = [saying('{"balance":9007199254740993}')];
    expect(await api()('wallet/getaccount', { address: '41ab' })).toEqual({ balance: 9_007_199_254_740_993n });
    expect(asked).toMatchObject([{ path: '/wallet/getaccount', body: '{"address":"41ab"}' }]);
    expect(observed).toMatchObject([{ method: 'wallet/getaccount', provider: new URL(origin).host, result: 'ok' }]);
  });

  it('carries the key of the URL in a header or in the query, and shows it to nobody', async () => {
    answers = [saying('<page>', 200)];
    const withKey = origin.replace('://', '://:se%2Fcret@');
    const failed = await api(withKey)('wallet/getnowblock', {}).catch(String);
    await api(`${origin.replace('://', '://user@')}/v1/?apikey=secret`)('wallet/getnowblock', {}).catch(String);
    expect(asked[0]?.headers).toMatchObject({ 'tron-pro-api-key': 'se/cret' });
    expect(asked[0]?.headers.authorization).toBeUndefined();
    expect(asked[1]).toMatchObject({ path: '/v1/wallet/getnowblock?apikey=secret', headers: { 'tron-pro-api-key': 'user' } });
    expect(failed).not.toContain('se');
    expect(JSON.stringify(observed)).not.toContain('secret');
  });

  it('for the solid view goes to the port that the URL names for it', async () => {
    answers = [saying('{"a":1}')];
    const { port } = new URL(origin);
    const own = api(`http://127.0.0.1:1#solidity=${port}`);
    expect(await own('walletsolidity/getblock', {})).toEqual({ a: 1 });
    expect(await troubleOf(own('wallet/getblock', {}))).toBe('down');
    expect(asked.map(({ path }) => path)).toEqual(['/walletsolidity/getblock']);
  });

  it('that the node refuses is a refusal, which is never asked again', async () => {
    answers = [saying('{"Error":"class java.lang.NumberFormatException : null"}')];
    await expect(api()('wallet/getblockbynum', { num: 'x' })).rejects.toThrow(TronRefused);
    expect(asked).toHaveLength(1);
    expect(observed).toMatchObject([{ result: 'refused' }]);
  });

  it('that the node refuses at endless length is told in short', async () => {
    answers = [saying(JSON.stringify({ Error: 'no '.repeat(100_000) }))];
    const refusal = await api()('wallet/getblockbynum', { num: 'x' }).catch((error: unknown) => error);
    expect((refusal as Error).message.length).toBeLessThan(400);
  });

  it.each(['{"Error":{"toString":1}}', '{"blockID":"ab","Error":{"toString":1}}'])(
    'that the node refuses without words is a refusal all the same: %s',
    async (text) => {
      answers = [saying(text)];
      const read = async (): Promise<unknown> => readReply(await api()('wallet/getblockbynum', { num: 1 }, 'unread'));
      await expect(read()).rejects.toMatchObject({ trouble: 'refused', message: /it tells no reason/ });
    },
  );

  it.each([
    ['a busy node', '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}', 200],
    ['a gateway that counts', 'slow down', 429],
    ['a gateway that suspends', '{"Error":"request rate exceeded the allowed_rps(15), and the query server is suspended for 5s"}', 403],
  ])('of %s is told so, and its budget learns of it', async (_who, text, status) => {
    answers = [saying(text, status, { 'retry-after': '7' })];
    const refusals: unknown[] = [];
    const gate: Gate = { ...openGate(origin), refused: (retryAfterMs) => refusals.push(retryAfterMs) };
    await expect(api(origin, { gate })('wallet/getnowblock', {})).rejects.toMatchObject({ name: 'ChainUnavailable', trouble: 'busy', retryAfterMs: 7_000 });
    expect(refusals).toEqual([7_000]);
    expect(asked).toHaveLength(1);
  });

  it('is tried again when the link broke or the server failed for a moment', async () => {
    answers = [(response) => response.destroy(), saying('oops', 502), saying('{"a":1}')];
    expect(await api()('wallet/getnowblock', {})).toEqual({ a: 1 });
    expect(asked).toHaveLength(3);
  });

  it.each<[string, string, () => (response: ServerResponse) => void]>([
    ['a broken link', 'down', () => (response) => void response.destroy()],
    ['an answer cut short', 'down', () => (response) => void response.writeHead(200, { 'content-length': '100' }).write('{"a":', () => response.destroy())],
    ['an error page', 'down', () => saying('<html>', 502)],
    ['a page instead of JSON', 'down', () => saying('<html>welcome</html>')],
    ['half a JSON text', 'down', () => saying('{"a":')],
    ['a redirect', 'down', () => saying('', 302, { location: '/elsewhere' })],
    ['a page that is not there', 'refused', () => saying('not found', 404)],
    ['a wrong key', 'refused', () => saying('{"Error":"ApiKey not exists"}', 401)],
  ])('answered by %s is no answer: %s', async (_what, trouble, answer) => {
    answers = [answer()];
    expect(await troubleOf(api()('wallet/getnowblock', {}))).toBe(trouble);
    expect(observed).toMatchObject([{ result: 'failed' }]);
    expect(asked.every(({ path }) => path === '/wallet/getnowblock')).toBe(true);
  });

  it('that nobody answers in time is given up, once', async () => {
    answers = [() => undefined];
    // Long enough for the request to arrive on a machine that does other work.
    expect(await troubleOf(api(origin, { timeoutMs: 1_000 })('wallet/getnowblock', {}))).toBe('slow');
    expect(asked).toHaveLength(1);
  });

  it('whose answer never ends is cut off', async () => {
    const chunk = 'a'.repeat(8 * 1024 * 1024);
    answers = [
      (response) => {
        response.writeHead(200);
        const more = (): void => void response.write(chunk, (error) => error ?? more());
        more();
      },
    ];
    await expect(api(origin, { timeoutMs: 10_000 })('wallet/getnowblock', {})).rejects.toThrow(/too large/);
    expect(asked).toHaveLength(1);
  });

  const packed =
    (bytes: Uint8Array, cut = bytes.length) =>
    (response: ServerResponse): void =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes.subarray(0, cut));
  it('may be answered packed', async () => {
    answers = [packed(gzipSync('{"balance":9007199254740993}'))];
    expect(await api()('wallet/getaccount', {})).toEqual({ balance: 9_007_199_254_740_993n });
    expect(asked[0]?.headers['accept-encoding']).toBe('gzip');
  });

  it('whose packed answer is cut short is no answer', async () => {
    const whole = gzipSync(JSON.stringify({ a: 'b'.repeat(1_000) }));
    answers = [packed(whole, whole.length - 9)];
    expect(await troubleOf(api()('wallet/getaccount', {}))).toBe('down');
    answers = [packed(Buffer.from('{"a":1}'))];
    expect(await troubleOf(api()('wallet/getaccount', {}))).toBe('down');
  });

  it('whose packed answer unpacks to more than fits is cut off', async () => {
    answers = [packed(gzipSync(Buffer.alloc(80 * 1024 * 1024, 'a')))];
    await expect(api(origin, { timeoutMs: 10_000 })('wallet/getnowblock', {})).rejects.toThrow(/too large/);
    expect(asked).toHaveLength(1);
  });

  it('that is answered in no HTTP, or with the change to another protocol, is no answer', async () => {
    answers = [(response) => void response.socket?.end('SSH-2.0-x\r\n\r\n')];
    expect(await troubleOf(api()('wallet/getnowblock', {}))).toBe('down');
    answers = [(response) => void response.writeHead(101, { upgrade: 'other', connection: 'upgrade' }).end()];
    expect(await troubleOf(api()('wallet/getnowblock', {}))).not.toBe('none');
  });

  it('shares a connection with the ones before it', async () => {
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    answers = [saying('{"a":1}')];
    const own = api();
    for (let i = 0; i < 5; i++) await own('wallet/getnowblock', {});
    expect(connections).toBe(1);
  });

  it('to a node that is away is an error that does not name the URL', async () => {
    const error = await api('http://:key@127.0.0.1:1/secret')('wallet/getnowblock', {}).catch((reason: unknown) => reason as ChainUnavailable);
    expect(error).toMatchObject({ name: 'ChainUnavailable', trouble: 'down' });
    expect(String(error)).not.toMatch(/secret|key/);
  });
});
