import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import type { FeePayer, NewPayment } from '#api/store/payments.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { parseTrusted, zero } from '#shared/core/money.ts';
import { assertOpenAmounts } from './arrangement.ts';
import { commitDraft, type Draft, gatewayTerms } from './create-draft.ts';
import { quoteOpenOffers, readCurrency } from './quote.ts';
import { type Asking, type CheckoutBody, type Optional, readCheckout } from './read-request.ts';

/** The open-amount request (contract 4.1) after its shape was checked; null reads as absent. */
export interface OpenAmountBody extends CheckoutBody {
  currencyCode?: Optional<string>;
}

export interface CreateOpenAmount extends Asking<OpenAmountBody> {
  commit: Commit;
}

/** The display currency when none is given (contract 4.1). */
const DISPLAY_CURRENCY = 'USD';

/**
 * Creates a payment whose amount the payer chooses (contract 4.1). Its amounts are 0 until the deciding deposit fills them in; only the gateway's
 * minimum judges it.
 * @throws forbidden on a gateway not provisioned for it, or from an address off the allowlist; validation_error naming the field
 */
export async function createOpenAmountPayment(deps: Deps, { commit, ...asking }: CreateOpenAmount): Promise<Reply> {
  return commitDraft(deps, commit, await draftOpenAmount(deps, asking));
}

async function draftOpenAmount(deps: Deps, asking: Asking<OpenAmountBody>): Promise<Draft> {
  const { gateway, body } = asking;
  assertOpenAmounts(gateway);
  const { openAmount, assetIds } = gateway.settings;
  const checkout = readCheckout(deps, asking);
  const payment: NewPayment = {
    id: uuidFrom(deps.randomBytes(16)),
    ...gatewayTerms(gateway),
    ...checkout,
    type: 'DIRECT',
    paylinkId: null,
    openAmount: true,
    minimumUsd: parseTrusted(openAmount.minAmountUsd),
    sandbox: false,
    // A currency without a rate is refused here, because its payments could never be filled in.
    ...(await readCurrency(deps, body.currencyCode ?? DISPLAY_CURRENCY)),
    amount: '0',
    amountUsd: zero,
    ...feePayers(gateway),
    // Tolerances do not apply (contract 3.1).
    overTolerance: zero,
    underTolerance: zero,
    toleranceKind: 'ABSOLUTE',
    checkAmountDeviation: true,
  };
  return { payment, offers: await quoteOpenOffers(deps, { assetIds, limit: openAmount.assetIds }, payment.id) };
}

/** The payer's coins bear no fee if the platform bills the gateway or covers its fees (contract 1, 2.1). */
function feePayers({ billing, settings }: Gateway): { txFeePayer: FeePayer; commissionFeePayer: FeePayer } {
  if (billing !== 'STANDARD') return { txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' };
  const { txFeePayer, commissionFeePayer } = settings.settings;
  return { txFeePayer, commissionFeePayer };
}
