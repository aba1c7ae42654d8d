/**
 * What a development deployment starts with: the invoice currencies it knows and prices that hold until somebody sets
 * others. Production reads its prices from sources and takes only the list of currencies from here.
 */

/** US dollars for one unit of each invoice currency. */
export const DEFAULT_CURRENCIES: Readonly<Record<string, string>> = {
  USD: '1',
  EUR: '1.08',
  GBP: '1.27',
  CHF: '1.13',
  CAD: '0.73',
  AUD: '0.66',
  JPY: '0.0067',
  TRY: '0.029',
  AED: '0.2723',
  INR: '0.0119',
  BRL: '0.18',
  PLN: '0.25',
  SEK: '0.095',
  NOK: '0.094',
  DKK: '0.145',
  CZK: '0.043',
  SGD: '0.74',
  HKD: '0.128',
  ZAR: '0.055',
  MXN: '0.055',
};

/** US dollars for one coin, by ticker. */
export const DEFAULT_PRICES: Readonly<Record<string, string>> = {
  ETH: '2500',
  BTC: '60000',
  TRX: '0.15',
  BNB: '600',
  POL: '0.5',
  USDT: '1',
  USDC: '1',
  DAI: '1',
};
