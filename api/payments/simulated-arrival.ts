import type { StoredAsset } from '#api/store/assets.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import { Invariant, invalid } from '#shared/core/errors.ts';
import { type Coins, coinsToUsd, MONEY_LIMIT, parseAmount, toUnits, usdToCoins } from '#shared/core/money.ts';
import { type Judgement, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import { type DepositScenario, scenarioAmount } from '#state-machines/payment/scenario.ts';
import { judgedPayment } from './judged-payment.ts';
import { type Scene, withoutPrice } from './settle-simulated.ts';

/** The asset that arrives, and the offer that it pays. */
export interface Arriving {
  asset: StoredAsset;
  offer: Offer;
}

/**
 * Chooses the asset that arrives and the offer that it pays: the named asset's offer, else the last selected one, else the first. Pure.
 * A wrong asset is one that was not selected, on a network that was, because no indexer would look for it elsewhere: the named one, else one with a
 * price, preferably on the offer's own network.
 * @throws validation_error naming assetId
 */
export function chooseArriving(scenario: DepositScenario, assetId: string | undefined, { payment, offers, assets, prices }: Scene): Arriving {
  const named = assetId?.toLowerCase();
  const last = offers.find((offer) => offer.id === payment.selectedOfferId);
  const assetOf = (offer: Offer): StoredAsset => {
    const asset = assets.find((one) => one.id === offer.assetId);
    if (asset === undefined) throw new Invariant(`asset ${offer.assetId} of an offer does not exist`);
    return asset;
  };
  if (scenario !== 'wrong_asset') {
    const offer = named === undefined ? (last ?? offers[0]) : offers.find((one) => one.assetId === named);
    if (offer === undefined) throw invalid('assetId', 'must be an asset that the payment offers');
    return { offer, asset: assetOf(offer) };
  }
  const offer = last ?? offers.find((one) => one.assetId !== named);
  if (offer === undefined) throw invalid('assetId', 'is the only asset that the payment offers, so it cannot be the wrong one');
  const selected = [offer, ...offers.filter((one) => one.selectedAt !== null)];
  const right = new Set(selected.map((one) => one.assetId));
  const networks = new Set(selected.map((one) => one.networkId));
  const wrong = assets.filter((asset) => asset.active && !right.has(asset.id) && networks.has(asset.networkId));
  const nearest = (some: StoredAsset[]): StoredAsset | undefined => some.find((one) => one.networkId === offer.networkId) ?? some[0];
  const asset = named === undefined ? (nearest(wrong.filter((one) => prices.has(one.symbol))) ?? nearest(wrong)) : wrong.find((one) => one.id === named);
  if (asset === undefined)
    throw invalid(
      'assetId',
      named === undefined ? 'the selected network has no other asset to arrive' : 'must be an asset of a selected network that is not selected itself',
    );
  return { offer, asset };
}

/**
 * How much arrives: the given amount, or the scenario's own. Pure.
 * @throws validation_error naming amount (zero, more decimals than the asset has, too large a value) or scenario; service_unavailable
 */
export function amountOf(scenario: DepositScenario, given: string | undefined, scene: Scene, arriving: Arriving, seenAt: Date): Coins {
  const { asset, offer } = arriving;
  const coins = given === undefined ? defaultAmount(scenario, scene, arriving, seenAt) : readAmount(given, asset);
  const prices = [scene.prices.get(asset.symbol)?.usd ?? [], asset.id === offer.assetId ? offer.priceUsd : []].flat();
  if (coins >= MONEY_LIMIT || prices.some((price) => coinsToUsd(coins, price, 'up') >= MONEY_LIMIT))
    throw invalid(given === undefined ? 'scenario' : 'amount', 'would have more arrive than money can say');
  return coins;
}

function readAmount(text: string, { symbol, decimals }: StoredAsset): Coins {
  const coins = parseAmount<'asset'>(text, 'amount');
  if (coins <= 0n) throw invalid('amount', 'must be greater than 0');
  if (toUnits(coins, decimals) === undefined) throw invalid('amount', `must have at most ${decimals} decimal places, as ${symbol} has`);
  return coins;
}

/**
 * The scenario's own amount. @throws validation_error naming scenario when no amount produces it; service_unavailable when it needs a price that is
 * missing
 */
function defaultAmount(scenario: DepositScenario, scene: Scene, { asset, offer }: Arriving, seenAt: Date): Coins {
  const price = scene.prices.get(asset.symbol);
  const judge = (received: Coins): Judgement => {
    const judged = judgeDeposit(judgedPayment(scene.payment, scene.payment.status, scene.offers), {
      assetId: asset.id,
      received,
      firstSeenAt: seenAt.getTime(),
      confirmedAt: scene.now.getTime(),
      marketPriceUsd: price?.usd ?? null,
      byInquiry: false,
    });
    if ('needs' in judged) throw withoutPrice(asset.symbol);
    return judged;
  };
  const asked = (): Coins => {
    if (asset.id === offer.assetId) return offer.totalValue;
    if (price === undefined) throw withoutPrice(asset.symbol);
    return usdToCoins(coinsToUsd(offer.totalValue, offer.priceUsd, 'up'), price.usd, asset.decimals, 'up');
  };
  const chosen = scenarioAmount(scenario, { decimals: asset.decimals, dustFloor: asset.dustFloor, asked: asked(), judge });
  if (chosen !== undefined) return chosen;
  throw invalid(
    'scenario',
    scenario === 'acceptable'
      ? 'acceptable is not possible for this payment: with its tolerances and checkAmountDeviation no amount resolves to ACCEPTABLE'
      : `${scenario} is not possible for this payment: any less than it asks for is below the dust floor of ${asset.symbol}`,
  );
}
