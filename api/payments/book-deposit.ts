import type { Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { advance } from '#api/store/advance.ts';
import { readClock } from '#api/store/clock.ts';
import { hasCreditOnNetwork, insertCredit } from '#api/store/credits.ts';
import { settleDeposits } from '#api/store/deposits.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import { markSightingsBooked } from '#api/store/sightings.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount, toCents } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { credit, unallocated } from '#state-machines/ledger/postings.ts';
import { type DepositFees, takeFees } from '#state-machines/payment/fees.ts';
import { isDust, isWithinGrace, type Judged, type Judgement, type JudgedPayment, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import { NO_PAYMENT_FACTS, type PaymentStatus } from '#state-machines/payment/machine.ts';
import type { Batch, Prices } from './deposit-batch.ts';
import { enqueuePaymentWebhook } from './enqueue-webhook.ts';

/** One final batch and everything that is known about it under the payment's lock. */
export interface Booking {
  payment: Payment;
  /** Of the payment as earlier batches of the same transaction left it. */
  status: PaymentStatus;
  offers: readonly Offer[];
  batch: Batch;
  prices: Prices;
  maturitySeconds: number;
}

/**
 * Books one final batch in the caller's transaction, which holds the payment's lock: judges it if it decides, credits it or
 * sets it aside. Answers the payment's status afterwards, or `waits` when a price is missing.
 */
export async function bookBatch(tx: Tx, deps: Deps, booking: Booking): Promise<PaymentStatus | 'waits'> {
  const { payment, status, batch } = booking;
  const { first } = batch;
  if (!first.onOwnNetwork) return setAside(tx, booking, 'unallocated');
  if (isDust(batch.total, first.dustFloor)) return setAside(tx, booking, 'dust');
  const decides = status === 'PENDING' || status === 'EXPIRED';
  const firstSeenAt = Math.min(...batch.deposits.map((deposit) => deposit.firstSeenAt.getTime()));
  if (decides && !isWithinGrace(firstSeenAt, payment.expiresAt.getTime(), payment.graceSeconds)) return setAside(tx, booking, 'unallocated');

  const { now } = await readClock(tx);
  const judged = judge(booking, firstSeenAt, now);
  if ('needs' in judged) {
    const waitedMs = now.getTime() - firstSeenAt;
    deps.log[waitedMs > POLICY.priceWaitAlertSeconds * 1_000 ? 'error' : 'warn'](
      { paymentId: payment.id, symbol: first.symbol, depositId: first.id, waitedMs },
      'a final deposit waits for a fresh price',
    );
    return 'waits';
  }
  if (!decides) {
    await creditBatch(tx, deps, booking, judged);
    return status;
  }
  const result = await advance(tx, 'payment', {
    id: payment.id,
    event: 'DEPOSIT_CONFIRMED',
    actor: 'chain',
    facts: () => ({
      facts: { ...NO_PAYMENT_FACTS, verdict: judged.verdict, withinGrace: true },
      columns: outcomeColumns(booking, judged, now),
      record: evidence(booking, judged),
    }),
  });
  if (result.conflict) throw new Invariant(`payment ${payment.id} in ${result.status} did not accept its deposit`);
  crashPoint('credit.payment-transitioned');
  for (const effect of result.effects) {
    if (effect === 'credit') await creditBatch(tx, deps, booking, judged);
    else {
      await enqueuePaymentWebhook(tx, deps, { paymentId: payment.id, gatewayId: payment.gatewayId, status: result.to, webhookUrl: payment.webhookUrl });
      crashPoint('credit.outbox-written');
    }
  }
  return result.to;
}

function judge({ payment, status, offers, batch, prices }: Booking, firstSeenAt: number, now: Date): Judged {
  const selected = offers.flatMap(({ id, assetId, priceUsd, totalValue, selectedAt }) =>
    selectedAt === null ? [] : [{ id, assetId, priceUsd, totalValue, selectedAt: selectedAt.getTime() }],
  );
  const judged: JudgedPayment = {
    openAmount: payment.openAmount,
    minimumUsd: payment.minimumUsd,
    checkAmountDeviation: payment.checkAmountDeviation,
    tolerance: { kind: payment.toleranceKind, over: payment.overTolerance, under: payment.underTolerance },
    expiresAt: payment.expiresAt.getTime(),
    expired: status === 'EXPIRED',
    selected,
  };
  return judgeDeposit(judged, {
    assetId: batch.first.assetId,
    received: batch.total,
    firstSeenAt,
    confirmedAt: now.getTime(),
    marketPriceUsd: prices.get(batch.first.symbol) ?? null,
    byInquiry: false,
  });
}

/** The columns of a payment that a deciding deposit fills. */
function outcomeColumns({ batch }: Booking, judged: Judgement, now: Date): Record<string, unknown> {
  return {
    resolved_at: now,
    deciding_deposit_id: batch.first.id,
    judging_offer_id: judged.offerId,
    received_asset_id: batch.first.assetId,
    received_amount: formatAmount(batch.total),
    received_amount_usd: judged.receivedAmountUsd === null ? null : formatAmount(judged.receivedAmountUsd),
    expected_usd: formatAmount(toCents(judged.expectedUsd)),
    deviation_usd: judged.deviationUsd === null ? null : formatAmount(judged.deviationUsd),
    deposit_path: judged.path,
  };
}

/** What the decision saw, for the payment's history: the arithmetic can be redone from it. */
function evidence({ batch }: Booking, judged: Judgement): Record<string, unknown> {
  return {
    deposits: batch.deposits.map((deposit) => deposit.id),
    txid: batch.first.txid,
    blockHash: batch.first.blockHash,
    height: batch.first.height,
    asset: batch.first.symbol,
    received: formatAmount(batch.total),
    expected: judged.expectedAmount === null ? null : formatAmount(judged.expectedAmount),
    price: formatAmount(judged.priceUsd),
    priceKind: judged.priceKind,
    receivedUsd: formatAmount(judged.receivedUsd),
    expectedUsd: formatAmount(judged.expectedUsd),
    deviationUsd: judged.deviationUsd === null ? null : formatAmount(judged.deviationUsd),
    overUsd: formatAmount(judged.overUsd),
    underUsd: formatAmount(judged.underUsd),
    path: judged.path,
  };
}

/** Credits a batch to the gateway: ledger, credit row, deposits, evidence. */
async function creditBatch(tx: Tx, deps: Deps, booking: Booking, judged: Judgement): Promise<void> {
  const { payment, batch, prices, maturitySeconds } = booking;
  const { first, total } = batch;
  const fees = await feesOf(tx, booking, judged);
  const terms = {
    gatewayId: payment.gatewayId,
    assetId: first.assetId,
    pool: 'green',
    gross: total,
    networkFee: fees.networkFee,
    commission: fees.commission,
    net: fees.net,
  } as const;
  const posted = await post(tx, { sourceKey: `deposit:${first.id}`, kind: 'credit', postings: credit({ ...terms, platformBears: fees.platformBears }) });
  if (!posted) throw new Invariant(`deposit ${first.id} is open but its credit is posted`);
  crashPoint('credit.ledger-written');
  await insertCredit(tx, { ...terms, id: first.id, paymentId: payment.id, networkId: first.networkId, matureHeight: first.height, maturitySeconds });
  const ids = batch.deposits.map((deposit) => deposit.id);
  await settleDeposits(tx, ids, { state: 'credited', usdPrice: prices.get(first.symbol) ?? null, path: judged.path });
  await markSightingsBooked(tx, batch.deposits);
  deps.log.info({ paymentId: payment.id, deposits: ids, network: first.networkId }, 'deposit credited');
}

/** The fees of a batch by decisions 11; the network fee is due once per payment and network. */
async function feesOf(tx: Tx, { payment, offers, batch }: Booking, judged: Judgement): Promise<DepositFees> {
  const { first } = batch;
  const own = offers.find((offer) => offer.assetId === first.assetId);
  return takeFees({
    gross: batch.total,
    decimals: first.decimals,
    networkFee: own?.networkFee ?? first.assetNetworkFee,
    networkFeePaid: await hasCreditOnNetwork(tx, payment.id, first.networkId),
    commissionBps: payment.commissionBps,
    commissionMinimumUsd: payment.commissionMinimumUsd,
    priceUsd: judged.priceUsd,
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
    exactOffer: judged.exact && own !== undefined ? own : null,
  });
}

/** Books coins that no payment gets: they are kept, and nothing else happens (decisions 3, 4). */
async function setAside(tx: Tx, { status, batch }: Booking, state: 'dust' | 'unallocated'): Promise<PaymentStatus> {
  for (const deposit of batch.deposits) {
    await post(tx, { sourceKey: `deposit:${deposit.id}`, kind: state, postings: unallocated(deposit.assetId, deposit.amount) });
  }
  crashPoint('credit.ledger-written');
  await settleDeposits(
    tx,
    batch.deposits.map((deposit) => deposit.id),
    { state, usdPrice: null, path: null },
  );
  await markSightingsBooked(tx, batch.deposits);
  return status;
}
