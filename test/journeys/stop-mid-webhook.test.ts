import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

let world: World;
let server: Server;
/** The `webhook-id` of every request. */
const arrived: (string | string[] | undefined)[] = [];
let answering = false;

beforeEach(async () => {
  server = createServer((request, response) => {
    arrived.push(request.headers['webhook-id']);
    if (answering) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world = await aWorld();
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
});

it('an api that is told to stop while a receiver does not answer ends in order without its answer, and the next one sends the webhook', async () => {
  const api = await world.startApi();
  await world.setPrices(api);
  const shop = await world.aGateway(api);
  const { port } = server.address() as AddressInfo;
  const { paymentUid } = await shop.must('POST', '/payments', { body: aPayment(`http://127.0.0.1:${port}/hook`, { timeoutSeconds: 1 }) });
  await waitFor(async () => ((await shop.call('POST', `/public/payments/${paymentUid}/expire`)).data as { status?: string }).status === 'EXPIRED', {
    what: 'the payment to expire',
  });
  await waitFor(() => arrived.length === 1, { what: 'the first attempt' });
  process.kill(api.pid, 'SIGTERM');
  expect(await api.exited).toEqual({ code: 0, signal: null });
  expect(await world.database.sql`select 1 from webhook_attempts where finished_at is not null`).toHaveLength(0);

  answering = true;
  await world.startApi();
  const states = () => world.database.sql<{ state: string }[]>`select state from webhook_events`;
  await waitFor(async () => (await states())[0]?.state === 'delivered', { what: 'the webhook to be delivered' });
  expect(new Set(arrived).size).toBe(1);
});
