import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Gate } from '#shared/chains/budget-gate.ts';
import { ChainUnavailable, type Payer, type Reader } from '#shared/chains/chain.ts';
import { evmPayer } from '#shared/chains/evm/payer.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { type RpcObserver, RpcRefused } from '#shared/chains/rpc.ts';

const NODE = 'http://node.example:8545';
const ALICE = '0x00000000000000000000000000000000000a11ce';
const BOB = '0x0000000000000000000000000000000000000b0b';
const HASH = `0x${'ab'.repeat(32)}`;
const INTENT = { sender: ALICE, recipient: BOB, contract: null, rawAmount: 5n };

interface Asked {
  id: number;
  method: string;
  params: unknown[];
}
type Answers = (asked: Asked[]) => unknown;

/** Nothing here is about how fast an endpoint may be asked. */
const UNHURRIED: Gate = { pass: (_calls, work) => work(), answered: () => undefined, refused: () => undefined };

const observed: Parameters<RpcObserver>[0][] = [];
const rpc = (timeoutMs = 5_000) => openRpc(NODE, (request) => observed.push(request), { timeoutMs, retryMs: 0, gate: UNHURRIED });
const reader = (timeoutMs?: number): Reader => evmReader({ name: 'local', chainId: '31337' }, rpc(timeoutMs));
const payer = (timeoutMs?: number): Payer => evmPayer({ chainId: '31337' }, rpc(timeoutMs));

beforeEach(() => {
  observed.length = 0;
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

/** A node that answers every HTTP request with this. */
function answering(status: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }): void {
  nock(NODE).persist().post('/').reply(status, body, headers);
}

/** A node whose JSON is made from what was asked. */
function speaking(answers: Answers): void {
  nock(NODE)
    .persist()
    .post('/')
    .reply(200, (_uri, body) => answers(body as unknown as Asked[]) as nock.Body, { 'content-type': 'application/json' });
}

/** Says a balance that only its owner has: the owner's own number. */
const balanceOf = ({ params: [owner] }: Asked): string => (typeof owner === 'string' && owner.startsWith('0x') ? `0x${BigInt(owner).toString(16)}` : '0x1');
const good = (asked: Asked): object => ({ jsonrpc: '2.0', id: asked.id, result: balanceOf(asked) });

const READS: [string, (timeoutMs?: number) => Promise<unknown>][] = [
  ['reader.genesisHash', (ms) => reader(ms).genesisHash()],
  ['reader.head', (ms) => reader(ms).head()],
  ['reader.blockAt', (ms) => reader(ms).blockAt(1)],
  ['reader.block', (ms) => reader(ms).block(HASH, { has: () => true })],
  ['reader.range', (ms) => reader(ms).range(1, 3, { has: () => true })],
  ['reader.transaction', (ms) => reader(ms).transaction(HASH)],
  ['reader.balance', (ms) => reader(ms).balance(ALICE, null)],
  ['reader.balance of a token', (ms) => reader(ms).balance(ALICE, BOB)],
  ['payer.quote', (ms) => payer(ms).quote(INTENT)],
  ['payer.estimate', (ms) => payer(ms).estimate(INTENT)],
  ['payer.estimate of a token', (ms) => payer(ms).estimate({ ...INTENT, contract: HASH.slice(0, 42) })],
  ['payer.nonce', (ms) => payer(ms).nonce(ALICE)],
  ['payer.balance', (ms) => payer(ms).balance(ALICE, null)],
];

const HTML = { 'content-type': 'text/html' };
const FAULTS: [string, () => void][] = [
  ['429', () => answering(429, 'slow down', { 'retry-after': '1' })],
  ['429 with a JSON-RPC error', () => answering(429, '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"rate limited"}}')],
  [
    '200 with a rate-limit error',
    () => speaking((asked) => asked.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32005, message: 'limit exceeded' } }))),
  ],
  ['200 with one error for the whole batch', () => answering(200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}')],
  ['401', () => answering(401, '{"error":"no such key"}')],
  ['500', () => answering(500, 'Internal Server Error', { 'content-type': 'text/plain' })],
  ['500 with a JSON-RPC error', () => answering(500, '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"execution reverted"}}')],
  ['502 with HTML', () => answering(502, '<html><body>Bad Gateway</body></html>', HTML)],
  ['200 with HTML', () => answering(200, '<html><body>Log in</body></html>', HTML)],
  ['200 with HTML called JSON', () => answering(200, '<html><body>Log in</body></html>')],
  ['an empty body', () => answering(200, '')],
  ['truncated JSON', () => answering(200, '[{"jsonrpc":"2.0","id":1,"result":"0x1')],
  ['JSON that is no answer', () => answering(200, '{"hello":"world"}')],
  ['null', () => answering(200, 'null')],
  ['an empty list', () => answering(200, '[]')],
  ['answers without result or error', () => speaking((asked) => asked.map(({ id }) => ({ jsonrpc: '2.0', id })))],
  ['answers that are null', () => speaking((asked) => asked.map(() => null))],
  ['wrong ids', () => speaking((asked) => asked.map((one) => ({ ...good(one), id: one.id + 1_000_000 })))],
  ['ids as text', () => speaking((asked) => asked.map((one) => ({ ...good(one), id: `x${one.id}` })))],
  ['no ids', () => speaking((asked) => asked.map((one) => ({ jsonrpc: '2.0', result: balanceOf(one) })))],
  ['every answer twice', () => speaking((asked) => [...asked.map(good), ...asked.map((one) => ({ ...good(one), result: '0x7' }))])],
  [
    'a connection that breaks',
    () =>
      void nock(NODE)
        .persist()
        .post('/')
        .replyWithError(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })),
  ],
];

describe.each(FAULTS)('a node that answers %s', (_fault, arrange) => {
  beforeEach(arrange);

  it.each(READS)('is unavailable to %s', async (_name, read) => {
    await expect(read()).rejects.toBeInstanceOf(ChainUnavailable);
    expect(observed.length).toBeGreaterThan(0);
  });

  it('has not accepted a broadcast', async () => {
    expect(await payer().broadcast(new Uint8Array([1, 2, 3]))).toMatchObject({ accepted: false });
  });
});

describe('a node that does not answer', () => {
  beforeEach(() => {
    nock(NODE).persist().post('/').delayConnection(60_000).reply(200, '[]');
  });

  it.each(READS)('is unavailable to %s once the deadline has passed', async (_name, read) => {
    await expect(read(30)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('has not accepted a broadcast', async () => {
    expect(await payer(30).broadcast(new Uint8Array([1, 2, 3]))).toMatchObject({ accepted: false });
  });
});

describe('nobody listening', () => {
  it.each(READS.slice(0, 1))('is unavailable to %s', async () => {
    await expect(evmReader({ name: 'local', chainId: '31337' }, openRpc('http://127.0.0.1:1')).head()).rejects.toBeInstanceOf(ChainUnavailable);
  });
});

describe('requests that share a batch', () => {
  const ask = (...owners: number[]) => {
    const one = rpc();
    return Promise.allSettled(owners.map((owner) => one('eth_getBalance', [`0x${owner.toString(16)}`, 'latest'])));
  };
  const values = (settled: PromiseSettledResult<unknown>[]) => settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).name));

  it('get their own answers in whatever order those come', async () => {
    speaking((asked) => asked.map(good).reverse());
    expect(values(await ask(1, 2, 3))).toEqual(['0x1', '0x2', '0x3']);
  });

  it('never get one another’s: when one is missing, none is believed', async () => {
    speaking((asked) => asked.slice(1).map(good));
    expect(values(await ask(1, 2, 3))).toEqual(['ChainUnavailable', 'ChainUnavailable', 'ChainUnavailable']);
  });

  it('never get one another’s: of two answers under one id neither is believed', async () => {
    speaking((asked) => asked.map((one, at) => (at === 0 ? { ...good(one), id: asked[1]?.id } : good(one))));
    expect(values(await ask(1, 2, 3))).toEqual(['ChainUnavailable', 'ChainUnavailable', '0x3']);
  });

  it('fail one by one', async () => {
    speaking((asked) =>
      asked.map((one, at) => (at === 1 ? { jsonrpc: '2.0', id: one.id, error: { code: 3, message: 'execution reverted', data: '0x01' } } : good(one))),
    );
    const settled = await ask(1, 2, 3);
    expect(values(settled)).toEqual(['0x1', 'RpcRefused', '0x3']);
    expect((settled[1] as PromiseRejectedResult).reason).toMatchObject({ code: 3, data: '0x01', message: 'eth_getBalance: execution reverted' });
    expect(observed.map((one) => one.result).sort()).toEqual(['ok', 'ok', 'refused']);
  });

  it('are split when they are many', async () => {
    const sizes: number[] = [];
    speaking((asked) => {
      sizes.push(asked.length);
      return asked.map(good);
    });
    const owners = Array.from({ length: 150 }, (_, i) => i + 1);
    expect(values(await ask(...owners))).toEqual(owners.map((owner) => `0x${owner.toString(16)}`));
    expect(sizes.sort((a, b) => a - b)).toEqual([22, 64, 64]);
  });
});

describe('a fault that passes', () => {
  it.each([429, 500, 503])('%s is tried again', async (status) => {
    nock(NODE).post('/').reply(status, 'busy');
    speaking((asked) => asked.map(good));
    expect(await reader().balance('0x5', null)).toBe(5n);
  });

  it('a refusal is not: the node was reached and said no', async () => {
    let requests = 0;
    speaking((asked) => {
      requests += 1;
      return asked.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted' } }));
    });
    await expect(rpc()('eth_call', [{}])).rejects.toBeInstanceOf(RpcRefused);
    expect(requests).toBe(1);
  });
});
