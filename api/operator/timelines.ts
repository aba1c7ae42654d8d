import type { Deps, Reply } from '#api/deps.ts';
import { listCharges } from '#api/store/charges.ts';
import { explainAnyPayment } from '#api/payments/explain.ts';
import { listAmlEventDetails } from '#api/store/aml.ts';
import {
  findPaymentDetail,
  findSettlementDetail,
  listCreditDetails,
  listDepositDetails,
  listOfferDetails,
  listPayoutDetails,
  listSettlementEventDetails,
} from '#api/store/operator-timelines.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { metadataLines } from './approver-view.ts';
import type { OperatorCall } from './deps.ts';
import { misplacedViews } from './further-transfer.ts';
import { readId } from './input.ts';
import { refundViews } from './refund-views.ts';
import { settlementFeeView } from './settlement-fee.ts';

/** GET /payments/{id}: the payment with its explanation, the one its merchant gets, and the rows it was made from. */
export async function showPayment(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const payment = await findPaymentDetail(sql, readId(call.params));
  if (payment === undefined) throw new ServiceError('not_found');
  const [offers, deposits, credits, events, refunds, misplaced, { summary, steps }] = await Promise.all([
    listOfferDetails(sql, payment.id),
    listDepositDetails(sql, payment.id),
    listCreditDetails(sql, payment.id),
    listAmlEventDetails(sql, payment.id),
    refundViews(deps, payment.id),
    misplacedViews(sql, payment.id),
    explainAnyPayment(deps, payment.id),
  ]);
  const aml = { events, refunds };
  return { status: 200, data: { payment, offers: offers.map((offer) => shown(deps, offer)), deposits, credits, aml, misplaced, summary, steps } };
}

/** GET /settlements/{id}: the settlement with its history and the transactions that carry it out, and its metadata as an approver reads it. */
export async function showSettlement(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const settlement = await findSettlementDetail(sql, readId(call.params));
  if (settlement === undefined) throw new ServiceError('not_found');
  const [fee, charges, events, payouts] = await Promise.all([
    settlementFeeView(sql, settlement.id),
    listCharges(sql, { settlementId: settlement.id }),
    listSettlementEventDetails(sql, settlement.id),
    listPayoutDetails(sql, settlement.id),
  ]);
  return { status: 200, data: { settlement: shown(deps, settlement), metadata: metadataLines(settlement.metadata), fee, charges, events, payouts } };
}

/** Writes an address the way people of its network write it. */
function shown<T extends { network: string; address: string | null }>(deps: Deps, row: T): T {
  return { ...row, address: row.address === null ? null : (deps.chains.get(row.network)?.codec.display(row.address) ?? row.address) };
}
