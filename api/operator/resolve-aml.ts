import { recipientsOf, resolveHeldPayment, resolveWithin } from '#api/aml/resolve-held-payment.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { findAsset, findAssetByContract } from '#api/store/assets.ts';
import { listPaymentCredits } from '#api/store/credits.ts';
import { findPayment, lockPayment, type Payment } from '#api/store/payments.ts';
import { isOwnAddress } from '#api/store/wallets.ts';
import { invalid, Invariant, ServiceError } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { Act } from './act.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';
import { propose } from './propose.ts';
import { refundViews } from './refund-views.ts';

const MAX_REASON = 500;
const ACTIONS = ['RELEASE', 'REFUND', 'WITHHOLD'] as const;

/**
 * POST /payments/{id}/aml: clears, refunds or withholds a held payment (decisions 10). `address` is where a refund goes. Where the deployment wants two people for a refund,
 * it is proposed (decision 0032).
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
  const held = await findPayment(deps.db.sql, paymentId);
  if (held === undefined) throw new ServiceError('not_found');
  if (action === 'REFUND' && deps.config.SLUICE_TWO_PEOPLE_FOR.includes('refund')) return proposeRefund(deps, held, { address: fields.address, reason });
  await resolveHeldPayment(deps, { paymentId, reason, resolution: action === 'REFUND' ? { action, address: fields.address } : { action } });

  const payment = await findPayment(deps.db.sql, paymentId);
  if (payment === undefined) throw new Invariant(`payment ${paymentId} is gone`);
  return { status: 200, data: { paymentId, amlState: payment.amlState, refunds: await refundViews(deps, paymentId) } };
}

async function proposeRefund(deps: Deps, payment: Payment, { address, reason }: { address: unknown; reason: string }): Promise<Reply> {
  if (payment.amlState !== 'HELD') throw new ServiceError('conflict', { message: 'Only a held payment can be refunded.' });
  await recipientsOf(deps, payment.id, address);
  const credits = await creditsInWords(deps.db.sql, payment.id);
  const content = { paymentId: payment.id, gatewayId: payment.gatewayId, address: String(address), credits };
  return propose(deps, { act: 'payment.refund', target: payment.id, content, reason });
}

/** What of a payment a refund pays back: each credit with its coins, its network and its id. */
async function creditsInWords(sql: Reads, paymentId: string): Promise<string> {
  const words: string[] = [];
  for (const { id, assetId, net } of await listPaymentCredits(sql, paymentId)) {
    const asset = await findAsset(sql, assetId);
    words.push(`${formatAmount(net)} ${asset?.symbol ?? assetId} on ${asset?.networkName ?? 'no network'} (${id})`);
  }
  return words.join(', ');
}

/**
 * Orders the refund that was proposed, if the payment is still held and has the credits that were proposed and no other, nothing was drawn from it, and its address may still be
 * paid. Locks the payment, so that nothing is credited between the look and the order.
 */
export const refundProposed: Act = {
  async execute(tx, deps, { proposal }) {
    const { paymentId, address, credits } = proposal.content as { paymentId: string; address: string; credits?: string };
    await lockPayment(tx, paymentId);
    if ((await creditsInWords(tx, paymentId)) !== credits)
      throw new ServiceError('conflict', { message: 'The payment has other credits than when this was proposed; withdraw it, and propose it anew.' });
    const recipients = new Map<string, string>();
    for (const { assetId } of await listPaymentCredits(tx, paymentId)) {
      const asset = await findAsset(tx, assetId);
      const chain = asset && deps.chains.get(asset.networkName);
      if (asset === undefined || chain === undefined) throw new ServiceError('conflict', { message: 'A network of this payment is not served right now.' });
      const parsed = chain.codec.parse(address);
      if (
        !parsed.ok ||
        (await isOwnAddress(tx, asset.family, parsed.canonical)) ||
        (await findAssetByContract(tx, asset.networkId, parsed.canonical)) !== undefined
      )
        throw new ServiceError('conflict', { message: `${address} cannot be paid on ${asset.networkName}; withdraw the proposal.` });
      recipients.set(assetId, parsed.canonical);
    }
    await resolveWithin(tx, deps, { paymentId, action: 'REFUND', reason: proposal.reason, recipients });
    return { paymentId };
  },
};
