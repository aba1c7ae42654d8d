import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import { insertPayments, type NewPayment, type Payment } from '#api/store/payments.ts';
import { parseTrusted } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { currentTraceparent } from '#shared/platform/tracing.ts';
import { checkoutUrl } from './urls.ts';

/** A payment that was checked and priced but is not written yet. */
export interface Draft {
  payment: NewPayment;
  /** In listing order, each with its asset. */
  offers: readonly Offer[];
}

/** The terms that a payment takes from its gateway only, locked when it is created. */
export function gatewayTerms({
  id,
  billing,
  settings: { settings },
}: Gateway): Pick<NewPayment, 'gatewayId' | 'billing' | 'commissionBps' | 'commissionMinimumUsd' | 'graceSeconds'> {
  return {
    gatewayId: id,
    billing,
    commissionBps: settings.commissionBps,
    commissionMinimumUsd: parseTrusted(settings.commissionMinUsd),
    graceSeconds: settings.lateCaptureGraceSeconds,
  };
}

/**
 * Writes a payment, its first event and its offers in one transaction and replies as contract 2.2 says; the public payment object is included if
 * `view` makes one. Counts the payment unless an earlier copy of the request created it.
 */
export async function commitDraft(deps: Deps, commit: Commit, draft: Draft, view?: (payment: Payment) => object): Promise<Reply> {
  const { checkoutMode, openAmount, sandbox } = draft.payment;
  const toWrite = { ...draft, traceparent: currentTraceparent() };
  const reply = (payment: Payment): Reply => createdReply(deps, payment, view?.(payment));
  const alone = async (tx: Tx): Promise<Reply> => reply((await insertPayments(tx, [toWrite])).get(toWrite.payment.id) as Payment);
  const answer = await commit(alone, { toWrite, reply });
  const ours = (answer.data as CreatedData).paymentUid === draft.payment.id;
  if (ours) deps.metrics?.paymentsCreated.inc({ mode: checkoutMode, kind: openAmount ? 'open' : 'fixed', sandbox: String(sandbox) });
  return answer;
}

interface CreatedData {
  paymentUid: string;
  paymentUrl: string;
}

function createdReply(deps: Pick<Deps, 'config'>, { id }: Payment, view: object | undefined): Reply {
  const data: CreatedData = { paymentUid: id, paymentUrl: `${checkoutUrl(deps.config)}/p/${id}` };
  return { status: 201, data: view === undefined ? data : { ...data, payment: view }, resourceId: id };
}
