import type { Chain, Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-tips.ts';
import { readClock } from '#api/store/clock.ts';
import { listOpenDeposits, listPaymentsWithOpenDeposits, lockOpenDeposits, type OpenDeposit } from '#api/store/deposits.ts';
import { findGateway } from '#api/store/gateways.ts';
import { listOffers } from '#api/store/payment-offers.ts';
import { findPayment, lockPayment } from '#api/store/payments.ts';
import { closeWorthlessSightings } from '#api/store/sightings.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import { bookBatch } from './book-deposit.ts';
import { type Batch, batchByBlock, highestFinal, isBatchFinal, type Prices } from './deposit-batch.ts';

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
