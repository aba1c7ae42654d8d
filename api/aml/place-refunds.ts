import type { Deps } from '#api/deps.ts';
import { sayRefund } from '#api/intents/held-order.ts';
import { post } from '#api/ledger/post.ts';
import { insertRefund } from '#api/store/aml.ts';
import { type PaymentCredit, setTaken } from '#api/store/credits.ts';
import type { Payment } from '#api/store/payments.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { amount, type Coins } from '#shared/core/money.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { sharesOf } from '#state-machines/aml/shares.ts';
import { orderRefund } from '#state-machines/ledger/postings.ts';
import { refundMac } from '#api/intents/refund-mac.ts';

/**
 * Orders everything a payment has in the held pool back to its payer, one refund per asset: gross less the network fee,
 * commission included (decisions 10, decision 0012). From now on no cashout can have it. The caller has locked the payment's
 * funds, untouched by any cashout, with the refunding and commission accounts. `recipients` is by asset, canonical.
 * @throws Invariant outside of the http role
 */
export async function placeRefunds(
  tx: Tx,
  deps: Pick<Deps, 'config' | 'randomBytes' | 'operator'>,
  payment: Pick<Payment, 'id' | 'gatewayId' | 'commissionFeePayer'>,
  { credits, recipients, reason }: { credits: readonly PaymentCredit[]; recipients: ReadonlyMap<string, string>; reason: string },
): Promise<void> {
  const held = credits.filter((credit) => credit.taken === null && credit.remaining > 0n);
  for (const [assetId, share] of sharesOf(held)) {
    const parts = held.filter((credit) => credit.assetId === assetId);
    const recipient = recipients.get(assetId);
    if (recipient === undefined) throw new Invariant(`a refund of payment ${payment.id} has no recipient for asset ${assetId}`);
    const commission = commissionPaid(payment, parts);
    const order = {
      id: uuidFrom(deps.randomBytes(16)),
      paymentId: payment.id,
      gatewayId: payment.gatewayId,
      assetId,
      networkId: parts[0]?.networkId as string,
      recipient,
      amount: amount<'asset'>(share.maturing + share.matured + commission),
    };
    await insertRefund(
      tx,
      { ...order, reason, intentMac: refundMac(masterKeys(deps.config).current, order) },
      parts.map(({ id, net, commission: taken }) => ({ creditId: id, net, commission: taken })),
    );
    await sayRefund(tx, deps, order, deps.operator?.person.name ?? null);
    await setTaken(
      tx,
      parts.map((credit) => credit.id),
      'refunding',
    );
    const postings = orderRefund({ gatewayId: payment.gatewayId, assetId, ...share, commission });
    await post(tx, { sourceKey: `refund:${order.id}:order`, kind: 'refund-order', postings });
  }
}

/** The commission that came out of what the payer sent; what the platform bore never did. Pure. */
export function commissionPaid({ commissionFeePayer }: Pick<Payment, 'commissionFeePayer'>, credits: readonly { commission: Coins }[]): Coins {
  return commissionFeePayer === 'PLATFORM' ? amount(0n) : amount(credits.reduce((sum, credit) => sum + credit.commission, 0n));
}
