import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '#api/http/app.ts';
import { createHttpServer } from '#api/http/server.ts';
import { merchantOperations } from '#api/operations/merchant-operations.ts';
import { operatorOperations } from '#api/operations/operator-operations.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { isUuid } from '#shared/core/ids.ts';
import { dial, type RawAnswer, type RawConnection } from './raw-http.ts';
import { aService, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
const opened: RawConnection[] = [];
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterEach(() => {
  for (const { socket } of opened.splice(0)) socket.destroy();
});
afterAll(() => service.stop());

function connection(): RawConnection {
  const one = dial(service.origin);
  opened.push(one);
  return one;
}

/** Writes this and holds the first answer against what every answer must be. */
async function answerTo(text: string): Promise<[number, string]> {
  const one = connection();
  one.write(text);
  return codeOf(await one.next());
}

function codeOf(answer: RawAnswer): [number, string] {
  const { headers, body } = answer;
  expect(headers['x-request-id']).toSatisfy(isUuid);
  expect(headers['x-contract-revision']).toBe('2.2.0');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['cache-control']).toBe('no-store');
  const { success, error } = JSON.parse(body) as { success: boolean; error?: { code: string } };
  expect(success).toBe(answer.status < 300);
  return [answer.status, error?.code ?? 'none'];
}

const PREVIEW = 'POST /api/v1/payments/preview HTTP/1.1';
const json = (): string => `Host: x\r\nX-Api-Key: ${shop.apiKey}\r\nContent-Type: application/json\r\n`;

describe('what is not acceptable HTTP is refused in the envelope', () => {
  it.each([
    ['not HTTP at all', 'NOT HTTP AT ALL\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version nobody knows', 'GET / HTTP/9.9\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a method nobody knows', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost\r\n\r\n'],
    ['a header with a NUL', 'GET / HTTP/1.1\r\nX: a\0b\r\n\r\n'],
    ['a header name with a space', 'GET / HTTP/1.1\r\nX y: z\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n'],
    ['a length that is no number', 'POST / HTTP/1.1\r\nContent-Length: ten\r\n\r\n'],
    ['a negative length', 'POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a length beside chunks', 'POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['chunks that are not the last coding', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n'],
    ['a coding nobody knows', 'POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
  ])('%s: 400', async (_what, text) => expect(await answerTo(text)).toEqual([400, 'malformed_json']));

  it('chunks that are not chunks, in the middle of a body: 400', async () => {
    const one = connection();
    one.write(`${PREVIEW}\r\n${json()}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n`);
    expect(codeOf(await one.next())).toEqual([400, 'malformed_json']);
    expect(await one.closed()).toBe('');
  });

  it.each([
    ['a URL', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['one header', `GET / HTTP/1.1\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
    ['very many headers', `GET / HTTP/1.1\r\n${'X: aaaaaaaa\r\n'.repeat(2_000)}\r\n`],
    ['an extension of a chunk', `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\nx\r\n0\r\n\r\n`],
  ])('%s beyond 16 KB: 413', async (_what, text) => expect(await answerTo(text)).toEqual([413, 'payload_too_large']));

  it('a caller that is gone before it is answered takes nothing down', async () => {
    for (const text of ['CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 'NOT HTTP\r\n\r\n'])
      for (let times = 0; times < 50; times++) {
        const { socket } = connection();
        socket.write(text, () => socket.resetAndDestroy());
        await once(socket, 'close');
      }
    expect((await service.ask('GET', '/nowhere')).status).toBe(404);
  });

  it('a tunnel: 404', async () => expect(await answerTo('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')).toEqual([404, 'not_found']));
});

describe('unusual but acceptable HTTP', () => {
  it.each([
    ['HTTP/1.0 without a Host', 'GET /nowhere HTTP/1.0\r\n\r\n', 404],
    ['no Host', 'GET /nowhere HTTP/1.1\r\n\r\n', 404],
    ['two Hosts', 'GET /nowhere HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 404],
    ['an absolute target', 'GET http://elsewhere.example/api/v1/assets HTTP/1.1\r\nHost: x\r\n\r\n', 401],
    ['OPTIONS for everything', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['an upgrade to what is not served', 'GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 404],
    ['an Expect that nobody offers', 'GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 404],
    ['empty lines first', '\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['a trailing slash', 'GET /api/v1/assets/ HTTP/1.1\r\nHost: x\r\n\r\n', 401],
    ['a doubled slash', 'GET /api/v1//assets HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['dots in the path', 'GET /api/v1/x/../assets HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['another case', 'GET /api/v1/Assets HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['an empty query', 'GET /api/v1/assets? HTTP/1.1\r\nHost: x\r\n\r\n', 401],
    ['a fragment', 'GET /api/v1/assets#x HTTP/1.1\r\nHost: x\r\n\r\n', 401],
    ['a body on GET', 'GET /api/v1/assets HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}', 401],
    ['an absurdly nested query', `GET /api/v1/payments?${'a[b]'.repeat(500)}=1&limit[__proto__][x]=1&__proto__=1 HTTP/1.1\r\nHost: x\r\n\r\n`, 401],
  ])('%s is answered like any other request', async (_what, text, status) => expect((await answerTo(text))[0]).toBe(status));

  it.each(['%00', '%E0%A4%A', '%', '..%2f..%2fetc', '%2e%2e', 'a%2Fb', '%ff', "x'--", '😀'])('an id %s is an unknown id', async (id) => {
    const known = await shop.call('POST', '/payments/7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44/verify');
    const answer = await shop.call('POST', `/payments/${id}/verify`);
    expect([answer.status, answer.text]).toEqual([404, known.text]);
    expect((await service.ask('GET', `/api/v1/public/payments/${id}`)).text).toBe(known.text);
  });

  it('HEAD has the headers of an error and no body, and leaves the connection usable', async () => {
    const one = connection();
    one.write('HEAD /api/v1/assets HTTP/1.1\r\nHost: x\r\n\r\n');
    const answer = await one.next(true);
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET']);
    one.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(codeOf(await one.next())).toEqual([404, 'not_found']);
  });

  it('requests in one packet are answered in order, each with an id of its own', async () => {
    const one = connection();
    const paths = ['/api/v1/assets', '/nowhere', '/api/v1/payments', '/elsewhere'];
    one.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    const answers: RawAnswer[] = [];
    for (const _ of paths) answers.push(await one.next());
    expect(answers.map((answer) => answer.status)).toEqual([401, 404, 401, 404]);
    expect(new Set(answers.map((answer) => answer.headers['x-request-id'])).size).toBe(4);
  });

  it('garbage after a request is answered after it', async () => {
    const one = connection();
    one.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n');
    expect(codeOf(await one.next())).toEqual([404, 'not_found']);
    expect(codeOf(await one.next())).toEqual([400, 'malformed_json']);
    expect(await one.closed()).toBe('');
  });
});

describe('a sender that takes its time', () => {
  let hasty: Server;
  beforeAll(async () => {
    const app = await createApp(service.deps, {
      merchantOperations,
      operatorOperations: operatorOperations({ devChains: null, runDue: async () => undefined }),
    });
    hasty = createHttpServer(app, { headers: 200, request: 400, silence: 1_500, check: 20 });
    await new Promise<void>((resolve) => hasty.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise<void>((resolve) => void hasty.close(() => resolve())));
  const slow = (text: string): RawConnection => {
    const one = dial(`http://127.0.0.1:${(hasty.address() as AddressInfo).port}`);
    opened.push(one);
    one.write(text);
    return one;
  };

  it.each([
    ['in the middle of the request line', 'GET /api'],
    ['in the middle of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX: '],
    ['in the middle of the body', `${PREVIEW}\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`],
    ['between chunks', `${PREVIEW}\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`],
    ['after 100 Continue', `${PREVIEW}\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`],
  ])('%s is told so and let go', async (_where, text) => {
    const one = slow(text);
    if (text.includes('Expect')) await one.next();
    expect(codeOf(await one.next())).toEqual([400, 'malformed_json']);
    await one.closed();
  });

  it('with all of it is let go without a word: a browser, which connects in advance, would take it for the answer to what it sends there just then', async () => {
    expect(await slow('').closed()).toBe('');
  });

  it.each([
    ['in the middle of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX: '],
    ['after something that is not HTTP', 'NOT HTTP\r\n\r\n'],
    ['after asking for a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s and never hangs up is hung up on', async (_where, text) => {
    const stubborn = connect({ port: (hasty.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    stubborn.write(text);
    await once(stubborn.resume(), 'end');
    const connections = promisify(hasty.getConnections.bind(hasty));
    await waitFor(async () => (await connections()) === 0, { what: 'the connection to be gone' });
    stubborn.destroy();
  });

  it('with reading what it asked for is let go', async () => {
    const one = connect((hasty.address() as AddressInfo).port, '127.0.0.1').pause();
    one.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(60));
    const connections = promisify(hasty.getConnections.bind(hasty));
    await waitFor(async () => (await connections()) === 1, { what: 'the connection' });
    await waitFor(async () => (await connections()) === 0, { what: 'the connection to be gone' });
    one.destroy();
  });

  it('with a body nobody wants is let go too, after its one answer', async () => {
    const one = slow(`${PREVIEW}\r\nHost: x\r\nContent-Length: 70000\r\n\r\n{`);
    expect(codeOf(await one.next())).toEqual([413, 'payload_too_large']);
    expect(await one.closed()).toBe('');
  });
});

describe('a body', () => {
  it('is asked for with 100 Continue only when it will be read', async () => {
    const one = connection();
    one.write(`${PREVIEW}\r\n${json()}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
    expect((await one.next()).line).toBe('HTTP/1.1 100 Continue');
    one.write('{}');
    expect((await one.next()).status).toBe(422);
    one.write(`${PREVIEW}\r\n${json()}Content-Length: 65537\r\nExpect: 100-continue\r\n\r\n`);
    expect(codeOf(await one.next())).toEqual([413, 'payload_too_large']);
  });

  it('of more than 65,536 bytes is refused at once, whether its length is told or not', async () => {
    expect(await answerTo(`${PREVIEW}\r\n${json()}Content-Length: 9000000000\r\n\r\n`)).toEqual([413, 'payload_too_large']);
    const one = connection();
    one.write(`${PREVIEW}\r\n${json()}Transfer-Encoding: chunked\r\n\r\n10001\r\n${'x'.repeat(0x10001)}\r\n`);
    expect(codeOf(await one.next())).toEqual([413, 'payload_too_large']);
  });

  it('of exactly 65,536 bytes is read', async () => {
    const text = '{"currencyCode":"USD"}'.padEnd(65_536);
    expect((await shop.call('POST', '/payments/preview', { raw: text })).status).toBe(422);
    expect((await shop.call('POST', '/payments/preview', { raw: `${text} ` })).status).toBe(413);
  });

  it('in chunks is read like any other', async () => {
    const chunked = [...'{"currencyCode":"USD"}'].map((letter) => `1\r\n${letter}\r\n`).join('');
    expect((await answerTo(`${PREVIEW}\r\n${json()}Transfer-Encoding: chunked\r\n\r\n${chunked}0\r\n\r\n`))[1]).toBe('validation_error');
  });

  it('that is encoded is refused unread, however the encoding is written', async () => {
    for (const encoding of ['gzip', 'GZIP', 'deflate', 'br', 'gzip, identity', 'x'])
      expect(
        (await shop.call('POST', '/payments/preview', { raw: new Uint8Array(gzipSync('{}')), headers: { 'content-encoding': encoding } })).error.code,
      ).toBe('unsupported_media_type');
    expect((await shop.call('POST', '/payments/preview', { raw: '{}', headers: { 'content-encoding': 'identity' } })).status).toBe(422);
  });

  it('that ends early has no effect and takes nothing down', async () => {
    const payments = async (): Promise<unknown> => (await service.world.database.sql`select count(*) as n from payments`)[0]?.n;
    const before = await payments();
    const one = connection();
    const whole = '{"currencyCode":"USD","amount":"1","callbackUrl":"https://shop.example/"}';
    one.write(`POST /api/v1/payments HTTP/1.1\r\n${json()}Content-Length: ${whole.length + 1}\r\n\r\n${whole}`);
    one.socket.end();
    await one.closed().catch(() => undefined);
    expect((await service.ask('GET', '/nowhere')).status).toBe(404);
    expect(await payments()).toBe(before);
  });
});
