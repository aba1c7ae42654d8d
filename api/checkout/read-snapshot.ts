import type { Deps, Gateway } from '#api/deps.ts';
import { callbackRedirect } from '#shared/core/callback-url.ts';
import { expirePayment } from '#api/payments/expire.ts';
import { loadHostedPayment } from '#api/payments/load.ts';
import { notePaymentOpened } from '#api/payments/note-opened.ts';
import { pendingDeposit } from '#api/payments/pending-deposit.ts';
import { decidingDeposit, explorerTxUrl, type PaymentParts, paymentView, readParts } from '#api/payments/view.ts';
import { readMoment } from '#api/store/clock.ts';
import { findGateway } from '#api/store/gateways.ts';
import { type Payment, readExpiryFacts } from '#api/store/payments.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isWithinGrace } from '#state-machines/payment/judge-deposit.ts';
import { type Brand, brandOf } from './brand.ts';
import { networkFacts } from './network-facts.ts';
import type { PaidDeposit, PendingDeposit, PublicPayment, Snapshot } from './page/snapshot.ts';

/** What a hosted page is made of. */
export interface HostedPayment {
  snapshot: Snapshot;
  /** What the merchant asked for, the payment's own before the gateway's; null where nothing was said. */
  languages: readonly (string | null)[];
  /** In the gateway's colours; absent is in the service's own. */
  brand?: Brand;
}

/**
 * Reads all that the hosted page shows of a payment, from one moment of the database (ux 0.1). One that is overdue and unpaid is
 * expired first, which locks it for a moment; else nothing is locked.
 * @throws not_found; forbidden for a payment in API mode
 */
export async function readHosted(deps: Deps, paymentId: string): Promise<HostedPayment> {
  const { hosted, expirable } = await readAt(deps, paymentId);
  notePaymentOpened(deps, hosted.snapshot.payment.id);
  if (!expirable) return hosted;
  await expirePayment(deps, { paymentId, clientIp: '' });
  return (await readAt(deps, paymentId)).hosted;
}

async function readAt(deps: Deps, paymentId: string): Promise<{ hosted: HostedPayment; expirable: boolean }> {
  return deps.db.snapshot(async (tx) => {
    const now = await readMoment(tx);
    const payment = await loadHostedPayment(deps, { paymentId }, tx);
    const gateway = await findGateway(tx, payment.gatewayId);
    if (gateway === undefined) throw new Invariant(`the gateway of payment ${payment.id} is gone`);
    const overdue = payment.status === 'PENDING' && payment.expiresAt <= now;
    const snapshot = await snapshotAt(tx, deps, { now, gateway, parts: await readParts(deps, payment, tx) });
    return {
      hosted: { snapshot, languages: [payment.language, gateway.settings.branding.language], brand: brandOf(gateway.settings) },
      expirable: overdue && (await readExpiryFacts(tx, payment.id, POLICY.expiryPatienceSeconds)).unpaid,
    };
  });
}

async function snapshotAt(tx: Tx, deps: Deps, { now, gateway, parts }: { now: Date; gateway: Gateway; parts: PaymentParts }): Promise<Snapshot> {
  const { payment, offers } = parts;
  const pending = await readPending(tx, deps, parts);
  const paid = paidDeposit(parts);
  const { branding } = gateway.settings;
  const mentioned = new Set([...offers.map((offer) => offer.networkName), ...[pending?.network ?? [], paid?.network ?? []].flat()]);
  return {
    serverTime: now.toISOString(),
    payment: paymentView(deps, parts) as PublicPayment,
    pendingDeposit: pending,
    graceEndsAt: graceEnd(payment).toISOString(),
    mismatchSide: mismatchSide(parts),
    lateCapture: payment.depositPath === 'late_capture',
    paid,
    networks: await networkFacts(tx, deps, mentioned, payment.amountUsd),
    merchant: {
      name: branding.displayName ?? gateway.name,
      host: payment.callbackUrl === null ? null : new URL(payment.callbackUrl).host,
      logoPath: logoPath(branding, payment.id),
      supportUrl: branding.supportUrl,
    },
    returnUrl: callbackRedirect(payment.callbackUrl ?? '', payment.callbackParams, { paymentUid: payment.id, status: payment.status }),
    qrMode: branding.qrMode,
  };
}

/** Its address changes with an uploaded logo, so that it can be kept. */
function logoPath({ logo, logoUrl }: Gateway['settings']['branding'], paymentId: string): string | null {
  if (logo !== undefined && logo !== null) return `/p/${paymentId}/logo?v=${logo.slice(0, 16)}`;
  return logoUrl === null ? null : `/p/${paymentId}/logo`;
}

/** Coins on their way that may still decide: nothing decides a payment that a deposit has resolved, or one whose grace period is over. */
async function readPending(tx: Tx, deps: Deps, parts: PaymentParts): Promise<PendingDeposit | null> {
  const { status, expiresAt, graceSeconds } = parts.payment;
  if (status !== 'PENDING' && status !== 'EXPIRED') return null;
  const found = await pendingDeposit(tx, deps, parts);
  if (found === null || !isWithinGrace(found.firstSeenAt.getTime(), expiresAt.getTime(), graceSeconds)) return null;
  return {
    assetSymbol: found.assetSymbol,
    network: found.network,
    amount: formatAmount(found.amount),
    confirmations: found.confirmations,
    required: found.required,
    txHash: found.txHash,
    explorerTxUrl: explorerTxUrl(deps, found.network, found.txHash),
    inTime: found.firstSeenAt < expiresAt,
  };
}

function paidDeposit(parts: PaymentParts): PaidDeposit | null {
  const { payment, offers } = parts;
  const deciding = decidingDeposit(parts);
  if (deciding === undefined) return null;
  const judging = offers.find((offer) => offer.id === payment.judgingOfferId);
  return {
    assetSymbol: deciding.symbol,
    assetType: deciding.assetType,
    network: deciding.networkName,
    amount: formatAmount(payment.receivedAmount ?? deciding.amount),
    block: deciding.height,
    at: deciding.blockTime.toISOString(),
    otherCoin: judging !== undefined && judging.assetId !== deciding.assetId,
    requested:
      judging === undefined || payment.openAmount
        ? null
        : { amount: formatAmount(judging.totalValue), assetSymbol: judging.symbol, network: judging.networkName },
  };
}

/** Amounts whose difference is less than a cent can be compared in coins only, and only in the same coin (ux 0.5). */
function mismatchSide(parts: PaymentParts): Snapshot['mismatchSide'] {
  const { payment, offers } = parts;
  if (payment.status !== 'MISMATCH') return null;
  const asked = offers.find((offer) => offer.id === payment.judgingOfferId && offer.assetId === payment.receivedAssetId)?.totalValue;
  const inCoins = asked === undefined || payment.receivedAmount === null || payment.openAmount ? 0n : payment.receivedAmount - asked;
  const deviation = payment.deviationUsd === null || payment.deviationUsd === 0n ? inCoins : payment.deviationUsd;
  return deviation === 0n ? null : deviation < 0n ? 'UNDER' : 'OVER';
}

/** Until when a deposit is captured late; the end of time is the end of it too. */
function graceEnd({ expiresAt, graceSeconds }: Payment): Date {
  return new Date(Math.min(expiresAt.getTime() + graceSeconds * 1_000, Date.parse(POLICY.latestDeadline)));
}
