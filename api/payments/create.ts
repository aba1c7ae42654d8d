import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import type { FeePayer, NewPayment, Payment } from '#api/store/payments.ts';
import { invalid } from '#shared/core/errors.ts';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
import { isMoney, parseAmount, type Usd, zero } from '#shared/core/money.ts';
import { assertFixedAmounts } from './arrangement.ts';
import { commitDraft, type Draft, gatewayTerms } from './create-draft.ts';
import { type AssetOverride, pricePayment, quoteOffers } from './quote.ts';
import { type Asking, type CheckoutBody, type Optional, readCheckout } from './read-request.ts';
import { paymentView } from './view.ts';

/** The create-payment request (contract 2.1) after its shape was checked; null reads as absent. */
export interface CreatePaymentBody extends CheckoutBody {
  currencyCode: string;
  amount: string;
  type?: Optional<'DIRECT' | 'PAYLINK'>;
  paylinkId?: Optional<string>;
  /** MERCHANT or CUSTOMER. On a monthly-billed gateway any value is accepted and ignored. */
  txFeePayer?: Optional<string>;
  commissionFeePayer?: Optional<string>;
  overAcceptableDiff?: Optional<string>;
  underAcceptableDiff?: Optional<string>;
  acceptableDiffKind?: Optional<'ABSOLUTE' | 'PERCENTAGE'>;
  checkAmountDeviation?: Optional<boolean>;
  assets?: Optional<readonly AssetOverride[]>;
  isSandbox?: Optional<boolean>;
}

export interface CreatePayment extends Asking<CreatePaymentBody> {
  commit: Commit;
}

/**
 * Creates a payment with offers at prices locked now (contract 2.1, 2.2; decisions 2, 9). Prices are fetched before the
 * transaction; the transaction writes the payment, its first event and its offers.
 * @throws what `draftPayment` throws
 */
export async function createPayment(deps: Deps, { commit, ...asking }: CreatePayment): Promise<Reply> {
  const draft = await draftPayment(deps, asking);
  const { offers } = draft;
  const view = (payment: Payment): object => paymentView(deps, { payment, offers, addresses: [], deposits: [] });
  return commitDraft(deps, commit, draft, draft.payment.checkoutMode === 'API' ? view : undefined);
}

/**
 * Checks and prices a create-payment request without writing anything. Create stores the result, and preview shows it.
 * @throws validation_error naming the field; forbidden for a platform-billed gateway or a source address not on the allowlist
 */
export async function draftPayment(deps: Deps, asking: Asking<CreatePaymentBody>): Promise<Draft> {
  const { gateway, body } = asking;
  assertFixedAmounts(gateway);
  const { settings } = gateway.settings;
  const checkout = readCheckout(deps, asking);
  const payment: NewPayment = {
    id: uuidFrom(deps.randomBytes(16)),
    ...gatewayTerms(gateway),
    ...checkout,
    type: body.type ?? 'DIRECT',
    paylinkId: readPaylink(body),
    openAmount: false,
    minimumUsd: null,
    sandbox: body.isSandbox ?? false,
    ...(await pricePayment(deps, body)),
    ...feePayers(gateway, body),
    overTolerance: readTolerance(body.overAcceptableDiff ?? settings.overAcceptableDiff, 'overAcceptableDiff'),
    underTolerance: readTolerance(body.underAcceptableDiff ?? settings.underAcceptableDiff, 'underAcceptableDiff'),
    toleranceKind: body.acceptableDiffKind ?? settings.acceptableDiffKind,
    checkAmountDeviation: body.checkAmountDeviation ?? settings.checkAmountDeviation,
  };
  return { payment, offers: await quoteOffers(deps, gateway.settings.assetIds, payment, body.assets ?? null) };
}

/** A monthly-billed gateway's payer never sees a fee, whatever the request says (contract 2.1). */
function feePayers({ billing, settings }: Gateway, body: CreatePaymentBody): { txFeePayer: FeePayer; commissionFeePayer: FeePayer } {
  if (billing === 'MONTHLY') return { txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' };
  return {
    txFeePayer: readPayer(body.txFeePayer ?? settings.settings.txFeePayer, 'txFeePayer'),
    commissionFeePayer: readPayer(body.commissionFeePayer ?? settings.settings.commissionFeePayer, 'commissionFeePayer'),
  };
}

function readPayer(text: string, field: string): FeePayer {
  if (text !== 'MERCHANT' && text !== 'CUSTOMER') throw invalid(field, 'must be one of MERCHANT, CUSTOMER');
  return text;
}

function readPaylink(body: CreatePaymentBody): string | null {
  if (body.type !== 'PAYLINK') return null;
  if (body.paylinkId === undefined || body.paylinkId === null) throw invalid('paylinkId', 'is required when type is PAYLINK');
  if (!isUuid(body.paylinkId)) throw invalid('paylinkId', 'must be a UUID');
  return body.paylinkId;
}

/** The money format allows a leading minus; it means no tolerance (decisions 1). */
function readTolerance(text: string, field: string): Usd {
  if (text.startsWith('-') && isMoney(text.slice(1))) return zero;
  return parseAmount(text, field);
}
