import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseExact, satoshisOf } from '#shared/chains/bitcoin/json.ts';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import type { Gate } from '#shared/chains/budget-gate.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { readAnswer, UnreadHex } from '#shared/chains/bitcoin/unread-hex.ts';
import { type RpcObserver, RpcRefused } from '#shared/chains/rpc.ts';
import { times } from '#test/harness/counts.ts';

const NODE = 'http://node.example:8332';
const SECRET = 's3cr:t/@word';
const URL_WITH_SECRET = `http://user:${encodeURIComponent(SECRET)}@node.example:8332`;

interface Asked {
  jsonrpc: string;
  id: number;
  method: string;
  params: unknown[];
}

const observed: Parameters<RpcObserver>[0][] = [];
const refusals: (number | undefined)[] = [];
const UNHURRIED: Gate = { pass: (_calls, work) => work(), answered: () => undefined, refused: (retryAfterMs) => refusals.push(retryAfterMs) };
const rpc = (url = URL_WITH_SECRET, timeoutMs = 10_000) => openBitcoinRpc(url, (request) => observed.push(request), { timeoutMs, retryMs: 0, gate: UNHURRIED });

beforeEach(() => {
  observed.length = 0;
  refusals.length = 0;
});
beforeAll(() => {
  // Another file of this worker may have put it away.
  if (!nock.isActive()) nock.activate();
});
afterAll(() => nock.restore());
afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
});

/** Answers each HTTP request by the next of these, and the last one for ever. */
function answering(...replies: ((asked: Asked[], isList: boolean) => [status: number, body: unknown, headers?: Record<string, string>])[]): Asked[][] {
  const requests: Asked[][] = [];
  nock(NODE)
    .persist()
    .post('/')
    .reply((_uri, body) => {
      const asked = (Array.isArray(body) ? body : [body]) as Asked[];
      const reply = replies[Math.min(requests.length, replies.length - 1)] as (typeof replies)[number];
      requests.push(asked);
      const [status, answer, headers] = reply(asked, Array.isArray(body));
      return [status, typeof answer === 'string' ? answer : JSON.stringify(answer), headers ?? { 'content-type': 'application/json' }];
    });
  return requests;
}
const echo = ({ id, params }: Asked): object => ({ jsonrpc: '2.0', id, result: params[0] });
const said = async (promise: Promise<unknown>): Promise<Error & { trouble?: string; code?: number; retryAfterMs?: number }> =>
  promise.then(
    (answer) => expect.unreachable(`it answered ${JSON.stringify(answer)}`),
    (error) => error,
  );

describe('requests', () => {
  it('of one turn share an HTTP request of version 2.0, and their answers are matched by id', async () => {
    const requests = answering((asked) => [200, [...asked].reverse().map(echo)]);
    const ask = rpc();
    expect(await Promise.all([1, 2, 3].map((n) => ask('getblockhash', [n])))).toEqual([1, 2, 3]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(observed.map(({ method, provider, result }) => [method, provider, result])).toEqual(Array(3).fill(['getblockhash', 'node.example:8332', 'ok']));
  });

  it('are at most 64 in one', async () => {
    const requests = answering((asked) => [200, asked.map(echo)]);
    const ask = rpc();
    expect(await Promise.all(Array.from({ length: 150 }, (_, n) => ask('getblockhash', [n])))).toEqual(Array.from({ length: 150 }, (_, n) => n));
    expect(requests.map(({ length }) => length)).toEqual([64, 64, 22]);
  });

  it('that take minutes go by themselves', async () => {
    const requests = answering((asked) => [200, asked.map(echo)]);
    const ask = rpc();
    await Promise.all([ask('getblockhash', [1]), ask('scantxoutset', ['start'])]);
    expect(requests.map((asked) => asked.map(({ method }) => method)).sort()).toEqual([['getblockhash'], ['scantxoutset']]);
  });

  it('that take minutes are not asked through fetch, which gives up after five without a word', async () => {
    const given = globalThis.fetch;
    globalThis.fetch = () => Promise.reject(new Error('asked through fetch'));
    try {
      answering(([asked]) => [200, [echo(asked as Asked)]]);
      expect(await rpc()('scantxoutset', ['start'])).toBe('start');
      nock.cleanAll();
      answering(() => [503, '', { 'retry-after': '7' }]);
      expect(await said(rpc()('scantxoutset', ['start']))).toMatchObject({ trouble: 'busy', retryAfterMs: 7_000 });
      nock.cleanAll();
      nock(NODE).persist().post('/').replyWithError('away');
      expect(await said(rpc()('scantxoutset', ['start']))).toMatchObject({ name: 'ChainUnavailable', trouble: 'down' });
    } finally {
      globalThis.fetch = given;
    }
  });

  it('for blocks as bytes are answered as text, or unread for whoever wants that, whatever else is asked with them', async () => {
    const digits = 'ab'.repeat(200);
    answering((asked) => [200, asked.map(({ id, method }) => ({ result: method === 'getblock' ? digits : 7, error: null, id }))]);
    const ask = rpc();
    const [text, unread, height] = await Promise.all([ask('getblock', ['aa', 0]), ask('getblock', ['bb', 0], 'unread'), ask('getblockcount', [])]);
    expect([text, height]).toEqual([digits, 7]);
    expect(unread).toBeInstanceOf(UnreadHex);
    expect(readAnswer(unread)).toBe(digits);
  });

  it('carry user name and password in a header, decoded, and never in their URL', async () => {
    let url = '';
    let authorization: unknown;
    nock(NODE)
      .post('/wallet/one')
      .reply(function (uri, body) {
        url = uri;
        authorization = this.req.headers.authorization;
        return [200, (body as unknown as Asked[]).map(echo)];
      });
    await rpc(`${URL_WITH_SECRET}/wallet/one`)('getblockcount', [7]);
    expect(url).toBe('/wallet/one');
    expect(String(authorization)).toBe(`Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`);
  });

  it('take a password with a per cent sign that nobody escaped as it stands', async () => {
    let authorization: unknown;
    nock(NODE)
      .post('/')
      .reply(function (_uri, body) {
        authorization = this.req.headers.authorization;
        return [200, (body as unknown as Asked[]).map(echo)];
      });
    await rpc('http://user:5%zz%40@node.example:8332')('getblockcount', [7]);
    expect(String(authorization)).toBe(`Basic ${Buffer.from('user:5%zz@').toString('base64')}`);
  });

  it('are asked again in halves where a batch is too large, and one by one where lists are refused', async () => {
    const requests = answering((asked, isList) =>
      isList ? [200, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'batch requests are not allowed' } }] : [200, echo(asked[0] as Asked)],
    );
    const ask = rpc();
    expect(await Promise.all([1, 2, 3, 4].map((n) => ask('getblockhash', [n])))).toEqual([1, 2, 3, 4]);
    expect(requests.at(-1)).toHaveLength(1);
  });
});

describe('errors', () => {
  const error = { code: -8, message: 'Block height out of range' };

  it.each<[string, number, (asked: Asked) => object]>([
    ['2.0, with HTTP 200', 200, ({ id }) => ({ jsonrpc: '2.0', error, id })],
    ['1.x, with HTTP 500', 500, ({ id }) => ({ result: null, error, id })],
    ['1.x, with HTTP 404', 404, ({ id }) => ({ result: null, error, id })],
  ])('of version %s are the node’s refusal, with its code', async (_version, status, body) => {
    answering((asked, isList) => [status, isList ? asked.map(body) : body(asked[0] as Asked)]);
    const problem = await said(rpc()('getblockhash', [1_000]));
    expect(problem).toBeInstanceOf(RpcRefused);
    expect(problem).toMatchObject({ code: -8, message: 'getblockhash: Block height out of range', trouble: 'refused' });
    expect(observed.map(({ result }) => result)).toEqual(['refused']);
  });

  it('of 1.x beside answers of the same batch spoil nothing but their own', async () => {
    answering((asked) => [200, asked.map(({ id, params: [n] }) => (n === 2 ? { result: null, error, id } : { result: n, error: null, id }))]);
    const ask = rpc();
    const [one, two, three] = await Promise.allSettled([1, 2, 3].map((n) => ask('getblockhash', [n])));
    expect([one, three]).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 3 },
    ]);
    expect(two?.status).toBe('rejected');
  });

  it('that are long are cut', async () => {
    answering((asked) => [200, asked.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -1, message: 'x'.repeat(10_000) } }))]);
    expect((await said(rpc()('getblockhash', [1]))).message.length).toBeLessThan(400);
  });

  it('of a node that starts are waited for', async () => {
    const starting = (asked: Asked[]): [number, unknown] => [
      200,
      asked.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -28, message: 'Loading block index…' } })),
    ];
    const requests = answering(starting, (asked) => [200, asked.map(echo)]);
    expect(await rpc()('getblockhash', [5])).toBe(5);
    expect(requests).toHaveLength(2);
  });

  it('of a node that starts for long mean that it is down', async () => {
    answering((asked) => [500, asked.map(({ id }) => ({ result: null, id, error: { code: -28, message: 'Verifying blocks…' } }))]);
    const problem = await said(rpc()('getblockhash', [5]));
    expect(problem).toBeInstanceOf(ChainUnavailable);
    expect(problem).toMatchObject({ trouble: 'down', message: 'node.example:8332 did not answer getblockhash: it is still starting' });
  });
});

/** What is read, and what is left unread: each goes its own way to the endpoint. */
const QUESTIONS: [method: string, params: unknown[]][] = [
  ['getblockhash', [1]],
  ['getblock', ['ab'.repeat(32), 0]],
];

describe.each(QUESTIONS)('no answer to %s', (method, params) => {
  it.each<[string, number, unknown, string, RegExp, number]>([
    ['a wrong password', 401, '', 'down', /HTTP 401: user name and password/, 1],
    ['a host that is not let in', 403, '', 'down', /HTTP 403/, 1],
    ['more requests than it has threads for', 503, 'Work queue depth exceeded', 'busy', /it has too much to do/, 3],
    ['a rate limit', 429, 'slow down', 'busy', /it is asked too much/, 3],
    ['a proxy without a node behind it', 502, '<html>', 'down', /HTTP 502/, 3],
    ['a page instead of JSON', 200, '<html>', 'untrusted', /the answer is not JSON/, 3],
    ['a page that is nowhere', 404, 'not found', 'down', /HTTP 404/, 1],
    ['nothing inside', 200, '[]', 'untrusted', /no answer carries its id/, 1],
    ['null', 200, 'null', 'untrusted', /no answer carries its id/, 1],
    ['the id of another request', 200, [{ jsonrpc: '2.0', id: 99, result: 1 }], 'untrusted', /no answer carries its id/, 1],
    ['one id twice', 200, [1, 2].map((result) => ({ jsonrpc: '2.0', id: 1, result })), 'untrusted', /no answer carries its id/, 1],
    ['neither result nor error', 200, [{ jsonrpc: '2.0', id: 1 }], 'untrusted', /no answer carries its id/, 1],
  ])('because of %s says so without the password', async (_what, status, body, trouble, message, tries) => {
    const requests = answering(() => [status, body]);
    const problem = await said(rpc()(method, params));
    expect(problem).toBeInstanceOf(ChainUnavailable);
    expect(problem.trouble).toBe(trouble);
    expect(problem.message).toMatch(message);
    expect(requests).toHaveLength(tries);
    expect(JSON.stringify([problem.message, problem.stack, observed])).not.toMatch(/s3cr|user:|dXNlcj/);
    expect(refusals.length).toBe(trouble === 'busy' ? tries : 0);
  });

  it('for as long as it asks to be left alone is told, and not waited for', async () => {
    const requests = answering(() => [429, 'slow down', { 'retry-after': '30' }]);
    expect(await said(rpc()(method, params))).toMatchObject({ trouble: 'busy', retryAfterMs: 30_000 });
    expect(requests).toHaveLength(1);
    expect(refusals).toEqual([30_000]);
  });

  it('because nobody listens is told by its code alone', async () => {
    nock(NODE)
      .persist()
      .post('/')
      .replyWithError(Object.assign(new Error(`connect ${URL_WITH_SECRET}`), { code: 'ECONNREFUSED' }));
    const problem = await said(rpc()(method, params));
    expect(problem).toMatchObject({ trouble: 'down', message: `node.example:8332 did not answer ${method}: ECONNREFUSED` });
  });

  it('in time is slow', async () => {
    nock(NODE).persist().post('/').delay(1_000).reply(200, []);
    expect(await said(rpc(URL_WITH_SECRET, 50)(method, params))).toMatchObject({
      trouble: 'slow',
      message: `node.example:8332 did not answer ${method}: timed out`,
    });
  });

  it('is what the change to another protocol is, after which nothing more is said', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const ask = rpc(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      expect(await said(ask(method, params))).toMatchObject({ name: 'ChainUnavailable', trouble: 'down' });
    } finally {
      server.close();
    }
  });

  it('is what a redirect is: nobody else is told the password', async () => {
    const other = nock('http://other.example').post('/').reply(200, []);
    nock(NODE).persist().post('/').reply(307, '', { location: 'http://other.example/' });
    expect(await said(rpc()(method, params))).toMatchObject({ trouble: 'down' });
    expect(other.isDone()).toBe(false);
  });
});

describe('amounts', () => {
  it('arrive as they were written, whatever stands around them', async () => {
    answering((asked) => [
      200,
      `[{"result":{"value":0.10000001,"n":0,"list":[{"amount" : 20999999.9769},1],"text":"\\"value\\":1.5 , \\\\","fee":1e-8},"id":${asked[0]?.id}}]`,
    ]);
    expect(await rpc()('gettxout', [])).toEqual({ value: '0.10000001', n: 0, list: [{ amount: '20999999.9769' }, 1], text: '"value":1.5 , \\', fee: '1e-8' });
  });

  it('are exact satoshis, however they are written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 21_000_000n * 10n ** 8n }), (satoshis) => {
        const digits = satoshis.toString().padStart(9, '0');
        const text = `${digits.slice(0, -8)}.${digits.slice(-8)}`;
        const read = (written: string): unknown => (parseExact(`{"value":${written}}`) as { value: unknown }).value;
        expect(satoshisOf(read(text))).toBe(satoshis);
        // As a writer of shortest numbers puts it.
        expect(satoshisOf(read(text.replace(/\.?0+$/, '')))).toBe(satoshis);
        expect(satoshisOf(read(`${satoshis}e-8`))).toBe(satoshis);
        expect(satoshisOf(read(`-${text}`))).toBe(-satoshis);
      }),
      { numRuns: times(2_000) },
    );
  });

  it.each(['0.123456789', '1e-9', '1.5e300', 'abc', '', '0x10', ' 1', null, true, {}, 1.5, Number.NaN, 2 ** 53])(
    'that are no whole number of satoshis are none: %s',
    (value) => {
      expect(satoshisOf(value)).toBeUndefined();
    },
  );

  it('do not hide that a text is no JSON', () => {
    for (const text of ['', '{"value":1.5', '{"value":1.}', 'nothing']) expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});
