import type { Deps, Price } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { MERCHANT_PRICE, type Offer } from '#api/store/payment-offers.ts';
import type { NewPayment } from '#api/store/payments.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { MONEY_LIMIT, parseAmount, type Usd, zero } from '#shared/core/money.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import { buildOffer, dollarValueOf, type OfferFigures } from '#state-machines/payment/offer.ts';
import { fiatSymbol } from './outcome.ts';

/** A merchant's own price of one asset (contract 2.1). */
export interface AssetOverride {
  assetId: string;
  assetPriceUsd: string;
}

/** An asset with the price it is offered at. A merchant's own price has no time. */
interface Quoted {
  asset: StoredAsset;
  priceUsd: Usd;
  source: string;
  at: Date | null;
}

const NOTHING_TO_OFFER = 'none of the enabled assets can be offered at the moment: each needs a network that takes payments';

/**
 * Finds a payment currency by its code, in any case, and its current rate (contract 2.1); the dollar needs no rate.
 * @throws validation_error naming currencyCode when it is unknown, inactive or without a current rate
 */
export async function readCurrency(deps: Deps, code: string): Promise<Pick<NewPayment, 'currencyCode' | 'fiatRate' | 'fiatSource' | 'fiatAt'>> {
  // Checked before upper-casing, because other alphabets have letters whose capitals are Latin ones.
  const currencyCode = /^[a-z]{3,8}$/i.test(code) ? code.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()) : '';
  if (!(await sharedReads(deps.db).isActiveCurrency(currencyCode))) throw invalid('currencyCode', 'is not a supported currency');
  if (currencyCode === 'USD') return { currencyCode, fiatRate: null, fiatSource: null, fiatAt: null };
  const rate = await deps.prices.fresh(fiatSymbol(currencyCode));
  if (rate === undefined) throw invalid('currencyCode', `has no current exchange rate (${currencyCode})`);
  return { currencyCode, fiatRate: rate.usd, fiatSource: rate.source, fiatAt: rate.at };
}

/**
 * Values a payment in US dollars at the current rate (decisions 2).
 * @throws validation_error naming currencyCode or amount
 */
export async function pricePayment(
  deps: Deps,
  { currencyCode, amount }: { currencyCode: string; amount: string },
): Promise<Pick<NewPayment, 'currencyCode' | 'amount' | 'amountUsd' | 'fiatRate' | 'fiatSource' | 'fiatAt'>> {
  const currency = await readCurrency(deps, currencyCode);
  const paymentAmount = parseAmount<'usd'>(amount, 'amount');
  if (paymentAmount <= 0n) throw invalid('amount', 'must be greater than 0');
  const amountUsd = currency.fiatRate === null ? paymentAmount : dollarValueOf(paymentAmount, currency.fiatRate);
  if (amountUsd >= MONEY_LIMIT) throw invalid('amount', 'is too large');
  return { ...currency, amount, amountUsd };
}

/**
 * Prices every asset that a payment is offered in: the gateway's assets at current prices, or those that the merchant names at the merchant's
 * prices (contract 2.1, decisions 2).
 * An asset that cannot be paid now is left out: its network is paused or gone, it has no fresh price, or its figure is below its dust floor or too
 * large.
 * @throws service_unavailable when none is left and one only lacks a fresh price; otherwise validation_error naming assets or amount when none is
 * left, or a wrong override
 */
export async function quoteOffers(
  deps: Deps,
  assetIds: readonly string[] | null,
  payment: NewPayment,
  overrides: readonly AssetOverride[] | null,
): Promise<Offer[]> {
  const enabled = await sharedReads(deps.db).enabledAssets(assetIds);
  const { quoted, unpriced } = overrides === null ? await priceAssets(deps, enabled) : { quoted: readOverrides(enabled, overrides), unpriced: [] };
  // Only a missing price passes by itself; anything else the caller must correct in the request.
  const nothing = (field: string, problem: string): ServiceError => (unpriced.some((asset) => isOpen(deps, asset)) ? noPrice(deps) : invalid(field, problem));
  const usable = quoted.filter(({ asset }) => isOpen(deps, asset));
  if (usable.length === 0) throw nothing('assets', overrides === null ? NOTHING_TO_OFFER : 'none of them is on a network that takes payments at the moment');
  const priced = usable.map((one) => ({ ...one, figures: figuresOf(deps, payment, one) }));
  const payable = priced.filter(({ figures }) => figures.totalValue < MONEY_LIMIT);
  if (payable.length === 0) throw nothing('amount', 'is too large to be paid in any of the offered assets');
  // Dust never resolves a payment, so an offer whose total is dust could not be paid (decisions 3).
  const offers = payable.filter(({ asset, figures }) => !isDust(figures.totalValue, asset.dustFloor));
  if (offers.length === 0) throw nothing('amount', 'is too small to be paid in any of the offered assets');
  return offers.map((one) => offerOf(deps, payment.id, one, one.figures));
}

/**
 * Offers of an open-amount payment: the gateway's enabled assets, limited to its arrangement's list if there is one, at current prices, which only
 * inform. Every other figure is a 0 placeholder (contract 2.3, 4.1).
 * @throws service_unavailable when no asset remains and one only lacks a fresh price, otherwise validation_error when none remains
 */
export async function quoteOpenOffers(
  deps: Deps,
  settings: { assetIds: readonly string[] | null; limit: readonly string[] | null },
  paymentId: string,
): Promise<Offer[]> {
  const limit = settings.limit === null ? null : new Set(settings.limit.map((id) => id.toLowerCase()));
  const enabled = (await sharedReads(deps.db).enabledAssets(settings.assetIds)).filter((asset) => limit === null || limit.has(asset.id));
  const { quoted, unpriced } = await priceAssets(deps, enabled);
  const usable = quoted.filter(({ asset }) => isOpen(deps, asset));
  if (usable.length === 0) throw unpriced.some((asset) => isOpen(deps, asset)) ? noPrice(deps) : invalid('assets', NOTHING_TO_OFFER);
  return usable.map((one) => offerOf(deps, paymentId, one, { amount: zero, txFee: zero, commissionFee: zero, totalValue: zero }));
}

/**
 * Whether the asset's network gives out new addresses (configured here, not paused by an operator), and coins that arrive there could be paid out
 * again.
 */
function isOpen(deps: Deps, asset: StoredAsset): boolean {
  return !asset.networkPaused && !asset.issuerStopped && !asset.unwatchable && deps.chains.has(asset.networkName);
}

function figuresOf(deps: Deps, payment: NewPayment, { asset, priceUsd }: Quoted): OfferFigures {
  const configured = deps.chains
    .get(asset.networkName)
    ?.config.assets.find((one) => one.symbol === asset.symbol && (one.contract === null) === (asset.contract === null));
  return buildOffer({
    quoteDecimals: configured?.quoteDecimals,
    principalUsd: payment.amountUsd,
    assetPriceUsd: priceUsd,
    decimals: asset.decimals,
    networkFee: asset.networkFee,
    commissionBps: payment.commissionBps,
    commissionMinimumUsd: payment.commissionMinimumUsd,
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
  });
}

function offerOf(deps: Deps, paymentId: string, { asset, priceUsd, source, at }: Quoted, figures: OfferFigures): Offer {
  const { symbol, type, contract, decimals, networkFee, networkId, networkName, networkSymbol, networkPaused, issuerStopped, unwatchable, family } = asset;
  const described = { symbol, type, contract, decimals, networkFee, networkId, networkName, networkSymbol, networkPaused, issuerStopped, unwatchable, family };
  const id = uuidFrom(deps.randomBytes(16));
  return { id, paymentId, assetId: asset.id, priceUsd, priceSource: source, priceAt: at, ...figures, ...described, selectedAt: null };
}

/** The error for a missing price: the request is correct, and the next round of prices may bring it (decisions 2). */
function noPrice({ config }: Deps): ServiceError {
  return new ServiceError('service_unavailable', {
    message: 'No asset that could be offered has a current price; retry shortly.',
    retryAfterSeconds: config.SLUICE_PRICE_POLL_SECONDS,
  });
}

/** Current prices of assets, and the assets that have none. */
async function priceAssets(deps: Deps, assets: readonly StoredAsset[]): Promise<{ quoted: Quoted[]; unpriced: StoredAsset[] }> {
  const symbols = [...new Set(assets.map((asset) => asset.symbol))];
  const prices = new Map<string, Price | undefined>(await Promise.all(symbols.map(async (symbol) => [symbol, await deps.prices.fresh(symbol)] as const)));
  const quoted = assets.flatMap((asset) => {
    const price = prices.get(asset.symbol);
    return price === undefined ? [] : [{ asset, priceUsd: price.usd, source: price.source, at: price.at }];
  });
  return { quoted, unpriced: assets.filter((asset) => prices.get(asset.symbol) === undefined) };
}

function readOverrides(enabled: readonly StoredAsset[], overrides: readonly AssetOverride[]): Quoted[] {
  if (overrides.length === 0) throw invalid('assets', 'must name at least one asset');
  const byId = new Map(enabled.map((asset) => [asset.id, asset]));
  const seen = new Set<string>();
  return overrides.map((override, index) => {
    const field = `assets[${index}].assetId`;
    const id = override.assetId.toLowerCase();
    const asset = byId.get(id);
    if (asset === undefined) throw invalid(field, 'is not one of the enabled assets of this gateway');
    if (seen.has(id)) throw invalid(field, 'is listed twice');
    seen.add(id);
    const priceUsd = parseAmount<'usd'>(override.assetPriceUsd, `assets[${index}].assetPriceUsd`);
    if (priceUsd <= 0n) throw invalid(`assets[${index}].assetPriceUsd`, 'must be greater than 0');
    return { asset, priceUsd, source: MERCHANT_PRICE, at: null };
  });
}
