import type { Deps } from '#api/deps.ts';
import { postEach } from '#api/ledger/post.ts';
import { noteWaiting, settleDeposits } from '#api/store/deposits.ts';
import { markSightingsBooked } from '#api/store/sightings.ts';
import { Invariant } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { unallocated } from '#state-machines/ledger/postings.ts';
import { isDust, isWithinGrace, type Judgement } from '#state-machines/payment/judge-deposit.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import { type Booking, creditBatch } from './credit-batch.ts';
import { type Batch, isAllocated } from './deposit-batch.ts';
import { fiatSymbol, type FilledAmount, filledAmountOf, type Outcome } from './outcome.ts';
import { judgeArrival, type Resolution, resolvePayment } from './resolve-payment.ts';

/** The result of booking a batch. */
export interface Booked {
  /** The payment's status afterwards. */
  status: PaymentStatus;
  /** How the batch fitted its payment, for the metric. */
  match: 'matched' | 'wrong_asset' | 'late' | 'unmatched' | 'dust';
  /** By which path it was judged. */
  path: Judgement['path'];
}

/** Why a final batch is credited to no payment, or null when it is credited (decisions 3, 4). Pure. */
export function asideOf(booking: Pick<Booking, 'payment' | 'status' | 'batch'>): 'dust' | 'unallocated' | null {
  const { payment, batch } = booking;
  const { first } = batch;
  // An inquiry or operator that allocated the batch has already decided that its network and time do not matter.
  const allocated = isAllocated(batch);
  if (!first.onOwnNetwork && !allocated) return 'unallocated';
  // A deposit that was set aside and then allocated by hand is not set aside again.
  if (isDust(batch.total, first.dustFloor) && !first.wasSetAside) return 'dust';
  return decidesBy(booking) && !allocated && !isWithinGrace(firstSeen(batch), payment.expiresAt.getTime(), payment.graceSeconds) ? 'unallocated' : null;
}

function decidesBy({ status, batch }: Pick<Booking, 'status' | 'batch'>): boolean {
  return !isDust(batch.total, batch.first.dustFloor) && (status === 'PENDING' || status === 'EXPIRED');
}

/**
 * Judges one final batch if it decides the payment, and credits it, in the caller's transaction. When a price is missing nothing is booked: the
 * decision waits for the price, or only the credit does. The caller holds the payment's lock.
 */
export async function bookBatch(tx: Tx, deps: Deps, booking: Booking): Promise<Booked | 'decision-waits' | 'credit-waits'> {
  const { payment, status, batch, now } = booking;
  const { first } = batch;
  const allocated = isAllocated(batch);
  const dust = isDust(batch.total, first.dustFloor);
  const decides = decidesBy(booking);
  const judged = judgeArrival(booking, first.symbol, {
    assetId: first.assetId,
    received: batch.total,
    firstSeenAt: pricedSince(batch),
    minedAt: first.blockTime.getTime(),
    confirmedAt: now.getTime(),
    byInquiry: allocated,
  });
  if ('needs' in judged) {
    await wait(tx, deps, booking, now, first.symbol);
    return decides ? 'decision-waits' : 'credit-waits';
  }
  if (!decides) {
    await creditBatch(tx, deps, booking, judged);
    return { status, match: dust ? 'dust' : matchOf(booking, judged), path: judged.path };
  }
  const filled = filledAmountOf(payment, judged, booking.prices);
  if (filled === undefined) {
    await wait(tx, deps, booking, now, fiatSymbol(payment.currencyCode));
    return 'decision-waits';
  }
  const resolution = { outcome: outcomeOf(booking, judged, filled, now), actor: actorOf(batch), firstSeenMs: firstSeen(batch), allocated };
  const to = await resolvePayment(tx, deps, { payment, status }, resolution, () => creditBatch(tx, deps, booking, judged));
  return { status: to, match: matchOf(booking, judged), path: judged.path };
}

function actorOf({ deposits }: Batch): Resolution['actor'] {
  const allocatedBy = deposits.find((deposit) => deposit.claimedBy !== null)?.claimedBy ?? null;
  return allocatedBy === null ? 'chain' : allocatedBy === 'operator' ? 'operator' : 'merchant';
}

function matchOf({ offers, batch }: Booking, judged: Judgement): Booked['match'] {
  if (judged.path === 'late_confirmation' || judged.path === 'late_capture') return 'late';
  return offers.some((offer) => offer.assetId === batch.first.assetId && offer.selectedAt !== null) ? 'matched' : 'wrong_asset';
}

/** Leaves a final batch open until a price is back and logs that, as an error once it waited five minutes (decisions 3). */
async function wait(tx: Tx, deps: Deps, { payment, batch }: Booking, now: Date, symbol: string): Promise<void> {
  const since = await noteWaiting(
    tx,
    batch.deposits.map((deposit) => deposit.id),
  );
  const waitedMs = now.getTime() - since.getTime();
  deps.log[waitedMs >= POLICY.priceWaitAlertSeconds * 1_000 ? 'error' : 'warn'](
    { paymentId: payment.id, symbol, depositId: batch.first.id, waitedMs },
    'a final deposit waits for a fresh price',
  );
}

function outcomeOf({ offers, batch, finality, prices }: Booking, judged: Judgement, filled: FilledAmount | null, now: Date): Outcome {
  const { first, deposits, total } = batch;
  return {
    judged,
    offers,
    prices,
    filled,
    arrival: {
      depositIds: deposits.map((deposit) => deposit.id),
      txid: first.txid,
      assetId: first.assetId,
      symbol: first.symbol,
      total,
      blockHash: first.blockHash,
      height: first.height,
      confirmations: finality.confirmations,
      finality: finality.rule,
      firstSeenAt: new Date(pricedSince(batch)),
      confirmedAt: now,
    },
  };
}

/** When the first of the batch's transfers was first seen, milliseconds since the epoch. */
function firstSeen({ deposits }: Batch): number {
  return deposits.reduce((earliest, { firstSeenAt }) => Math.min(earliest, firstSeenAt.getTime()), Number.POSITIVE_INFINITY);
}

/**
 * When the last of the batch's transfers was first seen. This time decides whether the locked price applies, because a small transfer in time must
 * not reserve the price for the rest of the sum (decision 0017).
 */
function pricedSince({ deposits }: Batch): number {
  return deposits.reduce((latest, { firstSeenAt }) => Math.max(latest, firstSeenAt.getTime()), Number.NEGATIVE_INFINITY);
}

/** A final batch that is credited to no payment. */
export interface Aside {
  batch: Batch;
  state: 'dust' | 'unallocated';
}

/**
 * Books batches that are credited to no payment: the coins are kept, and nothing else happens (decisions 3, 4). All together take no more
 * statements than one.
 */
export async function setAside(tx: Tx, asides: readonly Aside[]): Promise<void> {
  const all = asides.flatMap(({ batch, state }) => batch.deposits.map((deposit) => ({ deposit, state })));
  if (all.length === 0) return;
  const posted = await postEach(
    tx,
    all.map(({ deposit, state }) => ({ sourceKey: `deposit:${deposit.id}`, kind: state, postings: unallocated(deposit.assetId, deposit.amount) })),
  );
  const former = all.find(({ deposit }) => !posted.has(`deposit:${deposit.id}`));
  if (former !== undefined) throw new Invariant(`deposit ${former.deposit.id} is open but was set aside before`);
  crashPoint('credit.ledger-written');
  for (const state of ['dust', 'unallocated'] as const) {
    const ids = all.flatMap((one) => (one.state === state ? [one.deposit.id] : []));
    if (ids.length > 0) await settleDeposits(tx, ids, { state });
  }
  await markSightingsBooked(
    tx,
    all.map(({ deposit }) => deposit),
  );
}
