import type { Deps, Reply } from '#api/deps.ts';
import { allocateDeposits } from '#api/payments/allocate-deposits.ts';
import { creditPayment } from '#api/payments/credit-deposit.ts';
import { listDepositsOfTransactions, lockDeposit, type NamedDeposit } from '#api/store/deposits.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { findPayment, lockPayment } from '#api/store/payments.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';

const MAX_REASON = 500;

/**
 * POST /deposits/{id}/allocate: credits a deposit nobody could be credited for to a payment the operator names, of whatever
 * gateway, with an audit row (decisions 4). A payment that has not resolved, or expired, resolves by it as by an inquiry;
 * dust is credited but resolves nothing. Where a price is missing the deposit is `seen` until the first fresh one.
 * Locks the payment, then the deposit, then the ledger.
 * @throws not_found; validation_error naming paymentId or reason; conflict when the deposit is not set aside
 */
export async function allocateDeposit(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const fields = fieldsOf(call.body);
  const paymentId = readText(fields, 'paymentId').toLowerCase();
  if (!isUuid(paymentId)) throw invalid('paymentId', 'must be an id');
  const reason = readText(fields, 'reason', MAX_REASON);

  const deposit = await deps.db.transaction(async (tx): Promise<NamedDeposit> => {
    const payment = await lockPayment(tx, paymentId);
    const found = await lockDeposit(tx, id);
    if (found === undefined) throw new ServiceError('not_found');
    if (payment === undefined) throw invalid('paymentId', 'is not a payment of this deployment');
    if (payment.sandbox) throw invalid('paymentId', 'is a sandbox payment, which holds no money');
    if ((found.state !== 'unallocated' && found.state !== 'dust') || found.lost)
      throw new ServiceError('conflict', {
        message: `The deposit is ${found.lost ? 'lost to a reorganisation' : found.state}; only one that was set aside can be allocated.`,
      });
    await allocateDeposits(tx, [found], { by: 'operator', paymentId });
    const details = { paymentId, formerPaymentId: found.paymentId, asset: found.symbol, amount: formatAmount(found.amount), txHash: found.txid };
    await insertOperatorAction(tx, deps.operator, { action: 'deposit.allocate', target: id, reason, details });
    return found;
  });
  crashPoint('allocate.committed');
  deps.announce([paymentId]);
  await creditPayment(deps, paymentId);

  const [payment, deposits] = await Promise.all([findPayment(deps.db.sql, paymentId), listDepositsOfTransactions(deps.db.sql, [deposit])]);
  const now = deposits.find((one) => one.id === id);
  if (payment === undefined || now === undefined) throw new Invariant(`deposit ${id} or payment ${paymentId} is gone`);
  return {
    status: 200,
    data: {
      deposit: { id, state: now.state, paymentId: now.paymentId, assetSymbol: now.symbol, amount: formatAmount(now.amount), txHash: now.txid },
      payment: { id: paymentId, gatewayId: payment.gatewayId, status: payment.status },
    },
  };
}
