import type { Commit, Deps } from '#api/deps.ts';
import { committer, fingerprint } from '#api/http/idempotency.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { createSettlement } from '#api/settlements/create.ts';
import type { SettlementView } from '#api/settlements/view.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Deed } from './deed.ts';
import { aStranger, type Cashout, type Model } from './model.ts';
import { coinsFor } from './payments.ts';

/** A merchant asks for a cashout of anything between a sliver of its balance and more than that. */
export const cashOut: Deed = {
  name: 'cash out',
  weight: 16,
  possible: ({ paid }) => paid.some((one) => one.sent.length > 0),
  async run(model) {
    const { random } = model;
    const { shop, street, sent } = random.pick(model.paid.filter((one) => one.sent.length > 0));
    const asset = (sent[0] as { asset: Cashout['asset'] }).asset;
    const destination = aStranger(model, street);
    const screened = shop.gateway.settings.screening.enabled;
    if (screened && random.chance(0.3))
      await upsertScreeningScore(model.town.world.database.sql, { address: destination, score: random.chance(0.7) ? 95 : null });
    const cashout: Cashout = {
      id: null,
      key: Buffer.from(random.bytes(8)).toString('hex'),
      shop,
      street,
      asset,
      destination,
      answered: false,
      body: { assetId: asset.id, amount: await amountFor(model, shop.gateway, asset), address: destination, route: random.pick(shop.routes) },
    };
    model.cashouts.push(cashout);
    return `${shop.name}: ${cashout.body.amount} ${asset.symbol} on ${street.name} by ${cashout.body.route} to ${destination}: ${await ask(model, cashout)}`;
  },
};

/** A client whose call was never answered asks again under the same key. */
export const askAgain: Deed = {
  name: 'ask again',
  weight: 8,
  possible: ({ cashouts }) => cashouts.some((one) => !one.answered),
  async run(model) {
    const cashout = model.random.pick(model.cashouts.filter((one) => !one.answered));
    return `${cashout.key}: ${await ask(model, cashout)}`;
  },
};

/** Asks as a client does, and notes the answer: an id, a refusal, or none at all. */
export async function ask(model: Model, cashout: Cashout): Promise<string> {
  const { deps } = model.town.process();
  const { gateway } = cashout.shop;
  const call = keyed(deps, gateway.id, 'createSettlement', cashout.key, cashout.body);
  try {
    const reply = await createSettlement(deps, { gateway, body: cashout.body, commit: call });
    const { id, status } = reply.data as SettlementView;
    if (cashout.id !== null && cashout.id !== id) throw new Error(`one key made two settlements, ${cashout.id} and ${id}`);
    Object.assign(cashout, { id, answered: true });
    return `${status} ${id}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Busy is no answer; everything else is one, and nothing may come of it later.
    cashout.answered = error.status !== 503;
    return error.code;
  }
}

/** The one transaction of a call under an Idempotency-Key. */
export function keyed(deps: Deps, gatewayId: string, operation: string, key: string, body: unknown): Commit {
  const raw = Buffer.from(JSON.stringify(body));
  return committer(deps, { scope: { gatewayId, operation, key }, fingerprint: fingerprint('POST', `/api/v1/${operation}`, raw) }).commit;
}

/** Everything, a part, or more than there is. */
async function amountFor(model: Model, gateway: Cashout['shop']['gateway'], asset: Cashout['asset']): Promise<string> {
  const { random, town } = model;
  const { items } = await listBalances(town.process().deps, { gateway });
  const available = items.find((one) => one.assetId === asset.id)?.totalAvailable ?? '0';
  const kind = random.below(10);
  if (kind < 2 && available !== '0') return available;
  const dollars = 2 + random.below(kind < 8 ? 15 : 80);
  const wanted = coinsFor(asset, dollars, model);
  return kind < 8 && parseTrusted(available) > 0n && parseTrusted(wanted) > parseTrusted(available) ? formatAmount(parseTrusted(available)) : wanted;
}
