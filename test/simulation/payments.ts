import { createPayment } from '#api/payments/create.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { Deed } from './deed.ts';
import type { Model, Paid, Shop } from './model.ts';
import type { Street } from './street.ts';

/** Dollars of an asset's coin in this town. */
const USD: Readonly<Record<string, number>> = { ETH: 2_000, TRX: 0.3, BTC: 60_000, USDT: 1, USDC: 1 };
/** A payment must be worth its fees and no more than one transaction may move. */
const DOLLARS = { least: 4, most: 60 };

/** Decimal text of about so many dollars in an asset, with odd digits at the end. */
export function coinsFor(asset: StoredAsset, dollars: number, { random }: Model): string {
  const places = Math.min(asset.decimals, 9);
  const whole = BigInt(Math.round((dollars / (USD[asset.symbol] ?? 1)) * 1e6));
  const units = whole * 10n ** 12n + BigInt(random.below(1_000)) * 10n ** BigInt(18 - places);
  return formatAmount(units);
}

/** Deposits of screened gateways that screening calls dirty. */
const FLAGGED = 0.4;

/** A merchant opens a payment, and its payer gets an address. */
export const open: Deed = {
  name: 'open a payment',
  weight: 14,
  possible: ({ town }) => town.streets.some((street) => street.trouble === null),
  async run(model) {
    const { random, town } = model;
    const street = random.pick(town.streets.filter(({ trouble }) => trouble === null));
    const shop = random.pick(model.shops);
    const asset = random.pick(street.assets);
    const paid = await openPayment(model, shop, street, asset);
    model.paid.push(paid);
    return `${shop.name}: ${asset.symbol} on ${street.name} at ${paid.address}`;
  },
};

async function openPayment({ town, random }: Model, shop: Shop, street: Street, asset: StoredAsset): Promise<Paid> {
  const { deps } = town.process();
  const dollars = DOLLARS.least + random.below(DOLLARS.most - DOLLARS.least);
  const body = { currencyCode: 'USD', amount: String(dollars), checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/hook' };
  const created = await createPayment(deps, { gateway: shop.gateway, body, clientIp: '127.0.0.1', commit: plainCommit(deps) });
  const { payment } = created.data as { payment: { id: string; offers: { id: string; assetId: string; totalValue: string }[] } };
  const offer = payment.offers.find((one) => one.assetId === asset.id);
  if (offer === undefined) throw new Error(`nobody offers ${asset.symbol} on ${street.name}`);
  const selecting = selectOffer(deps, { paymentId: payment.id, offerId: offer.id, clientIp: '127.0.0.1' });
  const answered = selecting.then(
    () => true,
    () => true,
  );
  // The address is shown once an indexer watches it, and here the indexer looks when it is told to.
  const assigned = waitFor(
    async () => (await town.world.database.sql`select 1 from watches where network_id = ${street.id} and acked_epoch is null`).length > 0,
    { what: 'the address to be assigned' },
  );
  await Promise.race([answered, assigned]);
  await town.mine(street, 1);
  await town.follow(street);
  const { depositAddress } = (await selecting).data as { depositAddress?: string };
  const parsed = street.chain.codec.parse(depositAddress ?? '');
  if (!parsed.ok) throw new Error(`payment ${payment.id} got no address`);
  const flagged = shop.gateway.settings.screening.enabled && random.chance(FLAGGED);
  if (flagged) await upsertScreeningScore(town.world.database.sql, { address: parsed.canonical, score: 90 });
  return { id: payment.id, shop, street, offered: asset, totalValue: offer.totalValue, address: parsed.canonical, sent: [], flagged, closed: false };
}

/** Somebody pays: exactly, too little, too much, in another coin, or once more. */
export const pay: Deed = {
  name: 'pay',
  weight: 20,
  possible: ({ paid }) => paid.some(isPayable),
  async run(model) {
    const { random, town } = model;
    const paid = random.pick(model.paid.filter(isPayable));
    const again = paid.sent[0];
    const exact = again === undefined && random.chance(0.7);
    const asset = again?.asset ?? (exact || random.chance(0.5) ? paid.offered : random.pick(paid.street.assets));
    const amount = exact ? paid.totalValue : coinsFor(asset, DOLLARS.least + random.below(DOLLARS.most), model);
    const rawAmount = toUnits(parseTrusted(amount), asset.decimals) as bigint;
    const payer = random.pick([0, 1, 2] as const);
    const txid = await paid.street.node.payFrom(payer, asset.symbol, { to: paid.address, rawAmount });
    paid.sent.push({ txid, asset, rawAmount, payer });
    // Mined at once: who pays next must find the payer's nonce where the node says it is.
    await town.mine(paid.street, 1);
    return `payer ${payer} sends ${amount} ${asset.symbol} to ${paid.address}`;
  },
};

/** Two transfers at most; more would only repeat them. */
function isPayable(paid: Paid): boolean {
  return !paid.closed && paid.sent.length < 2;
}
