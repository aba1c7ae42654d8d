import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Merchant } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { openSocket } from '#test/harness/socket-client.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

let world: World;
let api: RunningApi;
let shop: Merchant;
/** Keeps its connections open after an answer, as the proxies in front of a service do. */
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  world = await aWorld({ blockSeconds: 1 });
  api = await world.startApi();
  await world.setPrices(api);
  shop = await world.aGateway(api);
});
afterAll(async () => {
  agent.destroy();
  await world.stop();
});

function post(url: string, body?: object): Promise<{ status: number; code?: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (answer: IncomingMessage) => {
      answer.resume();
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0 }));
    });
    asked.once('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}

const offerOf = (payment: unknown): string => (payment as { offers: [{ id: string }] }).offers[0].id;
const isOpen = (origin: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

it('SIGTERM closes every listener at once, answers what was asked, sends pages elsewhere, waits for no slow or idle connection, and exits cleanly within 10 s', async () => {
  const created = await shop.must('POST', '/payments', { body: aPayment('http://127.0.0.1:8099/webhook') });
  const { paymentUid } = await shop.must('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'http://localhost/thanks' } });
  const hosted = offerOf(await shop.must('GET', `/public/payments/${paymentUid}`));
  const idle = await post(`${api.baseUrl}/payments`);
  expect(idle.status).toBe(401);
  const slow = connect(Number(new URL(api.checkoutOrigin).port), '127.0.0.1');
  let answered = '';
  slow
    .on('error', () => undefined)
    .on('data', (chunk) => {
      answered += String(chunk);
    });
  slow.write(`POST /p/${paymentUid}/select HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  const pages = [await openSocket(api.checkoutOrigin, String(paymentUid)), await openSocket(api.origin, String(paymentUid), { root: '/api/v1' })];
  const frozen = await openSocket(api.checkoutOrigin, String(paymentUid));
  frozen.socket.pause();
  // Nobody acknowledges an address here, so each of these takes about five seconds.
  const selecting = Promise.all([
    post(`${api.baseUrl}/public/payments/${created.paymentUid}/offers/${offerOf(created.payment)}/select`),
    post(`${api.checkoutOrigin}/p/${paymentUid}/select`, { offerId: hosted }),
  ]);
  await waitFor(async () => (await world.database.sql`select 1 from deposit_addresses`).length === 2, { what: 'two selects that wait' });

  process.kill(api.pid, 'SIGTERM');
  await waitFor(async () => !(await isOpen(api.origin)) && !(await isOpen(api.checkoutOrigin)), { what: 'closed listeners' });
  expect(await Promise.all(pages.map((page) => page.closed))).toEqual([1001, 1001]);
  expect(await selecting).toEqual([{ status: 202 }, { status: 202 }]);
  expect(await api.exited).toEqual({ code: 0, signal: null });
  // Whoever never finishes a request is not waited for, not even until it is told that its time is over.
  expect(answered).toBe('');
  slow.destroy();
  frozen.socket.terminate();
});
