import type { Deps, Gateway } from '#api/deps.ts';
import { countPayments, findPaymentPlace, listPaymentRows, type PaymentFilter, type Payment } from '#api/store/payments.ts';
import { withParams } from '#api/store/sent-json.ts';
import { invalid } from '#shared/core/errors.ts';
import { badCursor, type PageQuery, paginate, type Pagination, readPage } from '#shared/platform/page.ts';
import { POLICY } from '#shared/core/policy.ts';
import { PAYMENT_STATUSES } from '#state-machines/payment/machine.ts';
import { shownUsd } from './view.ts';

export interface ListPayments extends PageQuery {
  gateway: Gateway;
  status?: string | undefined;
  /** RFC 3339; inclusive. */
  createdFrom?: string | undefined;
  /** RFC 3339; exclusive. */
  createdTo?: string | undefined;
}

/**
 * Payments of this gateway, newest first, with what the merchant stored with them; `after` wins over `page`
 * (decisions 8, 9).
 * @throws validation_error for an unknown status, an unreadable time, a limit or page below 1, or a cursor this gateway was never given
 */
export async function listPayments(deps: Deps, query: ListPayments): Promise<{ items: object[]; pagination: Pagination }> {
  const status = query.status === undefined ? null : PAYMENT_STATUSES.find((one) => one === query.status);
  if (status === undefined) throw invalid('status', `must be one of ${PAYMENT_STATUSES.join(', ')}`);
  const filter: PaymentFilter = {
    gatewayId: query.gateway.id,
    status,
    createdFrom: readTime('createdFrom', query.createdFrom),
    createdTo: readTime('createdTo', query.createdTo),
  };
  const page = readPage(query);
  const after = page.afterId === null ? null : await findPaymentPlace(deps.db.sql, query.gateway.id, page.afterId);
  if (after === undefined) throw badCursor();
  const [rows, total] = await Promise.all([
    listPaymentRows(deps.db.sql, { ...filter, limit: page.limit, offset: page.offset, after }),
    countPayments(deps.db.sql, filter),
  ]);
  const { shown, pagination } = paginate(rows, page, total);
  return { items: (await withParams(deps.db.sql, shown)).map(summaryView), pagination };
}

/** One line of the list. What was received is shown by verify only (contract 4.1); an open amount shows the amount filled in. Pure. */
function summaryView(payment: Payment): object {
  return {
    paymentUid: payment.id,
    status: payment.status,
    checkoutMode: payment.checkoutMode,
    type: payment.type,
    paylinkId: payment.paylinkId,
    amount: payment.amount,
    amountUsd: shownUsd(payment),
    currencyCode: payment.currencyCode,
    createdAt: payment.createdAt.toISOString(),
    expiresAt: payment.expiresAt.toISOString(),
    resolvedAt: payment.resolvedAt?.toISOString() ?? null,
    isVerified: payment.isVerified,
    verifiedAt: payment.verifiedAt?.toISOString() ?? null,
    isSandbox: payment.sandbox,
    openAmount: payment.openAmount,
    callbackParams: payment.callbackParams,
    webhookParams: payment.webhookParams,
  };
}

/** Clamps a time to 1970 to 9999, which every calendar here can hold. No payment was made before or will be after. */
function readTime(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalid(field, 'must be an RFC 3339 time such as "2026-11-21T10:00:00Z"');
  return new Date(Math.min(Math.max(time, 0), Date.parse(POLICY.latestDeadline)));
}
