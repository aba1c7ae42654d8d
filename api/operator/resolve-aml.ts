import { resolveHeldPayment } from '#api/aml/resolve-held-payment.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { findPayment } from '#api/store/payments.ts';
import { invalid, Invariant, ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';
import { refundViews } from './refund-views.ts';

const MAX_REASON = 500;
const ACTIONS = ['RELEASE', 'REFUND', 'WITHHOLD'] as const;

/**
 * POST /payments/{id}/aml: clears, refunds or withholds a held payment (decisions 10). `address` is where a refund goes.
 * @throws not_found; validation_error naming action, reason or address; conflict when the payment is not held, or may not be resolved so
 */
export async function resolveAml(deps: Deps, call: OperatorCall): Promise<Reply> {
  const paymentId = readId(call.params);
  const fields = fieldsOf(call.body);
  const action = ACTIONS.find((one) => one === fields.action);
  if (action === undefined) throw invalid('action', `must be one of ${ACTIONS.join(', ')}`);
  const reason = readText(fields, 'reason', MAX_REASON);
  const hasAddress = fields.address !== undefined && fields.address !== null;
  if (action === 'REFUND' && !hasAddress) throw invalid('address', 'is required: it is where the refund goes');
  if (action !== 'REFUND' && hasAddress) throw invalid('address', 'is only for a refund');
  if ((await findPayment(deps.db.sql, paymentId)) === undefined) throw new ServiceError('not_found');
  await resolveHeldPayment(deps, { paymentId, reason, resolution: action === 'REFUND' ? { action, address: fields.address } : { action } });

  const payment = await findPayment(deps.db.sql, paymentId);
  if (payment === undefined) throw new Invariant(`payment ${paymentId} is gone`);
  return { status: 200, data: { paymentId, amlState: payment.amlState, refunds: await refundViews(deps, paymentId) } };
}
