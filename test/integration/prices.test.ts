import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pricePolicy, storedPrices } from '#api/clients/prices.ts';
import type { Deps } from '#api/deps.ts';
import { refreshPrices, reportPriceAges } from '#api/jobs/refresh-prices.ts';
import { createPayment } from '#api/payments/create.ts';
import { showPrices } from '#api/operator/prices.ts';
import { listPriceSources, deletePrice } from '#api/store/prices.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

const HOSTS = { coinbase: 'https://api.coinbase.com', kraken: 'https://api.kraken.com', bitstamp: 'https://www.bitstamp.net' } as const;
type Source = keyof typeof HOSTS;
const SOURCES = Object.keys(HOSTS) as Source[];

beforeAll(() => {
  // Another file of this worker may have put it away.
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
});
let world: InProcess;
let deps: Deps;
let metrics: ReturnType<typeof createApiMetrics>;
beforeEach(async () => {
  world = await inProcess({ config: { SLUICE_PRICE_SOURCE: 'http', SLUICE_PRICE_PROVIDERS: SOURCES } });
  metrics = createApiMetrics('test');
  deps = { ...world.deps, metrics, prices: storedPrices(world.deps.db, pricePolicy(world.deps.config)) };
});
afterEach(async () => {
  nock.abortPendingRequests();
  nock.cleanAll();
  await world.stop();
});
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

/** What one source says: dollars for one unit, by symbol. */
type Says = Partial<Record<'ETH' | 'USDT' | 'USDC' | 'fiat:EUR', string>>;

function interceptor(source: Source) {
  const paths = { coinbase: /^\/v2\/exchange-rates/, kraken: /^\/0\/public\/Ticker/, bitstamp: /^\/api\/v2\/ticker\/$/ };
  return nock(HOSTS[source]).get(paths[source]);
}

/** Makes a source say these prices from now on. Coinbase is told with prices whose inverse is exact. */
function says(source: Source, prices: Says, options: { delayMs?: number; timestamp?: number } = {}): nock.Scope {
  const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1_000));
  const pairs = { ETH: ['XETHZUSD', 'ETH/USD'], USDT: ['USDTZUSD', 'USDT/USD'], USDC: ['USDCUSD', 'USDC/USD'], 'fiat:EUR': ['ZEURZUSD', 'EUR/USD'] } as const;
  const entries = Object.entries(prices) as [keyof typeof pairs, string][];
  const bodies = {
    coinbase: () => ({
      data: { currency: 'USD', rates: Object.fromEntries(entries.map(([symbol, price]) => [symbol.replace('fiat:', ''), inverseText(price)])) },
    }),
    kraken: () => ({ error: [], result: Object.fromEntries(entries.map(([symbol, price]) => [pairs[symbol][0], { c: [price, '1'] }])) }),
    bitstamp: () => entries.map(([symbol, last]) => ({ pair: pairs[symbol][1], market_type: 'SPOT', last, timestamp })),
  };
  return interceptor(source)
    .times(1)
    .delay(options.delayMs ?? 0)
    .reply(200, bodies[source]());
}

/** `1 ÷ price` for prices where that is a short decimal. */
function inverseText(price: string): string {
  const known: Record<string, string> = { '2500': '0.0004', '2000': '0.0005', '1': '1', '1.25': '0.8' };
  return known[price] ?? expect.fail(`no short inverse of ${price}`);
}

const fails = (source: Source, status = 503, headers: Record<string, string> = {}): nock.Scope => interceptor(source).reply(status, 'down', headers);
const refresh = (): Promise<number> => refreshPrices.run(deps);
const fresh = async (symbol: string): Promise<string | undefined> => {
  const price = await deps.prices.fresh(symbol);
  return price && `${formatAmount(price.usd)} ${price.source}`;
};
const poll = POLICY.pricePollSeconds;
const HEALTHY: Record<Source, Says> = {
  coinbase: { ETH: '2500', USDT: '1', 'fiat:EUR': '1.25' },
  kraken: { ETH: '2510', USDT: '1.001', USDC: '0.999', 'fiat:EUR': '1.251' },
  bitstamp: { ETH: '2490', USDT: '0.999', USDC: '1.0001', 'fiat:EUR': '1.249' },
};
const healthy = (...names: Source[]): void => {
  for (const name of names.length === 0 ? SOURCES : names) says(name, HEALTHY[name]);
};
const metric = async (line: string): Promise<string | undefined> => {
  await reportPriceAges(deps);
  const { body } = await metrics.scrape();
  return body
    .split('\n')
    .find((one) => one.startsWith(line))
    ?.split(' ')[1];
};

describe('prices from public sources', () => {
  it('land in Postgres as the median with its sources, and price a payment', async () => {
    healthy();
    expect(await refresh()).toBe(11);
    expect(await fresh('ETH')).toBe('2500 median of bitstamp, coinbase, kraken');
    // Not assumed to be 1, and Coinbase, which calls USDC 1 by definition, is not asked.
    expect(await fresh('USDT')).toBe('1 median of bitstamp, coinbase, kraken');
    expect(await fresh('USDC')).toBe('0.99955 median of bitstamp, kraken');

    const gateway = await world.aGateway();
    const body = { currencyCode: 'eur', amount: '100', callbackUrl: 'https://shop.example.com/back' };
    const { data } = await createPayment(deps, { gateway, body, clientIp: '127.0.0.1', commit: plainCommit(deps) });
    const offers = await world.database.sql<{ symbol: string; priceUsd: string; priceSource: string; totalValue: string }[]>`
      select a.symbol, o.price_usd, o.price_source, o.total_value from payment_offers o join assets a on a.id = o.asset_id
      where o.payment_id = ${(data as { paymentUid: string }).paymentUid} order by a.symbol`;
    expect(offers.map((one) => `${one.symbol} ${Number(one.priceUsd)} ${one.priceSource} ${Number(one.totalValue)}`)).toEqual([
      'ETH 2500 median of bitstamp, coinbase, kraken 0.05',
      'USDC 0.99955 median of bitstamp, kraken 125.06',
      'USDT 1 median of bitstamp, coinbase, kraken 125',
    ]);
  });

  it('leave a currency without a rate out, naming the field', async () => {
    healthy();
    await refresh();
    const gateway = await world.aGateway();
    const body = { currencyCode: 'AED', amount: '100', callbackUrl: 'https://shop.example.com/back' };
    await expect(createPayment(deps, { gateway, body, clientIp: '127.0.0.1', commit: plainCommit(deps) })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('currencyCode'),
    });
  });

  it('take no static price that was left over', async () => {
    await world.setPrice('ETH', '1');
    expect(await fresh('ETH')).toBeUndefined();
  });

  it('are asked for by one of many workers, and not again before the next round', async () => {
    healthy();
    await Promise.all([refresh(), refresh(), refresh()]);
    expect(nock.isDone()).toBe(true);
    expect(await refresh()).toBe(0);
    // A second question would have gone unanswered.
    expect((await listPriceSources(world.deps.db.sql)).map((one) => one.lastError)).toEqual([null, null, null]);
    await world.advance(poll);
    healthy();
    expect(await refresh()).toBe(11);
  });

  it('are asked for again when the worker that took the sources was killed', async () => {
    await world.database.sql`insert into price_sources (name) select unnest(${SOURCES}::text[])`;
    // The lease of a worker that never came back.
    await world.database.sql`update price_sources set next_at = sluice_now() + interval '10 seconds'`;
    expect(await refresh()).toBe(0);
    await world.advance(10);
    healthy();
    expect(await refresh()).toBe(11);
  });

  it('of quick sources do not wait for a slow one', async () => {
    says('coinbase', HEALTHY.coinbase, { delayMs: 60_000 });
    healthy('kraken', 'bitstamp');
    let ended = false;
    const running = refresh().finally(() => {
      ended = true;
    });
    await waitFor(async () => (await fresh('ETH')) === '2500 median of bitstamp, kraken', { what: 'a price of the quick ones' });
    expect(ended).toBe(false);
    expect(await running).toBe(8);
    expect(await listPriceSources(world.deps.db.sql)).toMatchObject([
      { name: 'bitstamp' },
      { name: 'coinbase', failures: 1, lastError: 'timeout: no answer in time' },
      { name: 'kraken' },
    ]);
  });

  it('are shown to the operator with their age, where there is none too, and how the sources are doing', async () => {
    await world.setPrice('USDC', '7');
    says('coinbase', { ETH: '2500' });
    says('kraken', { ETH: '2510' });
    fails('bitstamp');
    await refresh();
    await world.advance(poll);
    const { data } = await showPrices(deps);
    const { mode, items, sources } = data as { mode: string; items: { symbol: string; ageSeconds: number }[]; sources: unknown[] };
    const item = (symbol: string) => items.find((one) => one.symbol === symbol);
    expect(mode).toBe('http');
    expect(item('ETH')).toMatchObject({ usd: '2505', source: 'median of coinbase, kraken', usable: true });
    expect(item('ETH')?.ageSeconds).toBeGreaterThanOrEqual(poll);
    expect(item('USDC')).toMatchObject({ usd: '7', source: 'static', usable: false });
    await world.deps.db.transaction((tx) => deletePrice(tx, 'fiat:EUR'));
    expect((await showPrices(deps)).data).toMatchObject({
      items: expect.arrayContaining([{ symbol: 'fiat:EUR', usd: null, source: null, at: null, ageSeconds: null, usable: false }]),
    });
    expect(sources).toMatchObject([
      { name: 'bitstamp', failures: 1, lastError: 'status: answered 503' },
      { name: 'coinbase', failures: 0 },
      { name: 'kraken', failures: 0 },
    ]);
  });

  it('are reported with their age, and failures by source from zero on', async () => {
    healthy('kraken', 'bitstamp');
    fails('coinbase');
    await refresh();
    const taken = Number(await metric('sluice_price_timestamp_seconds{asset="ETH"}'));
    expect(Math.abs(taken - Date.now() / 1_000)).toBeLessThan(30);
    expect(await metric('sluice_price_timestamp_seconds{asset="fiat:EUR"}')).toBeUndefined();
    expect(await metric('sluice_price_fetch_errors_total{source="coinbase"}')).toBe('1');
    expect(await metric('sluice_price_fetch_errors_total{source="kraken"}')).toBe('0');
  });
});

describe('when sources fail', () => {
  it('one of three down changes nothing but the list of sources', async () => {
    healthy('coinbase', 'kraken');
    fails('bitstamp');
    await refresh();
    expect(await fresh('ETH')).toBe('2505 median of coinbase, kraken');
  });

  it('two of three down keep the last good price for 120 s and no longer; the first that return bring it back', async () => {
    healthy();
    await refresh();
    for (let round = 1; round <= 3; round += 1) {
      await world.advance(poll);
      healthy('kraken');
      fails('coinbase');
      fails('bitstamp');
      await refresh();
      nock.cleanAll();
      expect(await deps.prices.fresh('ETH')).toMatchObject({ source: 'median of bitstamp, coinbase, kraken' });
    }
    await world.advance(120 - 3 * poll - 10);
    expect(await fresh('ETH')).toBe('2500 median of bitstamp, coinbase, kraken');
    await world.advance(11);
    expect(await fresh('ETH')).toBeUndefined();
    expect(await metric('sluice_price_timestamp_seconds{asset="ETH"}')).toBeDefined();

    await world.advance(POLICY.priceBackoffMaximumSeconds);
    healthy('kraken', 'bitstamp');
    fails('coinbase');
    await refresh();
    expect(await fresh('ETH')).toBe('2500 median of bitstamp, kraken');
  });

  it('all down: nothing is thrown, and each is left alone for longer and longer', async () => {
    const pauses: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      for (const source of SOURCES) fails(source);
      expect(await refresh()).toBe(0);
      expect(nock.isDone()).toBe(true);
      const [row] = await world.database.sql<[{ pause: number }]>`
        select round(extract(epoch from next_at - sluice_now()))::int as pause from price_sources where name = 'kraken'`;
      pauses.push(row.pause);
      await world.advance(row.pause + 1);
    }
    // Less what the round itself has taken since.
    expect(pauses.map((pause) => [30, 60, 120, 240, 480, 600].find((whole) => pause <= whole && pause > whole - 20))).toEqual([
      30, 60, 120, 240, 480, 600, 600,
    ]);
    expect(await fresh('ETH')).toBeUndefined();
    healthy();
    await refresh();
    expect(await listPriceSources(world.deps.db.sql)).toMatchObject(SOURCES.toSorted().map((name) => ({ name, failures: 0 })));
    expect(await fresh('ETH')).toBe('2500 median of bitstamp, coinbase, kraken');
  });

  it('one that says when to come back is not asked before, nor left alone for ever', async () => {
    healthy('coinbase', 'kraken');
    fails('bitstamp', 429, { 'retry-after': '300' });
    await refresh();
    const pause = async (): Promise<number> => {
      const [row] = await world.database.sql<[{ pause: number }]>`
        select round(extract(epoch from next_at - sluice_now()))::int as pause from price_sources where name = 'bitstamp'`;
      return row.pause;
    };
    // Less what the round itself has taken since.
    const about = async (seconds: number): Promise<void> => {
      const left = await pause();
      expect(left).toBeLessThanOrEqual(seconds);
      expect(left).toBeGreaterThan(seconds - 60);
    };
    await about(300);
    await world.advance(300);
    healthy('coinbase', 'kraken');
    fails('bitstamp', 429, { 'retry-after': '999999' });
    await refresh();
    await about(POLICY.priceRetryAfterMaximumSeconds);
  });

  it.each([
    ['a thousandfold price', '2500000'],
    ['zero', '0'],
    ['a negative price', '-2500'],
    ['a price beyond all reason', '1e45'],
  ])('%s of one source is dropped, and its other prices count', async (_case, price) => {
    says('kraken', { ...HEALTHY.kraken, ETH: price });
    healthy('coinbase', 'bitstamp');
    await refresh();
    expect(await fresh('ETH')).toBe('2495 median of bitstamp, coinbase');
    expect(await fresh('USDT')).toBe('1 median of bitstamp, coinbase, kraken');
  });

  it('prices a source itself dates before the last two minutes, or ahead of now, are dropped', async () => {
    const now = Math.floor(Date.now() / 1_000);
    healthy('coinbase', 'kraken');
    says('bitstamp', HEALTHY.bitstamp, { timestamp: now - 130 });
    await refresh();
    expect(await fresh('ETH')).toBe('2505 median of coinbase, kraken');
    await world.advance(poll);
    healthy('coinbase', 'kraken');
    says('bitstamp', HEALTHY.bitstamp, { timestamp: now + 3_600 });
    await refresh();
    expect(await fresh('ETH')).toBe('2505 median of coinbase, kraken');
    expect((await listPriceSources(world.deps.db.sql))[0]).toMatchObject({
      name: 'bitstamp',
      lastError: 'malformed: every price in the answer is stale or absurd',
    });
  });

  it('a deployment that wants fresher prices wants them of sources that date theirs, too', async () => {
    const strict = { ...deps, config: { ...deps.config, SLUICE_PRICE_POLL_SECONDS: 5, SLUICE_PRICE_FRESH_SECONDS: 20 } };
    healthy('coinbase', 'kraken');
    says('bitstamp', HEALTHY.bitstamp, { timestamp: Math.floor(Date.now() / 1_000) - 60 });
    await refreshPrices.run(strict);
    expect(await fresh('ETH')).toBe('2505 median of coinbase, kraken');
  });

  it('two sources that disagree about one coin take that coin away, and no other', async () => {
    says('coinbase', { ETH: '2000', USDT: '1' });
    says('kraken', { ETH: '2510', USDT: '1.001' });
    fails('bitstamp');
    await refresh();
    expect(await fresh('ETH')).toBeUndefined();
    expect(await fresh('USDT')).toBe('1.0005 median of coinbase, kraken');
  });

  it('garbage of every kind costs that source this round and nothing else', async () => {
    for (const garbage of [
      '<html>busy</html>',
      '{"data":',
      '[]',
      '{}',
      'null',
      '"2500"',
      '\0\x1b[31m',
      '{"error":["\\u0000\\u001b[31m"]}',
      '{"error":[{"toString":""}]}',
    ]) {
      interceptor('kraken').reply(200, garbage);
      healthy('coinbase', 'bitstamp');
      await refresh();
      expect(await fresh('ETH'), garbage).toBe('2495 median of bitstamp, coinbase');
      const [kraken] = (await listPriceSources(world.deps.db.sql)).filter((one) => one.name === 'kraken');
      // Operators read this in a terminal.
      expect(kraken?.lastError).toMatch(/^malformed: [^\p{Cc}]+$/u);
      await world.advance(POLICY.priceBackoffMaximumSeconds);
    }
  });
});
