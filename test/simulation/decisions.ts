import { resolveHeldPayment, type Resolution } from '#api/aml/resolve-held-payment.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import { grantScreeningCredits } from '#api/store/screenings.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { totpCode } from '#test/harness/totp-code.ts';
import { keyed } from './cashouts.ts';
import type { Deed } from './deed.ts';
import { aStranger, type Cashout, type Model } from './model.ts';

/** Statuses in which somebody may want to do something about a cashout; anything else is tried now and then. */
const TRIED_ANYWAY = 0.15;

/** One of the accepted cashouts that is in such a status now, or, to be refused, any. */
async function oneOf(model: Model, statuses: readonly string[]): Promise<Cashout & { id: string }> {
  const accepted = model.cashouts.filter((one): one is Cashout & { id: string } => one.id !== null);
  if (model.random.chance(TRIED_ANYWAY)) return model.random.pick(accepted);
  const rows = await model.town.world.database.sql<
    { id: string }[]
  >`select id from settlements where status in ${model.town.world.database.sql([...statuses])}`;
  const wanted = accepted.filter((one) => rows.some(({ id }) => id === one.id));
  return model.random.pick(wanted.length > 0 ? wanted : accepted);
}

/** What a refusal was; anything that is no answer of the contract is thrown on. */
async function answered(what: string, work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return `${what}: done`;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return `${what}: ${error.code}`;
    if (error instanceof ServiceError && error.status === 503) return `${what}: ${error.code}`;
    throw error;
  }
}

const hasCashouts = ({ cashouts }: Model): boolean => cashouts.some((one) => one.id !== null);
const keyOf = ({ random }: Model): string => Buffer.from(random.bytes(8)).toString('hex');

/** The merchant's second person approves what waits for approval. */
export const approve: Deed = {
  name: 'approve',
  weight: 8,
  possible: hasCashouts,
  async run(model) {
    const { id, shop } = await oneOf(model, ['PENDING_APPROVAL']);
    const { deps } = model.town.process();
    const code = totpCode(await model.town.newAuthenticator(shop.gateway));
    return answered(
      id,
      approveSettlement(deps, { gateway: shop.gateway, id, totpCode: code, commit: keyed(deps, shop.gateway.id, 'approve', keyOf(model), { id }) }),
    );
  },
};

/** The merchant does not want to wait for the minute. */
export const retry: Deed = {
  name: 'retry',
  weight: 6,
  possible: hasCashouts,
  async run(model) {
    const { id, shop } = await oneOf(model, ['UNDERFUNDED']);
    const { deps } = model.town.process();
    return answered(id, retrySettlement(deps, { gateway: shop.gateway, id, commit: keyed(deps, shop.gateway.id, 'retry', keyOf(model), { id }) }));
  },
};

/** The merchant withdraws what is parked. */
export const cancel: Deed = {
  name: 'cancel',
  weight: 4,
  possible: hasCashouts,
  async run(model) {
    const { id, shop } = await oneOf(model, ['UNDERFUNDED', 'WAITING_AML_CREDIT']);
    const { deps } = model.town.process();
    return answered(id, cancelSettlement(deps, { gateway: shop.gateway, id, commit: keyed(deps, shop.gateway.id, 'cancel', keyOf(model), { id }) }));
  },
};

/** The operator ends a cashout, if nothing signed can still pay it. */
export const reject: Deed = {
  name: 'reject',
  weight: 4,
  possible: hasCashouts,
  async run(model) {
    const { id } = await oneOf(model, ['PENDING_APPROVAL', 'REQUESTED']);
    return answered(id, rejectSettlement(model.town.process().deps, { id, reason: 'the simulation wants it' }));
  },
};

/** Somebody pays for screening. */
export const topUp: Deed = {
  name: 'top up',
  weight: 4,
  possible: () => true,
  async run(model) {
    const shop = model.random.pick(model.shops.filter(({ gateway }) => gateway.settings.screening.enabled));
    const add = 1 + model.random.below(6);
    await model.town.process().deps.db.transaction((tx) => grantScreeningCredits(tx, shop.gateway.id, add));
    return `${shop.name}: ${add} credits`;
  },
};

/** The operator releases a held payment, withholds it, or orders it back to its payer. */
export const resolve: Deed = {
  name: 'resolve',
  weight: 5,
  possible: ({ paid }) => paid.some(({ flagged, sent }) => flagged && sent.length > 0),
  async run(model) {
    const paid = model.random.pick(model.paid.filter(({ flagged, sent }) => flagged && sent.length > 0));
    const action = model.random.pick(['RELEASE', 'REFUND', 'REFUND', 'WITHHOLD'] as const);
    const address = aStranger(model, paid.street);
    const resolution: Resolution = action === 'REFUND' ? { action, address } : { action };
    if (action === 'REFUND') model.refunds.push({ paid, destination: address });
    return answered(
      `${action} ${paid.id}`,
      resolveHeldPayment(model.town.process().deps, { paymentId: paid.id, resolution, reason: 'the simulation wants it' }),
    );
  },
};
