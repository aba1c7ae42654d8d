import type { Deps, Gateway } from '#api/deps.ts';
import { findPayment, type Payment } from '#api/store/payments.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { isIpWithin } from '#shared/platform/ip.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/**
 * Finds the payment that a public call names, and checks that the caller may access it: anybody who knows the id of a hosted payment, only
 * allowlisted servers for an API-mode one (contract 5.7).
 * @throws not_found, forbidden (echoing the observed address)
 */
export async function loadPublicPayment(deps: Deps, call: { paymentId: string; clientIp: string }): Promise<Payment> {
  const reads = sharedReads(deps.db);
  const payment = isUuid(call.paymentId) ? await reads.payment(call.paymentId) : undefined;
  if (payment === undefined) throw new ServiceError('not_found');
  if (payment.checkoutMode === 'API') {
    const gateway = await reads.gateway(payment.gatewayId);
    if (gateway === undefined) throw new ServiceError('not_found');
    checkAllowlist(gateway, call.clientIp);
    deps.knownServer?.();
  }
  return payment;
}

/**
 * Refuses a public call for an API-mode payment from an address that is not one of the gateway's servers, before the call's body is read (contract
 * 5.7). An unknown payment passes; the operation itself refuses it.
 * @throws forbidden (echoing the observed address)
 */
export async function refuseStrangers(deps: Deps, call: { paymentId: string; clientIp: string }): Promise<void> {
  await loadPublicPayment(deps, call).catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
  });
}

/**
 * Finds the payment that a checkout page names; a payment in API mode has no page (contract 4.2). Reads through `sql` when the caller wants one
 * snapshot.
 * @throws not_found, forbidden
 */
export async function loadHostedPayment(deps: Pick<Deps, 'db'>, call: { paymentId: string }, sql: Reads = deps.db.sql): Promise<Payment> {
  const payment = isUuid(call.paymentId) ? await findPayment(sql, call.paymentId) : undefined;
  if (payment === undefined) throw new ServiceError('not_found');
  if (payment.checkoutMode === 'API') throw new ServiceError('forbidden', { message: 'A payment in API checkout mode has no hosted checkout.' });
  return payment;
}

/** Finds a gateway's own payment. Another gateway's payment counts as one that does not exist (contract 5.3). @throws not_found */
export async function loadOwnPayment(deps: Deps, call: { gateway: Gateway; paymentId: string }): Promise<Payment> {
  const payment = isUuid(call.paymentId) ? await sharedReads(deps.db).payment(call.paymentId) : undefined;
  if (payment === undefined || payment.gatewayId !== call.gateway.id) throw new ServiceError('not_found');
  return payment;
}

/** @throws forbidden, echoing the address, when it is not on the gateway's API allowlist */
export function checkAllowlist(gateway: Gateway, clientIp: string): void {
  if (isIpWithin(clientIp, gateway.settings.apiAllowlist)) return;
  throw new ServiceError('forbidden', {
    message: `The source address ${clientIp} is not on this gateway's API allowlist.`,
    refusal: { gatewayId: gateway.id, reason: 'API_ALLOWLIST' },
  });
}
