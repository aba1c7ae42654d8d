import type { Deps, Reply } from '#api/deps.ts';
import { resetInquiryAttempts } from '#api/store/payment-deposits.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';

const MAX_REASON = 500;

/**
 * POST /payments/{id}/inquiries/reset: lets a gateway name hashes again for a payment that used its attempts up (contract 4.1), with an audit row. Locks the payment's row.
 * @throws not_found; validation_error naming reason
 */
export async function resetInquiries(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const reason = readText(fieldsOf(call.body), 'reason', MAX_REASON);
  await deps.db.transaction(async (tx) => {
    const used = await resetInquiryAttempts(tx, id);
    if (used === undefined) throw new ServiceError('not_found');
    await insertOperatorAction(tx, deps.operator, { action: 'inquiries.reset', target: id, reason, details: { used } });
  });
  return { status: 200, data: { id, attemptsUsed: 0 } };
}
