import type { Chain, Deps, Price } from '#api/deps.ts';
import { type ChainTip, listTips, readTip } from '#api/store/chain-blocks.ts';
import { listCreditedNetworks } from '#api/store/credits.ts';
import { listOpenDeposits, listPaymentsWithOpenDeposits, lockOpenDeposits, type OpenPayment } from '#api/store/deposits.ts';
import { findGateway } from '#api/store/gateways.ts';
import { type AccountKey, findAccounts } from '#api/store/ledger.ts';
import { mayHaveWork, workOf } from '#api/store/outbox.ts';
import { listOffers } from '#api/store/payment-offers.ts';
import { findPayment, lockPayment, type Payment } from '#api/store/payments.ts';
import { closeWorthlessSightings } from '#api/store/sightings.ts';
import { traceOfPayment } from '#api/store/traces.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { ChainHeights } from '#shared/core/finality.ts';
import { POLICY } from '#shared/core/policy.ts';
import { breathe } from '#shared/platform/breathe.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { spanWithin } from '#shared/platform/tracing.ts';
import { accountsOfCredits } from '#state-machines/ledger/postings.ts';
import { type Aside, asideOf, bookBatch, type Booked, setAside } from './book-deposit.ts';
import { type Batch, batchByBlock, finalityOf, highestFinal } from './deposit-batch.ts';
import { fiatSymbol, type Prices } from './outcome.ts';
import { type AheadOf, NOTHING_AHEAD, tipFor } from './read-ahead.ts';
import { askSecondOpinions, doubtAbout, type Evidence, keepWaiting, type Opinions } from './second-opinion.ts';

/**
 * Decides about every deposit of a network that has become final: credits it and moves its payment, or sets it aside (contract 3.1, decisions 3 to
 * 5).
 * Uses one transaction per payment. A deposit that cannot be judged because a price is missing is left for the next call. Any number of workers may
 * call it at the same time, and again after a crash. Whoever has just written the tip says so; that only says which deposits are looked at. Returns how many payments it booked
 * something for.
 */
export async function creditFinalDeposits(deps: Deps, networkId: string, written?: WrittenTip): Promise<number> {
  const chain = chainOf(deps, networkId);
  const tip = written?.tip ?? (await readTip(deps.db.sql, networkId));
  if (chain === undefined || tip === undefined) return 0;
  let moved = 0;
  const untilMs = deps.wallClock() + POLICY.secondOpinionPassMs;
  const open = written?.open ?? (await listFinalDeposits(deps.db.sql, chain, tip));
  const { ready, waiting } = inFairOrder(open, await missingPrices(deps, open), deps.wallClock());
  // A pass may take long, and only whoever wrote the tip knows that it does not move meanwhile: what is final by a newer one has to be asked about, too.
  const tips = new Map(written === undefined ? [] : [[networkId, written.tip]]);
  for (let from = 0; from < ready.length; from += TOGETHER) moved += await creditTogether(deps, ready.slice(from, from + TOGETHER), { tips, untilMs });
  // Some of those that wait have their turn in each pass, and no more of them than it has time for: the next blocks wait for it to end.
  for (let from = 0; from < waiting.length && (from === 0 || deps.wallClock() < untilMs); from += TOGETHER)
    moved += await creditTogether(deps, waiting.slice(from, from + TOGETHER), { tips, untilMs });
  await closeWorthlessSightings(deps.db.sql, networkId, tip.finalHeight);
  return moved;
}

/** A tip that was just written, and the payments with deposits that are final by it, where they were read in the same transaction. */
export interface WrittenTip {
  tip: ChainHeights;
  open?: readonly OpenPayment[] | undefined;
}

/** The payments that may have something to be decided about by a tip. */
export function listFinalDeposits(reads: Reads, { id, config }: Chain, tip: ChainHeights): Promise<OpenPayment[]> {
  return listPaymentsWithOpenDeposits(reads, id, highestFinal(config.finality, tip));
}

/** Decides about the deposits of some payments, each in a transaction of its own; returns for how many it booked something. Providers are asked about all of them together. */
async function creditTogether(
  deps: Deps,
  payments: readonly OpenPayment[],
  { tips, untilMs }: { tips: ReadonlyMap<string, ChainHeights>; untilMs: number },
): Promise<number> {
  let moved = 0;
  const prepared: Prepared[] = [];
  for (let from = 0; from < payments.length; from += PREPARED_AT_ONCE) {
    const ready = payments.slice(from, from + PREPARED_AT_ONCE).map((one) => trying(deps, one.paymentId, () => prepare(deps, one.paymentId, one)));
    prepared.push(...(await Promise.all(ready)).filter((one) => one !== undefined));
  }
  const opinions = await askSecondOpinions(deps, prepared, untilMs, tips);
  for (const ready of prepared) {
    const { paymentId } = ready;
    const credit = async () => book(deps, ready, opinions);
    const traced = async () => spanWithin(await traceOfPayment(deps.db.sql, paymentId), 'payment.credit', { payment: paymentId }, credit);
    if (await trying(deps, paymentId, traced)) moved += 1;
  }
  return moved;
}

/** The prices that payments wait for and that are still missing. */
async function missingPrices(deps: Deps, open: readonly OpenPayment[]): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (const symbol of new Set(open.flatMap(({ waitsFor }) => waitsFor))) if ((await deps.prices.fresh(symbol)) === undefined) missing.add(symbol);
  return missing;
}

/**
 * Books the final deposits of one payment on every network, in one transaction; returns whether it booked any.
 * For callers that have just allocated a deposit. `ahead` holds what the caller read beyond the tips, by
 * network. Locks the payment, then its deposits, then the ledger.
 */
export async function creditPayment(deps: Deps, paymentId: string, ahead: AheadOf = NOTHING_AHEAD): Promise<boolean> {
  const ready = { ...(await prepare(deps, paymentId)), ahead };
  return book(deps, ready, await askSecondOpinions(deps, [ready], deps.wallClock() + POLICY.secondOpinionPassMs));
}

/** How many payments' deposits are asked about together; deposits of one block share a question. */
const TOGETHER = 100;
/** As many as there are connections for single statements: one payment's reads go out together as well. */
const PREPARED_AT_ONCE = 5;

/** Facts about a payment that were read before anything was locked. */
interface Prepared extends Evidence {
  paymentId: string;
  maturitySeconds: number;
  screening: boolean;
  /** Assets whose prices were asked for. */
  priced: ReadonlySet<string>;
  /** The ledger accounts that its credits may need. */
  accounts: readonly AccountKey[];
}

/**
 * Orders payments so that one payer who keeps providers busy, or an asset without a price, cannot hold up the deposits of others. Pure.
 * Those that can be decided about are `ready`, in the order of their blocks. Doubted ones are `waiting`, and behind them those for which a price is missing; of
 * both a different one is the first each second.
 */
function inFairOrder(payments: readonly OpenPayment[], missing: ReadonlySet<string>, nowMs: number): { ready: OpenPayment[]; waiting: OpenPayment[] } {
  const ready: OpenPayment[] = [];
  const doubted: OpenPayment[] = [];
  const unpriced: OpenPayment[] = [];
  for (const one of payments) (one.waitsFor.some((symbol) => missing.has(symbol)) ? unpriced : one.doubted ? doubted : ready).push(one);
  return { ready, waiting: [...inTurn(doubted, nowMs), ...inTurn(unpriced, nowMs)] };
}

function inTurn<T>(all: readonly T[], nowMs: number): T[] {
  const turn = all.length === 0 ? 0 : Math.floor(nowMs / 1_000) % all.length;
  return [...all.slice(turn), ...all.slice(0, turn)];
}

/** Logs an error instead of throwing it: a payment that cannot be booked must not hold up the others. */
async function trying<T>(deps: Deps, paymentId: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    deps.log.error({ err: error, paymentId }, 'cannot book a final deposit; it will be tried again');
    return undefined;
  }
}

/** Fetches prices and everything else that comes over the network, before anything is locked; with what is `known` of the payment nearly always in one round trip. */
async function prepare(deps: Deps, paymentId: string, known?: OpenPayment): Promise<Prepared> {
  const [payment, open, offers, itsGateway, early] = await Promise.all([
    findPayment(deps.db.sql, paymentId),
    listOpenDeposits(deps.db.sql, paymentId),
    listOffers(deps.db.sql, paymentId),
    known === undefined ? undefined : findGateway(deps.db.sql, known.gatewayId),
    marketPrices(deps, known?.symbols ?? []),
  ]);
  if (payment === undefined) throw new Invariant(`payment ${paymentId} of a deposit does not exist`);
  const priced = new Set(open.map((deposit) => deposit.symbol));
  const late = [...symbolsOf(payment, priced)].filter((symbol) => known?.symbols.includes(symbol) !== true);
  const [gateway, further] = await Promise.all([itsGateway ?? findGateway(deps.db.sql, payment.gatewayId), marketPrices(deps, late)]);
  const prices = new Map([...early, ...further]);
  if (gateway === undefined) throw new Invariant(`gateway ${payment.gatewayId} does not exist`);
  const { settings } = gateway.settings;
  const maturitySeconds = settings.maturitySeconds ?? POLICY.maturitySeconds[deps.config.NODE_ENV === 'production' ? 'production' : 'development'];
  const assetIds = [...new Set(open.map((deposit) => deposit.assetId))];
  const accounts = assetIds.flatMap((assetId) => accountsOfCredits(gateway.id).map((account) => ({ ...account, assetId })));
  return { paymentId, open, offers, prices, maturitySeconds, priced, accounts, screening: gateway.settings.screening.enabled, ahead: NOTHING_AHEAD };
}

/**
 * Books the final deposits of a prepared payment in one transaction; returns whether it booked any. Locks the payment, then its deposits, then the
 * ledger.
 */
async function book(deps: Deps, { paymentId, priced, prices, maturitySeconds, screening, ahead, ...prepared }: Prepared, opinions: Opinions): Promise<boolean> {
  let within: Tx | undefined;
  const booked = await deps.db.transaction(async (tx) => {
    within = tx;
    // Sent together and answered in this order. Deposits are read again under their locks, because an inquiry, an operator or a reorganisation may have
    // changed them.
    const [locked, offers, still, open, listed, creditedOn, accounts] = await Promise.all([
      lockPayment(tx, paymentId),
      listOffers(tx, paymentId),
      lockOpenDeposits(tx, paymentId),
      listOpenDeposits(tx, paymentId),
      listTips(tx),
      listCreditedNetworks(tx, paymentId),
      findAccounts(tx, prepared.accounts),
    ]);
    if (locked === undefined) throw new Invariant(`payment ${paymentId} does not exist`);
    const { now } = locked;
    const batches = batchByBlock(open.filter((deposit) => still.has(deposit.id)));
    let status = locked.status;
    const matches: { chain: string; match: Booked['match'] }[] = [];
    let resolved: Resolved | undefined;
    const asides: Aside[] = [];
    const tips = new Map(listed.map((tip) => [tip.networkId, tip]));
    for (const batch of batches) {
      await breathe();
      // This deposit came after the prices were read. The next pass decides about it and those behind it.
      if (!priced.has(batch.first.symbol)) break;
      const chain = chainOf(deps, batch.first.networkId);
      // Nothing becomes final on a network that this deployment does not serve, or no longer serves.
      if (chain === undefined) continue;
      const finality = finalityOf(tipFor(ahead, batch) ?? tips.get(chain.id), chain, batch, offers, prices);
      if (finality === undefined) continue;
      const why = doubtAbout(deps, chain, batch, { offers, prices }, opinions);
      if (why !== null) {
        await keepWaiting(tx, deps, batch, { why, now });
        // The first deposit to reach finality decides the payment, so those behind it wait for it.
        if (status === 'PENDING' || status === 'EXPIRED') break;
        continue;
      }
      const state = asideOf({ payment: locked, status, batch });
      if (state !== null) {
        asides.push({ batch, state });
        matches.push({ chain: chain.config.name, match: state === 'dust' ? 'dust' : 'unmatched' });
        continue;
      }
      const outcome = await bookBatch(tx, deps, {
        payment: locked,
        status,
        offers,
        batch,
        finality,
        prices,
        maturitySeconds,
        screening,
        now,
        creditedOn,
        accounts,
      });
      // The first deposit to reach finality decides, so those behind it wait for its price as well.
      if (outcome === 'decision-waits') break;
      if (outcome === 'credit-waits') continue;
      if (outcome.status !== status) resolved = { batch, chain, tip: tips.get(chain.id), now, ...outcome };
      status = outcome.status;
      matches.push({ chain: chain.config.name, match: outcome.match });
    }
    await setAside(tx, asides);
    return { matches, resolved };
  });
  if (booked.matches.length === 0) return false;
  crashPoint('credit.committed');
  // At once, and not behind the other payments of a block.
  if (within !== undefined && mayHaveWork(within)) deps.wake(workOf(within));
  deps.announce([paymentId]);
  for (const { chain, match } of booked.matches) deps.metrics?.deposits.inc({ chain, match });
  if (booked.resolved !== undefined) countResolution(deps, booked.resolved);
  return true;
}

/** What moved a payment to a resting status, and the tip and the service time that its booking read. */
interface Resolved extends Booked {
  batch: Batch;
  chain: Chain;
  tip: ChainTip | undefined;
  now: Date;
}

/** Counts metrics of a payment that has just reached a resting status. */
function countResolution({ metrics, wallClock }: Deps, { status, path, batch, tip, now, ...by }: Resolved): void {
  const chain = by.chain.config.name;
  metrics?.paymentsResolved.inc({ status, deposit_path: path, sandbox: 'false' });
  metrics?.seenToResolved.observe({ chain }, Math.max(0, now.getTime() - batch.first.firstSeenAt.getTime()) / 1_000);
  if (tip !== undefined) metrics?.confirmedToResolved.observe({ chain }, Math.max(0, wallClock() - tip.appliedAt.getTime()) / 1_000);
}

function chainOf(deps: Deps, networkId: string): Chain | undefined {
  return [...deps.chains.values()].find((one) => one.id === networkId);
}

/** The prices needed to judge deposits of these assets, and for an open amount the rate of its currency. */
function symbolsOf(payment: Payment, received: ReadonlySet<string>): ReadonlySet<string> {
  const symbols = new Set(received);
  if (payment.openAmount && payment.currencyCode !== 'USD') symbols.add(fiatSymbol(payment.currencyCode));
  return symbols;
}

/** Those of them that are fresh. */
async function marketPrices(deps: Deps, symbols: readonly string[]): Promise<Prices> {
  const prices = await Promise.all(symbols.map(async (symbol) => [symbol, await deps.prices.fresh(symbol)] as const));
  return new Map(prices.filter((entry): entry is readonly [string, Price] => entry[1] !== undefined));
}
