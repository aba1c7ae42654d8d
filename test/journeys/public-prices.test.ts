import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, newKey } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { type Markets, openMarkets } from '#test/fixtures/markets.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

describe('prices from public sources, through the deployables', () => {
  let world: World;
  let markets: Markets;
  let receiver: WebhookReceiver;
  let http: RunningApi;
  let shop: Merchant;
  const GOOD = { ETH: '2500', USDT: '1', USDC: '0.98', EUR: '1.25' };

  beforeAll(async () => {
    world = await aWorld({ blockSeconds: 1 });
    [markets, receiver] = await Promise.all([openMarkets(), startWebhookReceiver()]);
    const names = ['kraken', 'bitstamp', 'binance'];
    const priced = {
      SLUICE_PRICE_SOURCE: 'http',
      SLUICE_PRICE_PROVIDERS: names.join(),
      SLUICE_PRICE_PROVIDER_URLS: names.map((name) => `${name}=${markets.url}/${name}`).join(),
      SLUICE_PRICE_POLL_SECONDS: '5',
    };
    markets.say(GOOD);
    // Whoever answers requests reads Postgres only: its markets are nowhere.
    const nowhere = names.map((name) => `${name}=http://127.0.0.1:9/${name}`).join();
    http = await world.startApi({ env: { ...priced, SLUICE_ROLES: 'http', SLUICE_PRICE_PROVIDER_URLS: nowhere } });
    await Promise.all([world.startApi({ env: { ...priced, SLUICE_ROLES: 'worker' } }), world.startIndexer()]);
    shop = await world.aGateway(http);
  });
  afterAll(async () => {
    await world?.stop();
    await Promise.all([receiver?.stop(), markets?.stop()]);
  });

  const price = async (symbol: string): Promise<Record<string, unknown>> => {
    const { items } = (await world.operator(http).must('GET', '/prices')) as { items: { symbol: string }[] };
    return items.find((one) => one.symbol === symbol) as Record<string, unknown>;
  };
  const usable = (symbol: string, is: boolean) =>
    waitFor(async () => (await price(symbol)).usable === is, { what: `${symbol} to be ${is ? 'priced' : 'without a price'}`, timeoutMs: 60_000 });
  const create = (overrides: Record<string, unknown> = {}) =>
    shop.call('POST', '/payments', { body: aPayment(receiver.url, overrides), headers: { 'idempotency-key': newKey() } });

  it('offers what the sources agree on, whatever one of them says, and in every currency with a rate', async () => {
    await usable('USDC', true);
    expect(await price('ETH')).toMatchObject({ usd: '2500', source: 'median of bitstamp, kraken', usable: true });
    const { data } = await create({ currencyCode: 'EUR', amount: '100' });
    const { offers, amountUsd } = data.payment as { amountUsd: string; offers: { assetSymbol: string; assetPriceUsd: string; totalValue: string }[] };
    expect(amountUsd).toBe('125.00');
    expect(Object.fromEntries(offers.map((one) => [one.assetSymbol, `${one.totalValue} at ${one.assetPriceUsd}`]))).toEqual({
      ETH: '0.05 at 2500',
      USDT: '125 at 1',
      USDC: '127.56 at 0.98',
    });
    const refused = await create({ currencyCode: 'AED' });
    expect([refused.status, refused.error.code]).toEqual([422, 'validation_error']);
    expect(refused.error.message).toMatch(/^currencyCode: /);
  });

  it('refuses new payments while the markets are closed, keeps what was paid waiting for a price, and loses nothing', async () => {
    await usable('USDC', true);
    const { data } = await create({ amount: '49' });
    const id = data.paymentUid as string;
    const { offers } = data.payment as { offers: { id: string; assetSymbol: string }[] };
    const offer = offers.find((one) => one.assetSymbol === 'USDT') as { id: string };
    const address = await waitFor(async () => (await shop.call('POST', `/public/payments/${id}/offers/${offer.id}/select`)).data.depositAddress as string, {
      what: 'an address',
      timeoutMs: 60_000,
    });

    markets.say(undefined);
    await world.operator(http).must('POST', '/clock/advance', { body: { seconds: 121 } });
    await usable('USDC', false);
    const refused = await create();
    expect([refused.status, refused.error.code]).toEqual([503, 'service_unavailable']);

    // Another coin than the one selected is judged at its market price, which there is none of.
    const txid = await world.chain.pay(address, world.chain.tokens.USDC, 50_000_000n);
    await waitFor(
      async () => {
        const [row] = await world.database.sql<{ state: string }[]>`select state from deposits where txid = ${txid}`;
        const [tip] = await world.database.sql<{ ahead: number }[]>`
          select max(t.height) - (select height from deposits where txid = ${txid}) as ahead from chain_tips t`;
        return row !== undefined && (tip?.ahead ?? 0) >= 4;
      },
      { what: 'the deposit to be final', timeoutMs: 60_000 },
    );
    expect(await shop.must('POST', `/payments/${id}/verify`)).toMatchObject({ status: 'PENDING' });

    markets.say(GOOD);
    // The sources are asked again when their pauses end, the last of which is far away by the wall clock.
    await world.operator(http).must('POST', '/clock/advance', { body: { seconds: 600 } });
    const settled = await waitFor(
      async () => {
        const seen = await shop.must('POST', `/payments/${id}/verify`);
        return seen.status !== 'PENDING' && seen;
      },
      { what: 'the payment to rest', timeoutMs: 90_000 },
    );
    expect(settled).toMatchObject({ status: 'SUCCESS', receivedAssetSymbol: 'USDC', receivedAmount: '50', receivedAmountUsd: '49.00', txHash: txid });
    expect((await create()).status).toBe(201);
  });
});
