import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openPriceSources, PRICE_SOURCES } from '#api/clients/prices/registry.ts';
import type { PriceSourceError, Quote } from '#api/clients/prices/provider.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { ConfigError } from '#shared/platform/config.ts';
import { ANSWERS } from './answers.ts';

beforeAll(() => {
  // Another file of this worker may have put it away.
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
});
afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
});
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

const SYMBOLS = ['BTC', 'ETH', 'USDT', 'USDC', 'TRX', 'MATIC', 'fiat:EUR', 'fiat:JPY', 'fiat:AED', 'NEWCOIN', 'fiat:XXX'];

function source(name: string) {
  const kind = PRICE_SOURCES.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no source ${name}`);
  return { baseUrl: kind.baseUrl, provider: kind.open(kind.baseUrl) };
}
const ask = (name: string, symbols = SYMBOLS, milliseconds = 2_000): Promise<Quote[]> =>
  source(name).provider.quotes(symbols, AbortSignal.timeout(milliseconds));
const readable = (quotes: Quote[]): Record<string, string> => Object.fromEntries(quotes.map((one) => [one.symbol, `${formatAmount(one.price)} ${one.in}`]));
const problemOf = async (asking: Promise<Quote[]>): Promise<Pick<PriceSourceError, 'problem' | 'status' | 'retryAfterSeconds'>> => {
  const error = await asking.then(
    () => expect.fail('it answered'),
    (reason: PriceSourceError) => reason,
  );
  expect(error.name).toBe('PriceSourceError');
  return error;
};

describe('the answer of each source', () => {
  it.each([
    [
      'coinbase',
      {
        BTC: '62500 USD',
        ETH: '2500 USD',
        USDT: '0.999500249875062469 USD',
        MATIC: '0.5 USD',
        'fiat:EUR': '1.086956521739130435 USD',
        'fiat:JPY': '0.00666666666666667 USD',
        'fiat:AED': '0.272294077603812117 USD',
      },
    ],
    [
      'kraken',
      {
        BTC: '60001.1 USD',
        ETH: '2501.25 USD',
        USDT: '0.99961 USD',
        USDC: '0.9999 USD',
        TRX: '0.150123 USD',
        MATIC: '0.501 USD',
        'fiat:EUR': '1.0871 USD',
        'fiat:JPY': '0.006688963210702341 USD',
      },
    ],
    ['bitstamp', { BTC: '59999 USD', ETH: '2499.5 USD', USDT: '0.9997 USD', USDC: '1.00001 USD', MATIC: '0.4995 USD', 'fiat:EUR': '1.0866 USD' }],
    ['binance', { BTC: '60020.01 USDT', ETH: '2501.5 USDT', USDC: '1.0003 USDT', TRX: '0.1502 USDT', MATIC: '0.5003 USDT' }],
    [
      'coingecko',
      { BTC: '60005.123456789012345678 USD', ETH: '2500.5 USD', USDT: '0.999612 USD', USDC: '0.999901 USD', TRX: '0.150042 USD', MATIC: '0.500021 USD' },
    ],
    ['ecb', { 'fiat:EUR': '1.0872 USD', 'fiat:JPY': '0.006688815060908084 USD' }],
    ['er-api', { 'fiat:EUR': '1.086813976635538365 USD', 'fiat:JPY': '0.006687174000267487 USD', 'fiat:AED': '0.272294077603812117 USD' }],
  ] as const)('%s is read to the last digit, and knows nothing of what it does not list', async (name, expected) => {
    nock(source(name).baseUrl).get(ANSWERS[name].path).reply(200, ANSWERS[name].body);
    expect(readable(await ask(name))).toEqual(expected);
    expect(nock.isDone()).toBe(true);
  });

  it.each([
    ['bitstamp', 'BTC', '2026-11-21T12:00:00.000Z'],
    ['coingecko', 'BTC', '2026-11-21T11:59:31.000Z'],
    ['ecb', 'fiat:EUR', '2026-11-20T00:00:00.000Z'],
    ['er-api', 'fiat:EUR', '2026-11-21T00:00:01.000Z'],
  ] as const)('%s carries its own date', async (name, symbol, date) => {
    nock(source(name).baseUrl).get(ANSWERS[name].path).reply(200, ANSWERS[name].body);
    expect((await ask(name)).find((one) => one.symbol === symbol)?.at?.toISOString()).toBe(date);
  });

  it('is not asked for when the source knows none of the symbols', async () => {
    for (const name of ['kraken', 'binance', 'coingecko']) expect(await ask(name, ['NEWCOIN'])).toEqual([]);
  });

  it('takes no perpetual contract for the coin it follows', async () => {
    const body = [...(ANSWERS.bitstamp.body as object[]), { pair: 'BTC/USD', market_type: 'PERPETUAL', last: '1', timestamp: '1795262400' }];
    nock(source('bitstamp').baseUrl).get('/api/v2/ticker/').reply(200, body);
    expect(readable(await ask('bitstamp')).BTC).toBe('59999 USD');
  });
});

describe('a coin that a source no longer lists', () => {
  it('costs the others nothing at Kraken, which refuses the whole list', async () => {
    const tickers = { XXBTZUSD: { c: ['60000.0', '1'] }, XETHZUSD: { c: ['2500.0', '1'] } };
    nock(source('kraken').baseUrl)
      .get('/0/public/Ticker?pair=XBTUSD,ETHUSD,POLUSD')
      .reply(200, { error: ['EQuery:Unknown asset pair'] });
    nock(source('kraken').baseUrl)
      .get('/0/public/Ticker?pair=XBTUSD')
      .reply(200, { error: [], result: { XXBTZUSD: tickers.XXBTZUSD } });
    nock(source('kraken').baseUrl)
      .get('/0/public/Ticker?pair=ETHUSD')
      .reply(200, { error: [], result: { XETHZUSD: tickers.XETHZUSD } });
    nock(source('kraken').baseUrl)
      .get('/0/public/Ticker?pair=POLUSD')
      .reply(200, { error: ['EQuery:Unknown asset pair'] });
    expect(readable(await ask('kraken', ['BTC', 'ETH', 'POL']))).toEqual({ BTC: '60000 USD', ETH: '2500 USD' });
  });

  it('costs no more than those after it when Kraken tires of being asked one by one', async () => {
    const kraken = nock(source('kraken').baseUrl);
    const pair = (names: string) => kraken.get(`/0/public/Ticker?pair=${names}`);
    const tired = { error: ['EGeneral:Too many requests'] };
    pair('XBTUSD,ETHUSD,POLUSD').reply(200, { error: ['EQuery:Unknown asset pair'] });
    pair('XBTUSD').reply(200, { error: [], result: { XXBTZUSD: { c: ['60000.0', '1'] } } });
    pair('ETHUSD').reply(200, tired);
    expect(readable(await ask('kraken', ['BTC', 'ETH', 'POL']))).toEqual({ BTC: '60000 USD' });
    pair('XBTUSD,ETHUSD').reply(200, { error: ['EQuery:Unknown asset pair'] });
    pair('XBTUSD').reply(200, tired);
    expect(await problemOf(ask('kraken', ['BTC', 'ETH']))).toMatchObject({ problem: 'malformed', message: 'EGeneral:Too many requests' });
    expect(nock.isDone()).toBe(true);
  });

  it('costs the others nothing at Binance, which answers 400', async () => {
    const refusal = { code: -1121, msg: 'Invalid symbol.' };
    const market = (list: string) => `/api/v3/ticker/price?symbols=${encodeURIComponent(list)}`;
    nock(source('binance').baseUrl).get(market('["ETHUSDT","TRXUSDT"]')).reply(400, refusal);
    nock(source('binance').baseUrl)
      .get(market('["ETHUSDT"]'))
      .reply(200, [{ symbol: 'ETHUSDT', price: '2500.00000000' }]);
    nock(source('binance').baseUrl).get(market('["TRXUSDT"]')).reply(400, refusal);
    expect(readable(await ask('binance', ['ETH', 'TRX']))).toEqual({ ETH: '2500 USDT' });
  });
});

describe('a source that fails', () => {
  const NAMES = PRICE_SOURCES.map((one) => one.name as keyof typeof ANSWERS);
  const reply = (name: keyof typeof ANSWERS) => nock(source(name).baseUrl).get(ANSWERS[name].path);

  it.each(NAMES)('%s: unreachable, late, busy, broken, or talking of something else', async (name) => {
    reply(name).replyWithError('connect ECONNREFUSED');
    expect(await problemOf(ask(name))).toMatchObject({ problem: 'network' });
    reply(name).delayConnection(60_000).reply(200, ANSWERS[name].body);
    expect(await problemOf(ask(name, SYMBOLS, 50))).toMatchObject({ problem: 'timeout' });
    nock.abortPendingRequests();
    nock.cleanAll();
    reply(name).delayBody(60_000).reply(200, ANSWERS[name].body);
    expect(await problemOf(ask(name, SYMBOLS, 50))).toMatchObject({ problem: 'timeout' });
    nock.abortPendingRequests();
    nock.cleanAll();
    reply(name).reply(429, 'slow down', { 'retry-after': '77' });
    expect(await problemOf(ask(name))).toMatchObject({ problem: 'status', status: 429, retryAfterSeconds: 77 });
    reply(name).reply(503, 'maintenance');
    expect(await problemOf(ask(name))).toMatchObject({ problem: 'status', status: 503 });
    reply(name).reply(200, '<html><body>Checking your browser</body></html>', { 'content-type': 'text/html' });
    expect(await problemOf(ask(name))).toMatchObject({ problem: 'malformed' });
    reply(name).reply(200, '{"data":{"rates":');
    expect(await problemOf(ask(name))).toMatchObject({ problem: 'malformed' });
    reply(name).reply(200, 'null');
    await ask(name).then(
      (quotes) => expect(quotes).toEqual([]),
      (error: PriceSourceError) => expect(error.problem).toBe('malformed'),
    );
  });

  it('is not followed elsewhere', async () => {
    reply('coinbase').reply(302, '', { location: 'http://169.254.169.254/latest' });
    const elsewhere = nock('http://169.254.169.254').get('/latest').reply(200, '{}');
    expect(await problemOf(ask('coinbase'))).toMatchObject({ problem: 'status', status: 302 });
    expect(elsewhere.isDone()).toBe(false);
  });

  it('cannot fill the memory', async () => {
    reply('bitstamp').reply(200, `[${'{"pair":"X"},'.repeat(300_000)}{}]`);
    expect(await problemOf(ask('bitstamp'))).toMatchObject({ problem: 'too_large' });
  });
});

describe('the choice of sources', () => {
  const problemsOf = (providers: string[], urls: Record<string, string> = {}): string[] => {
    try {
      openPriceSources({ SLUICE_PRICE_PROVIDERS: providers, SLUICE_PRICE_PROVIDER_URLS: urls });
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };

  it('is all of them when none is named: at least three for coins and two for currencies', () => {
    const all = openPriceSources({ SLUICE_PRICE_PROVIDERS: [], SLUICE_PRICE_PROVIDER_URLS: {} });
    expect(all.filter((one) => one.covers.includes('crypto')).length).toBeGreaterThanOrEqual(3);
    expect(all.filter((one) => one.covers.includes('fiat')).length).toBeGreaterThanOrEqual(2);
  });

  it('is refused with every problem at once', () => {
    expect(problemsOf(['coinbase', 'kraken', 'nobody'], { someone: 'http://x' })).toEqual([
      expect.stringContaining('no source named nobody'),
      expect.stringContaining('no source named someone'),
      expect.stringContaining('at least 3 sources for crypto'),
    ]);
    expect(problemsOf(['coinbase', 'coingecko', 'binance'])).toEqual([expect.stringContaining('at least 2 sources for fiat')]);
    expect(problemsOf(['coinbase', 'kraken', 'binance'])).toEqual([]);
  });

  it('may point a source to a proxy', async () => {
    nock('http://proxy.example.com').get('/coinbase/v2/exchange-rates?currency=USD').reply(200, ANSWERS.coinbase.body);
    const [opened] = openPriceSources({ SLUICE_PRICE_PROVIDERS: [], SLUICE_PRICE_PROVIDER_URLS: { coinbase: 'http://proxy.example.com/coinbase' } });
    expect(readable((await opened?.provider.quotes(['BTC'], AbortSignal.timeout(2_000))) ?? [])).toEqual({ BTC: '62500 USD' });
  });
});
