import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Pace } from '#api/checkout/live.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aService, payTo, type Service, type Shop } from '#test/contract/service.ts';
import { aLiveReplica, type LiveReplica } from '#test/harness/live-server.ts';
import { type OwnRedis, ownRedis } from '#test/harness/redis.ts';
import { openSocket, type SocketClient } from '#test/harness/socket-client.ts';

const NEVER = 3_600_000;
/** Nothing is looked at without a reason. */
const ONLY_NEWS: Partial<Pace> = { open: NEVER, resting: NEVER, deaf: NEVER };

let service: Service;
let shop: Shop;
let redis: OwnRedis;
/** Where things happen; its use cases announce them. */
let busy: LiveReplica;
/** Where pages wait for them. */
let quiet: LiveReplica;
const more: (LiveReplica | SocketClient)[] = [];

beforeAll(async () => {
  redis = await ownRedis();
  // What the service's own use cases announce goes the way of every process.
  service = await aService((deps) => ({ ...deps, announce: (...news) => busy.deps.announce(...news) }));
  busy = await aLiveReplica(service.deps, redis.url, ONLY_NEWS);
  quiet = await aLiveReplica(service.deps, redis.url, ONLY_NEWS);
  await waitFor(() => !busy.news.deaf() && !quiet.news.deaf(), { what: 'both replicas to hear' });
  shop = await service.aShop();
});
afterEach(async () => {
  for (const one of more.splice(0)) await ('stop' in one ? one.stop() : one.socket.terminate());
});
afterAll(async () => {
  await Promise.all([busy.stop(), quiet.stop()]);
  await Promise.all([service.stop(), redis.stop()]);
});

async function aHostedPayment(body: Record<string, unknown> = {}): Promise<string> {
  const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', ...body } });
  return String(data.paymentUid);
}

async function aPage(id: string, at: LiveReplica = quiet): Promise<SocketClient> {
  const page = await openSocket(at.origin, id);
  more.push(page);
  return page;
}

const offerOf = (page: SocketClient, symbol: string) =>
  page
    .shown()
    .at(-1)
    ?.payment.offers.find((offer) => offer.assetSymbol === symbol);
const result = (id: string, scenario: string) => service.ask('POST', `/api/v1/public/payments/${id}/sandbox/simulate`, { body: { scenario } });

describe('a page at another replica than the one where it happens', () => {
  it('follows a payment from the choice to the result, through address, block and confirmations', async () => {
    const id = await aHostedPayment();
    const [page, chooser] = [await aPage(id), await aPage(id, busy)];
    const offer = offerOf(chooser, 'USDT');
    chooser.send({ type: 'select', offerId: offer?.id });
    await page.shows(({ payment }) => payment.selectedOfferId === offer?.id);
    expect(offerOf(page, 'USDT')).not.toHaveProperty('depositAddress');

    while ((await service.world.acknowledge()).length === 0);
    await service.mine();
    await page.shows(() => offerOf(page, 'USDT')?.depositAddress !== undefined);
    const address = offerOf(page, 'USDT')?.depositAddress ?? '';
    await chooser.shows(() => offerOf(chooser, 'USDT')?.depositAddress === address);

    await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, offer?.totalValue ?? '')]);
    const seen = await page.shows(({ pendingDeposit }) => pendingDeposit !== null);
    expect([seen.payment.status, seen.pendingDeposit?.confirmations, seen.pendingDeposit?.assetSymbol]).toEqual(['PENDING', 1, 'USDT']);
    await service.mine();
    const done = await page.shows(({ payment }) => payment.status === 'SUCCESS');
    expect([done.pendingDeposit, done.payment.receivedAmount, done.paid?.otherCoin]).toEqual([null, offer?.totalValue, false]);
  });

  it('hears of an expiry by periodic work, and of a late payment', async () => {
    const id = await aHostedPayment({ isSandbox: true });
    const page = await aPage(id);
    await service.wait(3_601);
    await page.shows(({ payment }) => payment.status === 'EXPIRED');
    expect((await result(id, 'late_capture')).status).toBe(200);
    const late = await page.shows(({ payment }) => payment.status === 'SUCCESS');
    expect(late.lateCapture).toBe(true);
  });

  it('hears of a simulated deposit that confirms by itself', async () => {
    const id = await aHostedPayment({ isSandbox: true });
    const page = await aPage(id);
    await result(id, 'seen_then_confirmed');
    await page.shows(({ pendingDeposit }) => pendingDeposit !== null);
    await service.wait(11);
    await page.shows(({ payment }) => payment.status === 'SUCCESS');
  });

  it('expires at its own deadline, though no periodic work runs and no call says so', async () => {
    const page = await aPage(await aHostedPayment({ timeoutSeconds: 1 }));
    const expired = await page.shows(({ payment }) => payment.status === 'EXPIRED');
    expect(Date.parse(expired.serverTime) - Date.parse(expired.payment.expiresAt)).toBeLessThan(3_000);
  });

  it('is one of very many that are told within a moment', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => aHostedPayment({ isSandbox: true })));
    const pages = await Promise.all(ids.flatMap((id) => [aPage(id), aPage(id), aPage(id, busy)]));
    await Promise.all(ids.map((id) => result(id, 'success')));
    await Promise.all(pages.map((page) => page.shows(({ payment }) => payment.status === 'SUCCESS')));
    for (const page of pages) expect(page.shown().length).toBeLessThanOrEqual(3);
  });
});

describe('a Redis that dies', () => {
  it('costs seconds at most: pages are looked after more often until it is back, and at once when it is', async () => {
    const attentive = await aLiveReplica(service.deps, redis.url, { ...ONLY_NEWS, deaf: 200 });
    more.push(attentive);
    await waitFor(() => !attentive.news.deaf(), { what: 'it to hear' });
    const [first, second] = [await aHostedPayment({ isSandbox: true }), await aHostedPayment({ isSandbox: true })];
    const pages = { first: await aPage(first, attentive), patient: await aPage(second) };
    await redis.kill();
    await waitFor(() => attentive.news.deaf() && quiet.news.deaf(), { what: 'the loss to be noticed' });

    await Promise.all([result(first, 'success'), result(second, 'underpaid')]);
    await pages.first.shows(({ payment }) => payment.status === 'SUCCESS');
    expect(pages.patient.shown().at(-1)?.payment.status).toBe('PENDING');
    const late = await aPage(second, attentive);
    expect(late.shown().at(-1)?.payment.status).toBe('MISMATCH');

    await redis.revive();
    await pages.patient.shows(({ payment }) => payment.status === 'MISMATCH');
    const third = await aHostedPayment({ isSandbox: true });
    const page = await aPage(third);
    await waitFor(() => !busy.news.deaf() && !quiet.news.deaf(), { what: 'both replicas to hear' });
    await result(third, 'success');
    await page.shows(({ payment }) => payment.status === 'SUCCESS');
  });

  it('may be emptied meanwhile: nothing of this is kept in it', async () => {
    const id = await aHostedPayment({ isSandbox: true });
    const page = await aPage(id);
    await redis.flush();
    await result(id, 'success');
    await page.shows(({ payment }) => payment.status === 'SUCCESS');
  });
});

it('a database that goes away keeps pages waiting, and shows them nothing wrong', async () => {
  const id = await aHostedPayment({ isSandbox: true });
  let away = false;
  const { db } = service.deps;
  const unlessAway =
    <How extends typeof db.transaction>(ask: How): typeof db.transaction =>
    (work) =>
      away ? Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })) : ask(work);
  const asked = { transaction: unlessAway(db.transaction), snapshot: unlessAway(db.snapshot) };
  const stranded = await aLiveReplica({ ...service.deps, db: { ...db, ...asked } }, redis.url, { open: 100 });
  more.push(stranded);
  const page = await aPage(id, stranded);
  away = true;
  await result(id, 'success');
  page.send({ type: 'simulate', scenario: 'success' });
  expect(await page.heard('error')).toMatchObject({ error: { code: 'service_unavailable', retryAfterSeconds: 1 } });
  expect(page.shown().at(-1)?.payment.status).toBe('PENDING');
  away = false;
  await page.shows(({ payment }) => payment.status === 'SUCCESS');
});
