import type { Deps, Reply } from '#api/deps.ts';
import { formatAmount, formatCents } from '#shared/core/money.ts';
import { type CreatePaymentBody, draftPayment } from './create.ts';
import type { Draft } from './create-draft.ts';
import { previewDeposit, type WhatIf } from './preview-deposit.ts';
import type { Asking, Optional } from './read-request.ts';
import { offerView } from './view.ts';

export interface PreviewBody extends CreatePaymentBody {
  whatIf?: Optional<WhatIf>;
}

/**
 * Prices a create-payment request with the code that create uses, and writes nothing. With `whatIf` it also judges a hypothetical deposit
 * (decisions 2, 3).
 * @throws what `draftPayment` throws; validation_error naming a field of whatIf
 */
export async function previewPayment(deps: Deps, asking: Asking<PreviewBody>): Promise<Reply> {
  const draft = await draftPayment(deps, asking);
  const { whatIf } = asking.body;
  const judged = whatIf === undefined || whatIf === null ? {} : { whatIf: await previewDeposit(deps, draft, whatIf) };
  return { status: 200, data: { ...previewView(deps, draft), ...judged } };
}

function previewView(deps: Deps, { payment, offers }: Draft): object {
  return {
    checkoutMode: payment.checkoutMode,
    currencyCode: payment.currencyCode,
    amount: payment.amount,
    amountUsd: formatCents(payment.amountUsd),
    ...(payment.fiatRate !== null && { fiatRate: formatAmount(payment.fiatRate) }),
    timeoutSeconds: payment.timeoutSeconds,
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
    offers: offers.map((offer) => offerView(deps, { payment, addresses: [] }, offer)),
  };
}
