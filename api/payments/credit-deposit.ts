import type { Chain, Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { advance } from '#api/store/advance.ts';
import { type ChainTip, readTip } from '#api/store/chain-tips.ts';
import { readClock } from '#api/store/clock.ts';
import { hasCreditOnNetwork, insertCredit } from '#api/store/credits.ts';
import { listOpenDeposits, listPaymentsWithOpenDeposits, lockOpenDeposits, type OpenDeposit, settleDeposits } from '#api/store/deposits.ts';
import { findGateway } from '#api/store/gateways.ts';
import { listOffers, type Offer } from '#api/store/payment-offers.ts';
import { findPayment, lockPayment, type Payment } from '#api/store/payments.ts';
import { closeWorthlessSightings, markSightingsBooked } from '#api/store/sightings.ts';
import type { Finality } from '#shared/core/assets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { isFinal, resolveRule } from '#shared/core/finality.ts';
import { amount, type Coins, coinsToUsd, formatAmount, toCents, type Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { credit, unallocated } from '#state-machines/ledger/postings.ts';
import { type DepositFees, takeFees } from '#state-machines/payment/fees.ts';
import { isDust, isWithinGrace, type Judged, type Judgement, type JudgedPayment, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import { NO_PAYMENT_FACTS, type PaymentStatus } from '#state-machines/payment/machine.ts';
import { enqueuePaymentWebhook } from './enqueue-webhook.ts';

/** Transfers that are decided about together: same asset, same address, same block (decisions 3). */
interface Batch {
  deposits: OpenDeposit[];
  first: OpenDeposit;
  total: Coins;
}

type Prices = ReadonlyMap<string, Usd>;

/**
 * Decides about every deposit of a network that has become final: credits it and moves its payment, or sets it aside
 * (contract 3.1, decisions 3 to 5). One transaction per payment. A deposit whose judgement needs a price that nobody has
 * is left for the next call. Any number of workers may call it at once, and again after any crash; answers how many
 * payments it booked something for.
 */
export async function creditFinalDeposits(deps: Deps, networkId: string): Promise<number> {
  const chain = [...deps.chains.values()].find((one) => one.id === networkId);
  const tip = await readTip(deps.db.sql, networkId);
  if (chain === undefined || tip === undefined) return 0;
  let moved = 0;
  for (const paymentId of await listPaymentsWithOpenDeposits(deps.db.sql, networkId, highestFinal(chain.config.finality, tip))) {
    try {
      if (await creditPayment(deps, paymentId)) moved += 1;
    } catch (error) {
      // One payment that cannot be booked must not keep the others waiting.
      deps.log.error({ err: error, paymentId }, 'cannot book a final deposit; it will be tried again');
    }
  }
  await closeWorthlessSightings(deps.db.sql, networkId, tip.finalHeight);
  if (moved > 0) deps.wake();
  return moved;
}

/** Highest block that is final for at least one value: nothing above it needs to be looked at. */
function highestFinal(finality: Finality, tip: ChainTip): number {
  return Math.max(
    ...finality.resolve.map(({ rule }) => ('blocks' in rule ? tip.height - rule.blocks + 1 : rule.tag === 'safe' ? tip.safeHeight : tip.finalHeight)),
  );
}

/** Books what is final of one payment's deposits; true when something was. */
async function creditPayment(deps: Deps, paymentId: string): Promise<boolean> {
  const [payment, open] = await Promise.all([findPayment(deps.db.sql, paymentId), listOpenDeposits(deps.db.sql, paymentId)]);
  if (payment === undefined) throw new Invariant(`payment ${paymentId} of a deposit does not exist`);
  const gateway = await findGateway(deps.db.sql, payment.gatewayId);
  if (gateway === undefined) throw new Invariant(`gateway ${payment.gatewayId} does not exist`);
  const maturitySeconds =
    gateway.settings.settings.maturitySeconds ?? POLICY.maturitySeconds[deps.config.NODE_ENV === 'production' ? 'production' : 'development'];
  // Prices come over the network: they are fetched before anything is locked.
  const prices = await marketPrices(deps, open);
  const batches = batchByBlock(open);

  const booked = await deps.db.transaction(async (tx) => {
    const locked = await lockPayment(tx, paymentId);
    if (locked === undefined) throw new Invariant(`payment ${paymentId} does not exist`);
    const offers = await listOffers(tx, paymentId);
    const still = await lockOpenDeposits(tx, open);
    let status = locked.status;
    let count = 0;
    let resolvedBy: Batch | undefined;
    for (const batch of batches) {
      if (!batch.deposits.every((deposit) => still.has(deposit.id))) continue;
      if (!(await isBatchFinal(tx, chainOf(deps, batch.first.networkId), batch, offers, prices))) continue;
      const outcome = await bookBatch(tx, deps, { payment: locked, status, offers, batch, prices, maturitySeconds });
      // The first deposit to reach finality decides, so those behind it wait for its price as well.
      if (outcome === 'waits') break;
      if (outcome !== status) resolvedBy = batch;
      status = outcome;
      count += 1;
    }
    return { count, status, resolvedBy };
  });
  if (booked.count === 0) return false;
  crashPoint('credit.committed');
  if (booked.resolvedBy !== undefined) await countResolution(deps, paymentId, booked.status, booked.resolvedBy);
  return true;
}

/** Metrics of a payment that has just come to rest. */
async function countResolution(deps: Deps, paymentId: string, status: PaymentStatus, { first }: Batch): Promise<void> {
  if (deps.metrics === undefined) return;
  const [payment, tip, { now }] = await Promise.all([findPayment(deps.db.sql, paymentId), readTip(deps.db.sql, first.networkId), readClock(deps.db.sql)]);
  const chain = chainOf(deps, first.networkId).config.name;
  deps.metrics.paymentsResolved.inc({ status, deposit_path: payment?.depositPath ?? 'standard', sandbox: 'false' });
  deps.metrics.seenToResolved.observe({ chain }, Math.max(0, now.getTime() - first.firstSeenAt.getTime()) / 1_000);
  if (tip !== undefined) deps.metrics.confirmedToResolved.observe({ chain }, Math.max(0, deps.wallClock() - tip.appliedAt.getTime()) / 1_000);
}

function chainOf(deps: Deps, networkId: string): Chain {
  const chain = [...deps.chains.values()].find((one) => one.id === networkId);
  if (chain === undefined) throw new Invariant(`network ${networkId} is not configured`);
  return chain;
}

async function marketPrices(deps: Deps, deposits: readonly OpenDeposit[]): Promise<Prices> {
  const prices = new Map<string, Usd>();
  for (const symbol of new Set(deposits.map((deposit) => deposit.symbol))) {
    const price = await deps.prices.fresh(symbol);
    if (price !== undefined) prices.set(symbol, price.usd);
  }
  return prices;
}

/** Groups deposits in chain order; dust and what arrived on a foreign network stay alone, because nothing is judged by them. */
function batchByBlock(deposits: readonly OpenDeposit[]): Batch[] {
  const batches = new Map<string, Batch>();
  for (const deposit of deposits) {
    const alone = !deposit.onOwnNetwork || isDust(deposit.amount, deposit.dustFloor);
    const key = alone ? deposit.id : `${deposit.networkId} ${deposit.blockHash} ${deposit.assetId} ${deposit.addressId}`;
    const batch = batches.get(key);
    if (batch === undefined) batches.set(key, { deposits: [deposit], first: deposit, total: deposit.amount });
    else {
      batch.deposits.push(deposit);
      batch.total = amount(batch.total + deposit.amount);
    }
  }
  return [...batches.values()];
}

/** Whether the batch is as final as its dollar value asks, on the tip as it is now; without any price, as the strictest tier asks. */
async function isBatchFinal(tx: Tx, chain: Chain, batch: Batch, offers: readonly Offer[], prices: Prices): Promise<boolean> {
  const tip = await readTip(tx, batch.first.networkId);
  if (tip === undefined) return false;
  const price = prices.get(batch.first.symbol) ?? offers.find((offer) => offer.assetId === batch.first.assetId)?.priceUsd;
  const { finality } = chain.config;
  if (price === undefined) return finality.resolve.every(({ rule }) => isFinal(rule, tip, batch.first.height));
  return isFinal(resolveRule(finality, coinsToUsd(batch.total, price, 'half-up')), tip, batch.first.height);
}

interface Booking {
  payment: Payment;
  /** Of the payment as earlier batches of the same transaction left it. */
  status: PaymentStatus;
  offers: readonly Offer[];
  batch: Batch;
  prices: Prices;
  maturitySeconds: number;
}

/** Books one final batch; answers the payment's status afterwards, or `waits` when a price is missing. */
async function bookBatch(tx: Tx, deps: Deps, booking: Booking): Promise<PaymentStatus | 'waits'> {
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
