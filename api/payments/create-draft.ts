import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { appendEvent } from '#api/store/advance.ts';
import { insertOffers, type Offer } from '#api/store/payment-offers.ts';
import { insertPayment, type NewPayment, type Payment } from '#api/store/payments.ts';
import { insertSent } from '#api/store/sent-json.ts';
import { parseTrusted } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
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
  let written = false;
  const reply = await commit(async (tx) => {
    const payment = await writeDraft(tx, draft);
    written = true;
    return createdReply(deps, payment, view?.(payment));
  });
  if (written) deps.metrics?.paymentsCreated.inc({ mode: checkoutMode, kind: openAmount ? 'open' : 'fixed', sandbox: String(sandbox) });
  return reply;
}

async function writeDraft(tx: Tx, { payment, offers }: Draft): Promise<Payment> {
  // The statements are sent together; one connection runs them in this order.
  const [stored] = await Promise.all([
    insertPayment(tx, payment),
    insertSent(tx, payment.id, { callbackParams: payment.callbackParams, webhookParams: payment.webhookParams }),
    appendEvent(tx, 'payment', { id: payment.id, event: 'CREATED', from: null, to: 'PENDING', facts: {}, actor: 'merchant' }),
    insertOffers(tx, payment.id, offers),
  ]);
  return stored;
}

function createdReply(deps: Pick<Deps, 'config'>, { id }: Payment, view: object | undefined): Reply {
  const data = { paymentUid: id, paymentUrl: `${checkoutUrl(deps.config)}/p/${id}` };
  return { status: 201, data: view === undefined ? data : { ...data, payment: view }, resourceId: id };
}
