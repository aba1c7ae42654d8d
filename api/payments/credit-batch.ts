import { withholdCredits } from '#api/aml/withhold.ts';
import type { Deps } from '#api/deps.ts';
import { postNew } from '#api/ledger/post.ts';
import { insertAccrual } from '#api/store/charges.ts';
import { insertCredit, listPaymentCredits } from '#api/store/credits.ts';
import { settleDeposits } from '#api/store/deposits.ts';
import type { AccountRow } from '#api/store/ledger.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import { markSightingsBooked } from '#api/store/sightings.ts';
import { allEnded } from '#shared/core/both-ended.ts';
import { rowId } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { credit } from '#state-machines/ledger/postings.ts';
import type { DepositFees } from '#state-machines/payment/fees.ts';
import type { Judgement } from '#state-machines/payment/judge-deposit.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import type { Batch, Finalised } from './deposit-batch.ts';
import { depositFees } from './deposit-fees.ts';
import type { Prices } from './outcome.ts';

/** One final batch with everything known about it under the payment's lock. */
export interface Booking {
  payment: Payment;
  /** The payment's status after the earlier batches of this transaction. */
  status: PaymentStatus;
  offers: readonly Offer[];
  batch: Batch;
  finality: Finalised;
  prices: Prices;
  maturitySeconds: number;
  /** Whether the gateway screens what it is paid. */
  screening: boolean;
  /** Service time of the transaction. */
  now: Date;
  /** Networks on which something was credited to the payment already, so that its network fee is paid there; those of this transaction are added. */
  creditedOn: Set<string>;
  /** Ledger accounts that were found before it was known which ones the credit needs. */
  accounts: readonly AccountRow[];
}

/**
 * Credits a batch to the gateway: ledger, credit row, deposits and evidence.
 * The credit goes to the pool its payment is in. On a gateway that screens, it cannot mature before there is a verdict (decisions 10). The caller
 * holds the payment's lock.
 */
export async function creditBatch(tx: Tx, deps: Deps, booking: Booking, judged: Judgement): Promise<void> {
  const { payment, batch, prices, maturitySeconds, finality } = booking;
  const withheld = payment.amlState === 'WITHHELD';
  const { first, total } = batch;
  const fees = feesOf(booking, judged);
  const terms = {
    gatewayId: payment.gatewayId,
    assetId: first.assetId,
    pool: payment.amlState === 'HELD' || withheld ? 'held' : 'green',
    gross: total,
    networkFee: fees.networkFee,
    commission: fees.commission,
    net: fees.net,
  } as const;
  // If the batch was set aside before, that posting already has the plain key.
  const sourceKey = first.wasSetAside ? `deposit:${first.id}:credit` : `deposit:${first.id}`;
  // A deposit after an operator withheld the payment is withheld too, so a screening would be paid for nothing.
  const screening = booking.screening && !withheld ? 'waiting' : 'none';
  const ids = batch.deposits.map((deposit) => deposit.id);
  await allEnded([
    postNew(tx, { sourceKey, kind: 'credit', postings: credit({ ...terms, platformBears: fees.platformBears }) }, booking.accounts),
    insertCredit(tx, {
      ...terms,
      id: first.id,
      paymentId: payment.id,
      networkId: first.networkId,
      screening,
      matureHeight: finality.matureHeight,
      maturitySeconds,
    }),
    settleDeposits(tx, ids, { state: 'credited', creditId: first.id, usdPrice: prices.get(first.symbol)?.usd ?? null, path: judged.path }),
    markSightingsBooked(tx, batch.deposits),
  ]);
  crashPoint('credit.ledger-written');
  booking.creditedOn.add(first.networkId);
  if (withheld) {
    const credits = (await listPaymentCredits(tx, payment.id)).filter((one) => one.id === first.id);
    await withholdCredits(tx, credits, `credit:${first.id}`);
  }
  if (screening === 'waiting') await insertOutbox(tx, { id: rowId(deps), topic: 'deposit.screen', refId: first.id });
  if (fees.platformBears > 0n) {
    const { platformBears: coins, platformBearsUsd: usd } = fees;
    await insertAccrual(tx, {
      creditId: first.id,
      gatewayId: payment.gatewayId,
      paymentId: payment.id,
      assetId: first.assetId,
      coins,
      priceUsd: judged.priceUsd,
      usd,
    });
  }
  deps.log.info({ paymentId: payment.id, deposits: ids, network: first.networkId }, 'deposit credited');
}

/** The fees of a batch (decisions 11). A payment owes the network fee once per network. */
function feesOf({ payment, offers, batch, creditedOn }: Booking, judged: Judgement): DepositFees {
  const { first, total } = batch;
  const asset = { id: first.assetId, decimals: first.decimals, networkFee: first.assetNetworkFee };
  return depositFees(payment, offers, { asset, gross: total, judged, networkFeePaid: creditedOn.has(first.networkId) });
}
