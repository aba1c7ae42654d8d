import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, openClient } from './client.ts';

interface Faulty {
  status?: number;
  body?: unknown;
  /** Undefined leaves a header out. */
  headers?: Record<string, string | undefined>;
}

const BALANCES = '/api/v1/merchant/settlements/balances';
const PAYMENTS = '/api/v1/payments';
const id = randomUUID();
const created = (over: Record<string, unknown> = {}): unknown => ({
  success: true,
  data: { paymentUid: id, paymentUrl: `https://pay.example/p/${id}`, ...over },
});
const failure = (code: string): unknown => ({ success: false, error: { code, message: 'No.' } });

let server: Server;
let ask: Client;
let answer: Faulty;
beforeAll(async () => {
  server = createServer((_request, response) => {
    const { status = 200, body = { success: true, data: { items: [] } }, headers = {} } = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const all = {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': randomUUID(),
      'X-Contract-Revision': '2.2.0',
      ...headers,
    };
    for (const [name, value] of Object.entries(all)) if (value !== undefined) response.setHeader(name, value);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ask = await openClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const asked = (given: Faulty, method = 'GET', path = BALANCES): ReturnType<Client> => {
  answer = given;
  return ask(method, path);
};

describe('the client of these tests passes', () => {
  it.each([
    ['a listed success', {}, 'GET', BALANCES],
    ['a listed error', { status: 403, body: failure('ip_not_allowed') }, 'GET', BALANCES],
    ['a created payment', { status: 201, body: created() }, 'POST', PAYMENTS],
    ['a replayed one', { status: 201, body: created(), headers: { 'Idempotency-Replayed': 'true' } }, 'POST', PAYMENTS],
    ['a rate limit', { status: 429, body: failure('rate_limit_exceeded'), headers: { 'Retry-After': '3' } }, 'POST', PAYMENTS],
    ['a method no path has', { status: 405, body: failure('method_not_allowed'), headers: { Allow: 'GET, POST' } }, 'PUT', PAYMENTS],
    ['a path nobody has', { status: 404, body: failure('not_found') }, 'GET', '/api/v1/nowhere'],
  ] as [string, Faulty, string, string][])('%s', async (_what, given, method, path) => {
    expect((await asked(given, method, path)).status).toBe(given.status ?? 200);
  });
});

describe('the client of these tests fails', () => {
  it.each([
    ['a status the operation does not list', { status: 404, body: failure('not_found') }],
    ['a success the operation does not list', { status: 204, body: '' }],
    ['a success that another operation lists', { status: 201, body: created() }],
    ['a missing field', { body: { success: true, data: {} } }],
    ['an extra field', { body: { success: true, data: { items: [], more: 1 } } }],
    ['a field of another type', { body: { success: true, data: { items: {} } } }],
    ['an extra field beside the data', { body: { success: true, data: { items: [] }, meta: 1 } }],
    ['a bare body', { body: { items: [] } }],
    ['a failure that says success', { status: 403, body: { ...(failure('forbidden') as object), success: true } }],
    ['a code the status does not list', { status: 403, body: failure('totp_not_enrolled') }],
    ['a code of another status', { status: 401, body: failure('forbidden') }],
    ['a code nobody knows', { status: 403, body: failure('go_away') }],
    ['an error without a message', { status: 403, body: { success: false, error: { code: 'forbidden', message: '' } } }],
    ['an error that tells more', { status: 403, body: { success: false, error: { code: 'forbidden', message: 'No.', stack: 'at …' } } }],
    ['no request id', { headers: { 'X-Request-Id': undefined } }],
    ['a request id that is none', { headers: { 'X-Request-Id': 'x' } }],
    ['no revision', { headers: { 'X-Contract-Revision': undefined } }],
    ['another revision', { headers: { 'X-Contract-Revision': '2.2.1' } }],
    ['another content type', { headers: { 'Content-Type': 'text/html' } }],
    ['another charset', { headers: { 'Content-Type': 'application/json; charset=latin1' } }],
    ['an answer that may be cached', { headers: { 'Cache-Control': undefined } }],
    ['an undeclared header', { headers: { 'X-Powered-By': 'Express' } }],
    ['a replay where nothing is replayed', { headers: { 'Idempotency-Replayed': 'true' } }],
    ['a rate limit without Retry-After', { status: 429, body: failure('rate_limit_exceeded') }],
    ['a rate limit that says 0', { status: 429, body: failure('rate_limit_exceeded'), headers: { 'Retry-After': '0' } }],
    ['an unavailable without Retry-After', { status: 503, body: failure('service_unavailable') }],
    ['an unavailable that says a date', { status: 503, body: failure('service_unavailable'), headers: { 'Retry-After': 'tomorrow' } }],
    ['what is not JSON', { body: '<html>' }],
  ] as [string, Faulty][])('%s', async (_what, given) => {
    await expect(asked(given)).rejects.toThrow();
  });

  it.each([
    ['a created payment without its address', created({ paymentUrl: undefined })],
    ['a created payment with an id that is none', created({ paymentUid: '7' })],
    ['a created payment with a payment that lacks all', created({ payment: {} })],
  ])('%s', async (_what, body) => {
    await expect(asked({ status: 201, body }, 'POST', PAYMENTS)).rejects.toThrow();
  });

  it('a 405 without Allow, and one that allows what was asked', async () => {
    for (const headers of [{}, { Allow: 'GET, PUT' }])
      await expect(asked({ status: 405, body: failure('method_not_allowed'), headers }, 'PUT', PAYMENTS)).rejects.toThrow();
  });

  it('a success on a path nobody has', async () => {
    await expect(asked({}, 'GET', '/api/v1/nowhere')).rejects.toThrow();
  });
});
