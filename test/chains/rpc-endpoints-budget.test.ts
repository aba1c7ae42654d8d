import { inspect } from 'node:util';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Gate, openGate } from '#shared/chains/budget-gate.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { type Rpc, RpcRefused } from '#shared/chains/rpc.ts';

const HOST = 'https://rpc.example';
const URL_WITH_KEY = `${HOST}/v2/secret-key`;

interface Asked {
  id: number;
  method: string;
  params: [string];
}

/** Ids of each HTTP request, and whether it was a batch. */
let requests: { ids: number[]; batch: boolean }[] = [];

beforeAll(() => {
  // Another file of this worker may have put it away.
  if (!nock.isActive()) nock.activate();
});
afterAll(() => nock.restore());
afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
  requests = [];
});

/** A gate that counts and makes nobody wait. */
function countingGate(): Gate & { refusals: (number | undefined)[]; answers: number } {
  const counts = { refusals: [] as (number | undefined)[], answers: 0 };
  return Object.assign(counts, {
    pass: <T>(_calls: number, work: () => Promise<T>) => work(),
    answered: (calls: number) => {
      counts.answers += calls;
    },
    refused: (retryAfterMs: number | undefined) => void counts.refusals.push(retryAfterMs),
  });
}

/** A node whose answer to each HTTP request is made from what was asked. */
function speaking(answer: (asked: Asked[], batch: boolean) => { status?: number; headers?: Record<string, string>; body: unknown }): void {
  nock(HOST)
    .persist()
    .post('/v2/secret-key')
    .reply((_uri, body) => {
      const batch = Array.isArray(body);
      const asked = (batch ? body : [body]) as unknown as Asked[];
      requests.push({ ids: asked.map((one) => one.id), batch });
      const { status = 200, headers = {}, body: said } = answer(asked, batch);
      return [status, said as nock.Body, { 'content-type': 'application/json', ...headers }];
    });
}

const good = ({ id, params: [name] }: Asked): object => ({ jsonrpc: '2.0', id, result: name });
const bad = ({ id }: Asked, code: number, message: string): object => ({ jsonrpc: '2.0', id, error: { code, message } });
const openOne = (gate: Gate = countingGate()): Rpc => openRpc(URL_WITH_KEY, undefined, { retryMs: 0, gate });
const askAll = (rpc: Rpc, count: number): Promise<unknown[]> => Promise.all(Array.from({ length: count }, (_, i) => rpc('eth_call', [`q${i}`])));
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `q${i}`);
const sizes = (): number[] => requests.map((one) => one.ids.length);

describe('a batch that is too large', () => {
  it.each<[string, (asked: Asked[]) => { status?: number; body: unknown }]>([
    ['for the whole endpoint, with an error for all', () => ({ body: { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'batch too large' } } })],
    ['in a list of one, as geth says it', () => ({ body: [{ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'batch too large' } }] })],
    ['with 413', () => ({ status: 413, body: { error: 'Payload Too Large' } })],
    ['with 400 and words', () => ({ status: 400, body: { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'Batch size is limited to 10 requests' } } })],
  ])('%s is asked again in halves, and later batches are no larger', async (_name, refusal) => {
    speaking((asked) => (asked.length > 10 ? refusal(asked) : { body: asked.map(good) }));
    const rpc = openOne();
    expect(await askAll(rpc, 40)).toEqual(names(40));
    expect(sizes().sort((a, b) => a - b)).toEqual([10, 10, 10, 10, 20, 20, 40]);
    requests = [];
    expect(await askAll(rpc, 40)).toEqual(names(40));
    expect(sizes()).toEqual([10, 10, 10, 10]);
  });

  it('is asked one by one, and not as a list, of an endpoint that takes no batches', async () => {
    speaking((asked, batch) => ({
      body: batch ? { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'batch requests are not supported' } } : good(asked[0] as Asked),
    }));
    expect(await askAll(openOne(), 3)).toEqual(names(3));
    expect(requests.filter((one) => !one.batch)).toHaveLength(3);
  });

  it('has only those asked again alone whose answers were too large', async () => {
    speaking((asked) => ({ body: asked.map((one) => (asked.length > 1 && one.params[0] === 'q1' ? bad(one, -32_008, 'Response size exceeded') : good(one))) }));
    expect(await askAll(openOne(), 3)).toEqual(names(3));
    expect(sizes()).toEqual([3, 1]);
  });

  it('is refused when it is only one, so that whoever asked asks for less', async () => {
    speaking((asked) => ({ body: asked.map((one) => bad(one, -32_005, 'query returned more than 10000 results')) }));
    await expect(openOne()('eth_getLogs', ['all'])).rejects.toBeInstanceOf(RpcRefused);
  });
});

describe('an endpoint that is asked too much', () => {
  it('is asked again for those requests of a batch only that it had no time for', async () => {
    let turns = 0;
    speaking((asked) => {
      turns += 1;
      return { body: asked.map((one) => (turns === 1 && one.params[0] !== 'q0' ? bad(one, 429, 'Too Many Requests') : good(one))) };
    });
    const gate = countingGate();
    expect(await askAll(openOne(gate), 3)).toEqual(names(3));
    expect(sizes()).toEqual([3, 2]);
    expect(gate).toMatchObject({ refusals: [undefined], answers: 3 });
  });

  it.each([
    [-32_005, 'limit exceeded'],
    [-32_000, 'Your app has exceeded its compute units per second capacity'],
    [-32_097, 'rate limit reached'],
    [-32_016, 'over rate limit'],
    [429, 'slow down'],
  ])('is no endpoint that refused the question: %i %s', async (code, message) => {
    speaking((asked) => ({ body: asked.map((one) => bad(one, code, message)) }));
    const refusal = openOne()('eth_call', ['q']);
    await expect(refusal).rejects.toBeInstanceOf(ChainUnavailable);
    await expect(refusal).rejects.toMatchObject({ trouble: 'busy' });
    expect(requests).toHaveLength(3);
  });

  it('is not asked again at once when it wants more time than a caller has, and its wish is passed on', async () => {
    speaking(() => ({ status: 429, headers: { 'retry-after': '30' }, body: {} }));
    const gate = countingGate();
    await expect(openOne(gate)('eth_call', ['q'])).rejects.toMatchObject({ trouble: 'busy', retryAfterMs: 30_000 });
    expect(requests).toHaveLength(1);
    expect(gate.refusals).toEqual([30_000]);
  });

  it('is not asked by anybody else in the meantime', async () => {
    const gate = openGate(URL_WITH_KEY);
    gate.refused(30_000);
    await expect(openOne(gate)('eth_call', ['q'])).rejects.toMatchObject({ trouble: 'busy' });
    expect(requests).toEqual([]);
  });
});

describe('a gate', () => {
  it('lets sixteen requests through at once, and the next when one is done', async () => {
    const gate = openGate('http://127.0.0.1:1');
    const open: (() => void)[] = [];
    const passing = Array.from({ length: 20 }, () => gate.pass(1, () => new Promise<void>((resolve) => open.push(resolve))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(open).toHaveLength(16);
    for (let done = 0; done < 20; done++) {
      open[done]?.();
      await passing[done];
    }
    expect(open).toHaveLength(20);
  });

  it('gives its place back when a request fails', async () => {
    const gate = openGate('http://127.0.0.1:1');
    for (let i = 0; i < 40; i++) await expect(gate.pass(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await gate.pass(1, () => Promise.resolve('open'))).toBe('open');
  });
});

describe('an endpoint’s URL', () => {
  it.each<[string, () => void]>([
    ['a refusal', () => speaking((asked) => ({ body: asked.map((one) => bad(one, 3, 'execution reverted')) }))],
    ['an HTTP error', () => speaking(() => ({ status: 503, body: { error: URL_WITH_KEY } }))],
    ['a broken link', () => void nock(HOST).persist().post('/v2/secret-key').replyWithError(`connect ECONNREFUSED ${URL_WITH_KEY}`)],
    ['a page', () => void nock(HOST).persist().post('/v2/secret-key').reply(200, '<html>')],
    ['silence', () => void nock(HOST).persist().post('/v2/secret-key').delayConnection(60_000).reply(200, '[]')],
  ])('is in no error about %s, nor in its causes: its path may be a key', async (_name, arrange) => {
    arrange();
    const error: unknown = await openRpc(URL_WITH_KEY, undefined, { retryMs: 0, timeoutMs: 50, gate: countingGate() })('eth_call', ['q']).catch(
      (one: unknown) => one,
    );
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('secret-key');
  });

  it('may name a user, who is told to the endpoint as it is used to and to nobody else', async () => {
    nock(HOST, { reqheaders: { authorization: `Basic ${btoa('user:pass-word')}` } })
      .post('/')
      .reply(200, (_uri, body) => (body as unknown as Asked[]).map(good));
    const seen: string[] = [];
    const rpc = openRpc('https://user:pass-word@rpc.example', ({ provider }) => void seen.push(provider), { retryMs: 0 });
    expect(await rpc('eth_call', ['q'])).toBe('q');
    expect(seen).toEqual(['rpc.example']);
  });
});
