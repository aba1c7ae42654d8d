import type { operations } from '#api/contract/types.ts';
import type { Deps } from '#api/deps.ts';
import { loadHostedPayment } from '#api/payments/load.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { Call } from './call.ts';

/**
 * `GET /ws/payments/{paymentId}` without an upgrade; those that ask for one never come here (api/http/payment-socket.ts).
 * @throws upgrade_required, and before it what would refuse the upgrade too: not_found, forbidden
 */
export async function openPaymentSocket(deps: Deps, { params }: Call<operations['openPaymentSocket'], null>): Promise<never> {
  await loadHostedPayment(deps, params);
  throw new ServiceError('upgrade_required');
}
