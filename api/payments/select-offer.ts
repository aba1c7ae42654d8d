import { setTimeout as pause } from 'node:timers/promises';
import type { Chain, Deps, Reply } from '#api/deps.ts';
import { insertDepositAddress, listDepositAddresses, nextDerivationIndex, insertWatches, isWatched } from '#api/store/deposit-addresses.ts';
import { listOffers, markSelected, type Offer } from '#api/store/payment-offers.ts';
import { isPaymentOpen, lockPayment, type Payment } from '#api/store/payments.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { isUuid, rowId } from '#shared/core/ids.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { loadHostedPayment, loadPublicPayment } from './load.ts';
import { assertDerived, offerView, shownAddress } from './view.ts';

const FIRST_POLL_MS = 50;
/** Longest pause between two looks. While an indexer is away many calls wait for it, and their looking must not become a load. */
const LONGEST_POLL_MS = 400;
const DAY_MS = 86_400_000;

export interface SelectOffer {
  paymentId: string;
  offerId: string;
  clientIp: string;
}

/**
 * Selects an offer of an API-mode payment for the merchant's server (contract 4.2); see `select` for what it answers.
 * @throws not_found; forbidden from an address off the allowlist; conflict on a hosted payment, and as `select` does; service_unavailable
 */
export async function selectOffer(deps: Deps, call: SelectOffer): Promise<Reply> {
  const payment = await loadPublicPayment(deps, call);
  const offer = await findOffer(deps, payment, call.offerId);
  if (payment.checkoutMode !== 'API') throw new ServiceError('conflict', { message: 'Only a payment in API checkout mode is selected through this call.' });
  return select(deps, payment, offer);
}

/**
 * Selects an offer of a hosted payment for its checkout page, by the same rules (decisions 9).
 * @throws not_found; forbidden on a payment in API mode; conflict and service_unavailable as `select` does
 */
export async function selectHostedOffer(deps: Deps, call: Omit<SelectOffer, 'clientIp'>): Promise<Reply> {
  const payment = await loadHostedPayment(deps, call);
  return select(deps, payment, await findOffer(deps, payment, call.offerId));
}

/** Finds an offer of the payment. @throws not_found for a malformed id, an unknown one and one of another payment alike */
async function findOffer(deps: Deps, payment: Payment, offerId: string): Promise<Offer> {
  const offer = isUuid(offerId) ? (await listOffers(deps.db.sql, payment.id)).find((one) => one.id === offerId.toLowerCase()) : undefined;
  if (offer === undefined) throw new ServiceError('not_found');
  return offer;
}

/**
 * Assigns the deposit address of an offer's network and replies once that network's indexer watches it; after about 5 s it replies 202, and the
 * caller is meant to call again (contract 2.5, 4.2).
 * Locks the payment while the address is assigned, so any number of calls at once lead to one address per network. Holds neither a lock nor a
 * connection while it waits.
 * @throws conflict when the payment is not PENDING or its deadline has passed, before or during the wait; service_unavailable while the network is
 * paused, or the asset stopped since it was offered
 */
async function select(deps: Deps, payment: Payment, offer: Offer): Promise<Reply> {
  const endTimer = deps.metrics?.addressAssignDuration.startTimer({ chain: offer.networkName });
  try {
    const address = await deps.db.transaction((tx) => assign(tx, deps, payment.id, offer));
    crashPoint('address.committed');
    deps.announce([payment.id]);
    if (address !== null) {
      await awaitWatch(deps, offer, address);
      // A payment that ended meanwhile must not show an address to pay to.
      if (!(await isPaymentOpen(deps.db.sql, payment.id))) throw expired();
    }
    const answer = await reply(deps, payment, offer);
    if (address !== null) endTimer?.({ result: answer.status === 200 ? 'assigned' : 'pending' });
    return answer;
  } catch (error) {
    // The metric is about assigning addresses, so a payment that can no longer be selected does not count.
    if (!(error instanceof ServiceError && error.code === 'conflict')) endTimer?.({ result: 'error' });
    throw error;
  }
}

/** Selects the offer and gives the payment its address on that network, if it has none; null for a sandbox payment, which needs none. */
async function assign(tx: Tx, deps: Deps, paymentId: string, offer: Offer): Promise<string | null> {
  const payment = await lockPayment(tx, paymentId);
  if (payment === undefined) throw new Invariant(`payment ${paymentId} is gone`);
  if (payment.status !== 'PENDING') throw new ServiceError('conflict', { message: `The payment is ${payment.status}, no longer PENDING.` });
  if (payment.overdue) throw expired();
  await markSelected(tx, paymentId, offer.id);
  if (payment.sandbox) return null;

  const chain = deps.chains.get(offer.networkName);
  if (chain === undefined) throw new ServiceError('service_unavailable', { message: `This deployment does not serve ${offer.networkName} at the moment.` });
  // Another asset of the network may have its address already. Who selected this one before it was stopped may have sent it, so that answer stays.
  if (offer.selectedAt === null && (offer.issuerStopped || offer.unwatchable))
    throw new ServiceError('service_unavailable', { message: `${offer.symbol} on ${offer.networkName} cannot be taken at the moment; choose another asset.` });
  const existing = (await listDepositAddresses(tx, paymentId)).find((one) => one.networkId === offer.networkId);
  if (existing === undefined) return newAddress(tx, deps, payment, offer, chain);
  assertDerived(chain, existing);
  return existing.address;
}

/**
 * Derives the next address of the family and has it watched on every network of the family, because coins sent to it on another network must be
 * noticed too.
 */
async function newAddress(tx: Tx, deps: Deps, payment: Payment, offer: Offer, chain: Chain): Promise<string> {
  if (offer.networkPaused) throw new ServiceError('service_unavailable', { message: `New addresses on ${offer.networkName} are paused; retry later.` });
  const derivationIndex = await nextDerivationIndex(tx, offer.family);
  crashPoint('address.index-reserved');
  const address = chain.deriver.depositAddress(derivationIndex);
  const { id: paymentId } = payment;
  await insertDepositAddress(tx, { id: rowId(deps), paymentId, networkId: offer.networkId, family: offer.family, derivationIndex, address });
  const siblings = [...deps.chains.values()].filter((one) => one.config.family === offer.family).map((one) => one.id);
  const watchUntil = Math.min(payment.expiresAt.getTime() + POLICY.watchDays * DAY_MS, Date.parse(POLICY.latestDeadline));
  await insertWatches(tx, siblings, { address, until: new Date(watchUntil), paymentId });
  return address;
}

/** Waits until the indexer has acknowledged the address, for about 5 s at most. It reads the row itself, so it misses no acknowledgement. */
async function awaitWatch(deps: Deps, offer: Offer, address: string): Promise<void> {
  for (const chain of deps.chains.values()) if (chain.config.family === offer.family) deps.nudgeIndexer(chain.config.name);
  const until = performance.now() + POLICY.selectWaitMs;
  let wait = FIRST_POLL_MS;
  while (!(await isWatched(deps.db.sql, offer.networkId, address)) && performance.now() < until) {
    await pause(wait);
    wait = Math.min(wait * 1.5, LONGEST_POLL_MS);
  }
}

function expired(): ServiceError {
  return new ServiceError('conflict', { message: 'The payment has expired.' });
}

/** Builds the SelectOfferResult (contract 2.5) from what is committed now. */
async function reply(deps: Deps, payment: Payment, selected: Offer): Promise<Reply> {
  const [offers, addresses] = await Promise.all([listOffers(deps.db.sql, payment.id), listDepositAddresses(deps.db.sql, payment.id)]);
  const offer = offers.find((one) => one.id === selected.id) ?? selected;
  const depositAddress = shownAddress(deps, payment, addresses, offer);
  const common = {
    amount: formatAmount(offer.totalValue),
    paymentStatus: 'PENDING',
    expiresAt: payment.expiresAt.toISOString(),
    offer: offerView(deps, { payment, addresses }, offer),
  };
  return depositAddress === undefined
    ? { status: 202, data: { assignmentStatus: 'PENDING', retryAfterMs: POLICY.selectRetryAfterMs, ...common } }
    : { status: 200, data: { assignmentStatus: 'ASSIGNED', depositAddress, ...common } };
}
