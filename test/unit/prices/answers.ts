/** One good answer of every source, in the shape the source really uses; asked for the symbols of sources.test.ts. */
export const ANSWERS = {
  coinbase: {
    path: '/v2/exchange-rates?currency=USD',
    body: {
      data: {
        currency: 'USD',
        rates: { AED: '3.6725', BTC: '0.000016', ETH: '0.0004', EUR: '0.92', JPY: '149.999999999999925', POL: '2', USDC: '1', USDT: '1.0005', XDR: '0.73' },
      },
    },
  },
  kraken: {
    path: '/0/public/Ticker?pair=XBTUSD,ETHUSD,USDTUSD,USDCUSD,TRXUSD,POLUSD,EURUSD,USDJPY',
    body: {
      error: [],
      result: {
        XXBTZUSD: { a: ['60001.20000', '1', '1.000'], b: ['60001.10000', '2', '2.000'], c: ['60001.10000', '0.01026127'], t: [56819, 62596], o: '59000.00000' },
        XETHZUSD: { c: ['2501.25000', '0.00702654'] },
        USDTZUSD: { c: ['0.99961000', '100.0'] },
        USDCUSD: { c: ['0.99990000', '5.0'] },
        TRXUSD: { c: ['0.1501230', '10'] },
        POLUSD: { c: ['0.5010', '10'] },
        ZEURZUSD: { c: ['1.08710', '10'] },
        ZUSDZJPY: { c: ['149.500', '10'] },
      },
    },
  },
  bitstamp: {
    path: '/api/v2/ticker/',
    body: [
      {
        timestamp: '1795262400',
        open: '59000',
        high: '61000',
        low: '58000',
        last: '59999',
        volume: '100.0',
        vwap: '59500',
        bid: '59998',
        ask: '60000',
        side: '1',
        open_24: '59000',
        percent_change_24: '1.9',
        market_type: 'SPOT',
        pair: 'BTC/USD',
        market: 'BTC/USD',
      },
      { timestamp: '1795262400', last: '2499.5', pair: 'ETH/USD' },
      { timestamp: '1795262400', last: '0.99970', market_type: 'SPOT', pair: 'USDT/USD' },
      { timestamp: '1795262400', last: '1.00001', market_type: 'SPOT', pair: 'USDC/USD' },
      { timestamp: '1795262400', last: '0.49950', market_type: 'SPOT', pair: 'POL/USD' },
      { timestamp: '1795262400', last: '1.08660', market_type: 'SPOT', pair: 'EUR/USD' },
      { timestamp: '1795262400', last: '55000', market_type: 'SPOT', pair: 'BTC/EUR' },
    ],
  },
  binance: {
    path: `/api/v3/ticker/price?symbols=${encodeURIComponent('["BTCUSDT","ETHUSDT","USDCUSDT","TRXUSDT","POLUSDT"]')}`,
    body: [
      { symbol: 'BTCUSDT', price: '60020.01000000' },
      { symbol: 'ETHUSDT', price: '2501.50000000' },
      { symbol: 'POLUSDT', price: '0.50030000' },
      { symbol: 'TRXUSDT', price: '0.15020000' },
      { symbol: 'USDCUSDT', price: '1.00030000' },
    ],
  },
  coingecko: {
    path: '/api/v3/simple/price?ids=bitcoin,ethereum,tether,usd-coin,tron,polygon-ecosystem-token&vs_currencies=usd&include_last_updated_at=true&precision=full',
    // Text, because these numbers are not floats.
    body: `{"bitcoin":{"usd":60005.123456789012345678,"last_updated_at":1795262371},"ethereum":{"usd":2.5005e3,"last_updated_at":1795262371},
      "tether":{"usd":0.999612,"last_updated_at":1795262371},"usd-coin":{"usd":0.999901,"last_updated_at":1795262371},
      "tron":{"usd":0.150042,"last_updated_at":1795262371},"polygon-ecosystem-token":{"usd":0.500021,"last_updated_at":1795262371}}`,
  },
  ecb: {
    path: '/stats/eurofxref/eurofxref-daily.xml',
    body: `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
	<Cube>
		<Cube time='2026-11-20'>
			<Cube currency='USD' rate='1.0872'/>
			<Cube currency='JPY' rate='162.54'/>
			<Cube currency='GBP' rate='0.85986'/>
		</Cube>
	</Cube>
</gesmes:Envelope>`,
  },
  'er-api': {
    path: '/v6/latest/USD',
    body: `{"result":"success","provider":"https://www.exchangerate-api.com","time_last_update_unix":1795219201,"time_next_update_unix":1795305601,"time_eol_unix":0,
      "base_code":"USD","rates":{"USD":1,"AED":3.6725,"EUR":0.920120666,"JPY":149.540}}`,
  },
};
