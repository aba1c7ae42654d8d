import { pricePolicy, STATIC_SOURCE, usablePrice } from '#api/clients/prices.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { readClock } from '#api/store/clock.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { listPriceSources, deletePrice, listPricedSymbols, listPrices, upsertPrice } from '#api/store/prices.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readPositiveUsd } from './input.ts';

const SYMBOL = /^([A-Z0-9.]{1,16}|fiat:[A-Z]{3,8})$/;

/** GET /prices: what every ticker and currency costs, how old that is, and how the sources are doing. */
export async function showPrices(deps: Deps): Promise<Reply> {
  const [symbols, stored, sources] = await Promise.all([listPricedSymbols(deps.db.sql), listPrices(deps.db.sql), listPriceSources(deps.db.sql)]);
  const policy = pricePolicy(deps.config);
  const items = symbols.map((symbol) => {
    const price = stored.find((one) => one.symbol === symbol);
    if (price === undefined) return { symbol, usd: null, source: null, at: null, ageSeconds: null, usable: false };
    const ageSeconds = Math.floor((price.now.getTime() - price.at.getTime()) / 1_000);
    return { symbol, usd: formatAmount(price.usd), source: price.source, at: price.at, ageSeconds, usable: usablePrice(price, policy) !== undefined };
  });
  return { status: 200, data: { mode: deps.config.SLUICE_PRICE_SOURCE, items, sources } };
}

/**
 * PUT /prices/{symbol}: sets the static price of a ticker or of `fiat:<CODE>`; null takes it away, as if every source
 * had gone silent. Only where prices are static (development).
 */
export async function putPrice(deps: Deps, call: OperatorCall): Promise<Reply> {
  if (deps.config.SLUICE_PRICE_SOURCE !== 'static')
    throw new ServiceError('forbidden', { message: 'Prices come from their sources here; static prices are a development tool.' });
  const symbol = (call.params.symbol ?? '')
    .replace(/^fiat:/i, 'FIAT:')
    .toUpperCase()
    .replace(/^FIAT:/, 'fiat:');
  if (!SYMBOL.test(symbol)) throw invalid('symbol', 'must be a ticker or fiat:<CODE>');
  if (symbol === 'fiat:USD') throw invalid('symbol', 'the US dollar is worth exactly 1');
  const fields = fieldsOf(call.body);
  const usd = fields.usd === null ? null : readPositiveUsd(fields, 'usd');
  await deps.db.transaction(async (tx) => {
    if (usd === null) await deletePrice(tx, symbol);
    else await upsertPrice(tx, { symbol, usd, source: STATIC_SOURCE });
    await insertOperatorAction(tx, deps.operator, { action: 'price.set', target: symbol, details: { usd: usd === null ? null : formatAmount(usd) } });
  });
  const { now } = await readClock(deps.db.sql);
  return { status: 200, data: { symbol, usd: usd === null ? null : formatAmount(usd), source: STATIC_SOURCE, at: now } };
}
