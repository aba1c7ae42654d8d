import { parseWebhookTarget } from '#api/clients/webhook-target.ts';
import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { appendEvent } from '#api/store/advance.ts';
import { listEnabledAssets, type StoredAsset } from '#api/store/assets.ts';
import { isActiveCurrency } from '#api/store/currencies.ts';
import { insertOffers, listOffers, type NewOffer } from '#api/store/payment-offers.ts';
import { type FeePayer, insertPayment, type JsonObject, type NewPayment } from '#api/store/payments.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
import { isMoney, ONE, parseAmount, type Usd, zero } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import { buildOffer, invoiceUsd } from '#state-machines/payment/offer.ts';
import { checkAllowlist } from './load.ts';
import { checkoutUrl } from './urls.ts';
import { paymentView } from './view.ts';
import { webhookPolicy } from './webhook-policy.ts';

type Optional<T> = T | null | undefined;

/** The create-payment request (contract 2.1) after its shape was checked; null reads as absent. */
export interface CreatePaymentBody {
  currencyCode: string;
  amount: string;
  type?: Optional<'DIRECT' | 'PAYLINK'>;
  paylinkId?: Optional<string>;
  checkoutMode?: Optional<'HOSTED' | 'API'>;
  callbackUrl?: Optional<string>;
  callbackParams?: Optional<JsonObject>;
  webhookUrl?: Optional<string>;
  webhookParams?: Optional<JsonObject>;
  timeoutSeconds?: Optional<number>;
  txFeePayer?: Optional<'MERCHANT' | 'CUSTOMER'>;
  commissionFeePayer?: Optional<'MERCHANT' | 'CUSTOMER'>;
  overAcceptableDiff?: Optional<string>;
  underAcceptableDiff?: Optional<string>;
  acceptableDiffKind?: Optional<'ABSOLUTE' | 'PERCENTAGE'>;
  checkAmountDeviation?: Optional<boolean>;
  assets?: Optional<readonly { assetId: string; assetPriceUsd: string }[]>;
  language?: Optional<string>;
  isSandbox?: Optional<boolean>;
}

export interface CreatePayment {
  gateway: Gateway;
  body: CreatePaymentBody;
  clientIp: string;
  commit: Commit;
}

/** The money format has at most 38 integer digits; an offer that needs more could not be shown. */
const OFFER_LIMIT = 10n ** 38n * ONE;

/**
 * Creates a payment with offers at prices locked now (contract 2.1, 2.2; decisions 2, 9). Prices are fetched before the
 * transaction; the transaction writes the payment, its first event and its offers.
 * @throws validation_error naming the field; forbidden for a platform-billed gateway or a source address not on the allowlist
 */
export async function createPayment(deps: Deps, { gateway, body, clientIp, commit }: CreatePayment): Promise<Reply> {
  if (gateway.billing === 'PLATFORM') throw new ServiceError('forbidden', { message: 'This gateway creates open-amount payments only.' });
  const checkoutMode = body.checkoutMode ?? 'HOSTED';
  if (checkoutMode === 'API') checkApiMode(gateway, body, clientIp);

  const { currencyCode, amountUsd } = await priceInvoice(deps, body);
  const payers = feePayers(gateway, body);
  const payment: NewPayment = {
    id: uuidFrom(deps.randomBytes(16)),
    gatewayId: gateway.id,
    checkoutMode,
    type: body.type ?? 'DIRECT',
    paylinkId: readPaylink(body),
    sandbox: body.isSandbox ?? false,
    currencyCode,
    amount: body.amount,
    amountUsd,
    ...payers,
    commissionBps: gateway.settings.settings.commissionBps,
    commissionMinimumUsd: parseAmount(gateway.settings.settings.commissionMinUsd, 'commissionMinUsd'),
    overTolerance: readTolerance(body.overAcceptableDiff ?? gateway.settings.settings.overAcceptableDiff, 'overAcceptableDiff'),
    underTolerance: readTolerance(body.underAcceptableDiff ?? gateway.settings.settings.underAcceptableDiff, 'underAcceptableDiff'),
    toleranceKind: body.acceptableDiffKind ?? gateway.settings.settings.acceptableDiffKind,
    checkAmountDeviation: body.checkAmountDeviation ?? gateway.settings.settings.checkAmountDeviation,
    callbackUrl: checkoutMode === 'HOSTED' ? readCallbackUrl(body.callbackUrl) : null,
    callbackParams: checkoutMode === 'HOSTED' ? (body.callbackParams ?? null) : null,
    webhookUrl: readWebhookUrl(deps, body.webhookUrl, checkoutMode),
    webhookParams: body.webhookParams ?? null,
    language: body.language ?? null,
    timeoutSeconds: readTimeout(body.timeoutSeconds),
    graceSeconds: gateway.settings.settings.lateCaptureGraceSeconds,
  };
  const offers = await quoteOffers(deps, gateway, payment, body.assets ?? null);

  const reply = await commit(async (tx) => {
    const stored = await insertPayment(tx, payment);
    await appendEvent(tx, 'payment', { id: payment.id, event: 'CREATED', from: null, to: 'PENDING', facts: {}, actor: 'merchant' });
    await insertOffers(tx, payment.id, offers);
    const data = { paymentUid: payment.id, paymentUrl: `${checkoutUrl(deps.config)}/p/${payment.id}` };
    if (checkoutMode === 'HOSTED') return { status: 201, data, resourceId: payment.id };
    const view = paymentView(deps, { payment: stored, offers: await listOffers(tx, payment.id), addresses: [], deposits: [] });
    return { status: 201, data: { ...data, payment: view }, resourceId: payment.id };
  });
  deps.metrics?.paymentsCreated.inc({ mode: checkoutMode, kind: 'fixed', sandbox: String(payment.sandbox) });
  return reply;
}

/** API mode is server to server: no browser to send anywhere, and only known servers may speak (contract 4.1). */
function checkApiMode(gateway: Gateway, body: CreatePaymentBody, clientIp: string): void {
  if (gateway.settings.apiAllowlist.length === 0) throw invalid('checkoutMode', 'API needs a server-IP allowlist, and this gateway has none');
  checkAllowlist(gateway, clientIp);
  if (body.callbackUrl !== undefined && body.callbackUrl !== null) throw invalid('callbackUrl', 'must not be sent when checkoutMode is API');
}

async function priceInvoice(deps: Deps, body: CreatePaymentBody): Promise<{ currencyCode: string; amountUsd: Usd }> {
  const currencyCode = body.currencyCode.toUpperCase();
  if (!(await isActiveCurrency(deps.db.sql, currencyCode))) throw invalid('currencyCode', 'is not a supported currency');
  const invoiceAmount = parseAmount<'usd'>(body.amount, 'amount');
  if (invoiceAmount <= 0n) throw invalid('amount', 'must be greater than 0');
  if (currencyCode === 'USD') return { currencyCode, amountUsd: invoiceAmount };
  const rate = await deps.prices.fresh(`fiat:${currencyCode}`);
  if (rate === undefined) throw invalid('currencyCode', `has no current exchange rate (${currencyCode})`);
  return { currencyCode, amountUsd: invoiceUsd(invoiceAmount, rate.usd) };
}

/** A monthly-billed gateway's payer never sees a fee, whatever the request says (contract 2.1). */
function feePayers(gateway: Gateway, body: CreatePaymentBody): { txFeePayer: FeePayer; commissionFeePayer: FeePayer } {
  if (gateway.billing === 'MONTHLY') return { txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' };
  const { txFeePayer, commissionFeePayer } = gateway.settings.settings;
  return { txFeePayer: body.txFeePayer ?? txFeePayer, commissionFeePayer: body.commissionFeePayer ?? commissionFeePayer };
}

function readPaylink(body: CreatePaymentBody): string | null {
  if (body.type !== 'PAYLINK') return null;
  if (body.paylinkId === undefined || body.paylinkId === null) throw invalid('paylinkId', 'is required when type is PAYLINK');
  if (!isUuid(body.paylinkId)) throw invalid('paylinkId', 'must be a UUID');
  return body.paylinkId;
}

/** A leading minus is the one sign the money format allows, and means no tolerance (decisions 1). */
function readTolerance(text: string, field: string): Usd {
  if (text.startsWith('-') && isMoney(text.slice(1))) return zero;
  return parseAmount(text, field);
}

/** The browser goes there, so localhost is fine and anything but http and https is not (decisions 7). */
function readCallbackUrl(text: Optional<string>): string {
  if (text === undefined || text === null) throw invalid('callbackUrl', 'is required when checkoutMode is HOSTED');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (text.length > 2_048 || /[\u0000-\u0020\u007f\\]/.test(text) || !/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw invalid('callbackUrl', 'must be an absolute http or https URL of at most 2048 characters');
  }
  return text;
}

function readWebhookUrl(deps: Deps, text: Optional<string>, checkoutMode: 'HOSTED' | 'API'): string | null {
  if (text === undefined || text === null) {
    if (checkoutMode === 'API') throw invalid('webhookUrl', 'is required when checkoutMode is API');
    return null;
  }
  const target = parseWebhookTarget(text, webhookPolicy(deps.config));
  if (!target.ok) throw invalid('webhookUrl', target.problem);
  return text;
}

/** No upper bound: what no integer column could hold is the same as for ever, since the deadline saturates anyway (contract 2.1). */
function readTimeout(seconds: Optional<number>): number {
  return seconds === undefined || seconds === null || seconds <= 0 ? POLICY.timeoutSeconds : Math.min(seconds, Number.MAX_SAFE_INTEGER);
}

type Quoted = { asset: StoredAsset; priceUsd: Usd; source: string };

/** Prices every asset the payment is offered in. @throws validation_error when none is left, or an override names a wrong one */
async function quoteOffers(
  deps: Deps,
  gateway: Gateway,
  payment: NewPayment,
  overrides: readonly { assetId: string; assetPriceUsd: string }[] | null,
): Promise<NewOffer[]> {
  const enabled = (await listEnabledAssets(deps.db.sql, gateway.settings.assetIds)).filter((asset) => !asset.networkPaused);
  const quoted = overrides === null ? await priceAssets(deps, enabled) : readOverrides(enabled, overrides);
  if (quoted.length === 0) {
    throw overrides === null
      ? invalid('assets', 'none of the enabled assets has a current price, so the payment cannot be offered')
      : invalid('assets', 'must name at least one asset');
  }
  const offers = quoted.flatMap(({ asset, priceUsd, source }) => {
    const figures = buildOffer({
      principalUsd: payment.amountUsd,
      assetPriceUsd: priceUsd,
      decimals: asset.decimals,
      networkFee: asset.networkFee,
      commissionBps: payment.commissionBps,
      commissionMinimumUsd: payment.commissionMinimumUsd,
      txFeePayer: payment.txFeePayer,
      commissionFeePayer: payment.commissionFeePayer,
    });
    if (figures.totalValue >= OFFER_LIMIT) throw invalid('amount', `is too large to be paid in ${asset.symbol}`);
    // Dust never resolves a payment, so an offer that asks for dust could not be paid (decisions 3).
    if (isDust(figures.totalValue, asset.dustFloor)) return [];
    return [{ id: uuidFrom(deps.randomBytes(16)), assetId: asset.id, priceUsd, priceSource: source, ...figures, networkFee: asset.networkFee }];
  });
  if (offers.length === 0) throw invalid('amount', 'is too small to be paid in any of the offered assets');
  return offers;
}

async function priceAssets(deps: Deps, assets: readonly StoredAsset[]): Promise<Quoted[]> {
  const symbols = [...new Set(assets.map((asset) => asset.symbol))];
  const prices = new Map(await Promise.all(symbols.map(async (symbol) => [symbol, await deps.prices.fresh(symbol)] as const)));
  return assets.flatMap((asset) => {
    const price = prices.get(asset.symbol);
    return price === undefined ? [] : [{ asset, priceUsd: price.usd, source: price.source }];
  });
}

function readOverrides(enabled: readonly StoredAsset[], overrides: readonly { assetId: string; assetPriceUsd: string }[]): Quoted[] {
  const seen = new Set<string>();
  return overrides.map((override, index) => {
    const field = `assets[${index}].assetId`;
    const id = override.assetId.toLowerCase();
    const asset = enabled.find((one) => one.id === id);
    if (asset === undefined) throw invalid(field, 'is not one of the enabled assets of this gateway');
    if (seen.has(id)) throw invalid(field, 'is listed twice');
    seen.add(id);
    const priceUsd = parseAmount<'usd'>(override.assetPriceUsd, `assets[${index}].assetPriceUsd`);
    if (priceUsd <= 0n) throw invalid(`assets[${index}].assetPriceUsd`, 'must be greater than 0');
    return { asset, priceUsd, source: 'merchant' };
  });
}
