import type { Deps } from '#api/deps.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { listOffers, markSelected, type Offer } from '#api/store/payment-offers.ts';
import { findPayment, lockPayment, type Payment } from '#api/store/payments.ts';
import {
  countSandboxDust,
  findSeenSandboxDeposit,
  insertSandboxDeposit,
  listDueSandboxPayments,
  type SeenSandboxDeposit,
} from '#api/store/sandbox-deposits.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isDust, isWithinGrace } from '#state-machines/payment/judge-deposit.ts';
import type { Scenario } from '#state-machines/payment/scenario.ts';
import { expireNow } from './expire.ts';
import { loadPublicPayment } from './load.ts';
import type { Prices } from './outcome.ts';
import { type Scene, settleSimulated, withoutPrice } from './settle-simulated.ts';
import { amountOf, chooseArriving } from './simulated-arrival.ts';
import { statusView } from './view.ts';

export interface Simulation {
  scenario: Scenario;
  /** In the asset that arrives; overrides the scenario's own amount. */
  amount?: string;
  assetId?: string;
}

/**
 * Plays a scenario for whoever may open the payment: anybody who knows its id, or one of its gateway's servers.
 * @throws not_found, forbidden; what `playScenario` throws
 */
export async function simulatePayment(deps: Deps, call: { paymentId: string; clientIp: string; simulation: Simulation }): Promise<object> {
  return playScenario(deps, await loadPublicPayment(deps, call), call.simulation);
}

/**
 * Plays a scenario on a sandbox payment, with the rules, machine and webhooks of a real deposit but no ledger (decisions 9). Returns the
 * status-only object.
 * Locks the payment, so only one of several simultaneous simulations resolves it.
 * @throws conflict on a payment that is not sandbox or not in a state for it; validation_error naming the field;
 * service_unavailable when the scenario needs a price of the arriving asset and there is no fresh one
 */
export async function playScenario(deps: Deps, { id, sandbox }: Pick<Payment, 'id' | 'sandbox'>, simulation: Simulation): Promise<object> {
  if (!sandbox) throw conflict('Only a payment created with isSandbox can be simulated.');
  const assets = await listAssets(deps.db.sql);
  const prices = await readPrices(deps, assets);
  await deps.db.transaction(async (tx) => {
    const payment = await lockPayment(tx, id);
    if (payment === undefined) throw new Invariant(`payment ${id} is gone`);
    const [offers, seen] = [await listOffers(tx, id), await findSeenSandboxDeposit(tx, id)];
    const scene = { payment, offers, assets, prices, now: payment.now };
    if (payment.status !== 'PENDING' && payment.status !== 'EXPIRED') throw conflict(`The payment is ${payment.status} already.`);
    if (seen !== undefined) return confirmEarly(tx, deps, scene, seen, simulation);
    await play(tx, deps, scene, { ...simulation, overdue: payment.overdue });
  });
  deps.wake();
  deps.announce([id]);
  const payment = await findPayment(deps.db.sql, id);
  if (payment === undefined) throw new Invariant(`payment ${id} is gone`);
  return statusView(payment);
}

const BATCH = 100;

/** Confirms every simulated deposit whose time has come; returns how many. */
export async function confirmDueSimulations(deps: Deps): Promise<number> {
  const due = await listDueSandboxPayments(deps.db.sql, BATCH);
  if (due.length === 0) return 0;
  const assets = await listAssets(deps.db.sql);
  const prices = await readPrices(deps, assets);
  const confirmed: string[] = [];
  for (const id of due) {
    try {
      if (await deps.db.transaction((tx) => confirmSeen(tx, deps, id, { assets, prices }))) confirmed.push(id);
    } catch (error) {
      // A payment that cannot be resolved must not hold up the others.
      deps.log.error({ err: error, paymentId: id }, 'cannot confirm a simulated deposit; it will be tried again');
    }
  }
  if (confirmed.length === 0) return 0;
  deps.wake();
  deps.announce(confirmed);
  return confirmed.length;
}

async function confirmSeen(tx: Tx, deps: Deps, id: string, known: Pick<Scene, 'assets' | 'prices'>): Promise<boolean> {
  const payment = await lockPayment(tx, id);
  const seen = await findSeenSandboxDeposit(tx, id);
  if (payment === undefined || seen === undefined) return false;
  await settleSimulated(tx, deps, { ...known, payment, offers: await listOffers(tx, id), now: payment.now }, seen);
  return true;
}

/** Confirms the deposit at once on the second `seen_then_confirmed`, without waiting for the periodic pass. */
async function confirmEarly(tx: Tx, deps: Deps, scene: Scene, seen: SeenSandboxDeposit, { scenario }: Simulation): Promise<void> {
  if (scenario !== 'seen_then_confirmed') throw conflict('A simulated deposit awaits its confirmation.');
  await settleSimulated(tx, deps, scene, seen);
}

/** Plays a scenario on a payment that no simulated deposit is on its way to. */
async function play(tx: Tx, deps: Deps, scene: Scene, { scenario, ...wish }: Simulation & { overdue: boolean }): Promise<void> {
  const { payment, now } = scene;
  if (payment.status === 'EXPIRED' && scenario !== 'late_capture') throw conflict('The payment is EXPIRED; only late_capture is left.');
  if (wish.overdue && scenario !== 'late_capture' && scenario !== 'expired') throw conflict('The payment has expired.');
  if (scenario === 'expired') return expireNow(tx, deps, payment.id, scenario);

  const arriving = chooseArriving(scenario, wish.assetId, scene);
  const selected = { ...scene, offers: await selectFor(tx, scene, arriving.offer) };
  const { setting, seenAt } = scenario === 'late_capture' ? afterDeadline(selected, wish.overdue, arriving.asset) : { setting: selected, seenAt: now };
  const received = amountOf(scenario, wish.amount, setting, arriving, seenAt);
  const dust = isDust(received, arriving.asset.dustFloor);
  if (dust && (await countSandboxDust(tx, payment.id)) >= POLICY.sandboxDust)
    throw conflict(`The payment has ${POLICY.sandboxDust} simulated deposits that are too small to decide, which is as many as it may have.`);
  if (setting.payment.status !== payment.status) await expireNow(tx, deps, payment.id, scenario);

  const deposit: SeenSandboxDeposit = {
    id: uuidFrom(deps.randomBytes(16)),
    paymentId: payment.id,
    assetId: arriving.asset.id,
    txid: `sandbox-${Buffer.from(deps.randomBytes(32)).toString('hex')}`,
    amount: received,
    firstSeenAt: seenAt,
  };
  const waits = scenario === 'seen_then_confirmed' && !dust;
  const confirmsAt = waits ? new Date(now.getTime() + POLICY.sandboxConfirmSeconds * 1_000) : now;
  await insertSandboxDeposit(tx, { ...deposit, scenario, confirmsAt });
  if (!waits) await settleSimulated(tx, deps, setting, deposit);
}

/**
 * The payment as a late deposit finds it: expired, its deadline moved to now unless it has passed. The deposit is first seen after the deadline,
 * never at it.
 * @throws conflict after the grace period; service_unavailable when the market price that values a late deposit is missing
 */
function afterDeadline(scene: Scene, overdue: boolean, { symbol }: StoredAsset): { setting: Scene; seenAt: Date } {
  const { payment, now, prices } = scene;
  const expiresAt = payment.status === 'EXPIRED' || overdue ? payment.expiresAt : now;
  const seenAt = new Date(Math.max(now.getTime(), expiresAt.getTime() + 1));
  if (!isWithinGrace(seenAt.getTime(), expiresAt.getTime(), payment.graceSeconds))
    throw conflict('The grace period after expiry is over: such a deposit would be left unallocated.');
  if (!prices.has(symbol)) throw withoutPrice(symbol);
  return { setting: { ...scene, payment: { ...payment, expiresAt, status: 'EXPIRED' } }, seenAt };
}

/** Selects the offer unless it is selected already, as a payer would have done to see an address. */
async function selectFor(tx: Tx, { payment, offers, now }: Scene, offer: Offer): Promise<readonly Offer[]> {
  if (offer.selectedAt !== null) return offers;
  await markSelected(tx, payment.id, offer.id);
  return offers.map((one) => (one.id === offer.id ? { ...one, selectedAt: now } : one));
}

async function readPrices(deps: Deps, assets: readonly StoredAsset[]): Promise<Prices> {
  const symbols = [...new Set(assets.map((asset) => asset.symbol))];
  const found = await Promise.all(symbols.map(async (symbol) => [symbol, await deps.prices.fresh(symbol)] as const));
  return new Map(found.flatMap(([symbol, price]) => (price === undefined ? [] : [[symbol, price] as const])));
}

function conflict(message: string): ServiceError {
  return new ServiceError('conflict', { message });
}
