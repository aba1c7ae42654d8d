import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, type Merchant } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

let world: World;
let api: RunningApi;
let shop: Merchant;
let indexer: Deployable | undefined;

beforeAll(async () => {
  world = await aWorld({ blockSeconds: 1 });
  api = await world.startApi();
  await world.setPrices(api);
  shop = await world.aGateway(api);
});
afterAll(() => world.stop());

interface Selected {
  status: number;
  address: string | undefined;
}
interface Opened {
  id: string;
  offers: string[];
  select(offer?: string): Promise<Selected>;
}

const selected = ({ status, data }: { status: number; data: Record<string, unknown> }): Selected => ({
  status,
  address: data.depositAddress as string | undefined,
});

/** An API-mode payment, selected by the merchant's server. */
async function forServer(): Promise<Opened> {
  const created = await shop.must('POST', '/payments', { body: aPayment('http://127.0.0.1:8099/webhook') });
  const id = created.paymentUid as string;
  const offers = (created.payment as { offers: { id: string }[] }).offers.map((offer) => offer.id);
  const select = async (offer = offers[0]) => selected(await shop.call('POST', `/public/payments/${id}/offers/${offer}/select`));
  return { id, offers, select };
}

/** A hosted payment, selected as its page does. */
async function forPage(body: Record<string, unknown> = {}): Promise<Opened> {
  const { paymentUid } = await shop.must('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'http://localhost/thanks', ...body } });
  const { offers } = (await shop.must('GET', `/public/payments/${paymentUid}`)) as { offers: { id: string }[] };
  const ids = offers.map((offer) => offer.id);
  const select = async (offerId = ids[0]) => selected(await call(`${api.checkoutOrigin}/p/${paymentUid}/select`, 'POST', { body: { offerId } }));
  return { id: paymentUid as string, offers: ids, select };
}

const late = async ({ id }: Opened): Promise<string | undefined> =>
  ((await shop.must('GET', `/public/payments/${id}`)).offers as { depositAddress?: string }[])[0]?.depositAddress;

it('both channels answer 202 while the indexer is stopped, and the same call is the recovery once it runs', async () => {
  const [server, page] = [await forServer(), await forPage()];
  expect(await Promise.all([server.select(), page.select()])).toEqual([
    { status: 202, address: undefined },
    { status: 202, address: undefined },
  ]);
  expect([await late(server), await late(page)]).toEqual([undefined, undefined]);

  indexer = await world.startIndexer();
  for (const payment of [server, page]) {
    const shown = await waitFor(async () => (await late(payment)) ?? false, { what: 'a late address on the public read', timeoutMs: 60_000 });
    for (const offer of payment.offers) expect(await payment.select(offer)).toEqual({ status: 200, address: shown });
  }
  expect(await late(server)).not.toBe(await late(page));
});

it('an address that is watched is still answered after the indexer has stopped, and a new one waits', async () => {
  const known = await forServer();
  const { address } = await waitFor(
    async () => {
      const answer = await known.select();
      return answer.status === 200 && answer;
    },
    { what: 'an address', timeoutMs: 60_000 },
  );
  await indexer?.stop();
  expect(await known.select()).toEqual({ status: 200, address });
  expect((await (await forPage()).select()).status).toBe(202);
});

it('a sandbox payment is selected through the checkout without any indexer, plays a scenario, and is confirmed by the worker', async () => {
  const payment = await forPage({ isSandbox: true });
  expect(await payment.select()).toEqual({ status: 200, address: `sandbox-${payment.id}` });
  const seen = await shop.must('POST', `/public/payments/${payment.id}/sandbox/simulate`, { body: { scenario: 'seen_then_confirmed' } });
  expect(seen.status).toBe('PENDING');
  const status = await waitFor(
    async () => {
      const verified = await shop.must('POST', `/payments/${payment.id}/verify`);
      return verified.status !== 'PENDING' && verified.status;
    },
    { what: 'the simulated confirmation', timeoutMs: 60_000 },
  );
  expect(status).toBe('SUCCESS');
});

it('the checkout answers every path but a payment’s in the envelope, and knows nothing of the API', async () => {
  const page = await fetch(`${api.checkoutOrigin}/p/x`);
  expect([page.status, page.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')]);
  for (const path of ['/', '/api/v1/assets', '/docs', '/operator/v1/audit']) {
    const { status, error } = await call(`${api.checkoutOrigin}${path}`, 'GET');
    expect([path, status, error.code]).toEqual([path, 404, 'not_found']);
  }
});
