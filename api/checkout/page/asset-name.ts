import type { Translate } from './messages.ts';
import type { NetworkFacts, Offer } from './snapshot.ts';

const STANDARDS: Record<Offer['assetType'], string | null> = { NATIVE: null, ERC20: 'ERC-20', TRC20: 'TRC-20', BEP20: 'BEP-20' };

/** What a network calls the standard of such a token: `TRC-20`; null for a network's own coin. Pure. */
export function standardOf(assetType: Offer['assetType']): string | null {
  return STANDARDS[assetType];
}

/** A network as its wallets call it, with the token's standard where there is one: `TRON (TRC-20)`. Pure. */
export function networkName(translate: Translate, assetType: Offer['assetType'], network: NetworkFacts): string {
  const standard = STANDARDS[assetType];
  return standard === null ? network.displayName : translate('network.token', { network: network.displayName, standard });
}

/** What people tell coins apart by, never a ticker alone (ux C1): `USDT on TRON (TRC-20)`, `ETH on Base`, `Bitcoin (BTC)`. Pure. */
export function assetName(translate: Translate, asset: { assetSymbol: string; assetType: Offer['assetType'] }, network: NetworkFacts): string {
  const standard = STANDARDS[asset.assetType];
  const values = { symbol: asset.assetSymbol, network: network.displayName };
  if (standard !== null) return translate('asset.token', { ...values, standard });
  return translate(network.family === 'bitcoin' ? 'asset.own-chain' : 'asset.coin', values);
}

/** An amount with its unit, as wallets write it in every language: `20.14 USDT`. Pure. */
export function coins(amount: string, assetSymbol: string): string {
  return `${amount} ${assetSymbol}`;
}

/** From how many characters on an amount may fill a line of its own. */
const FILLS_A_LINE = 13;

/** The same in a sentence: no line ends between an amount and its unit, unless both together hardly fit on one. Pure. */
export function coinsInSentence(amount: string, assetSymbol: string): string {
  return amount.length < FILLS_A_LINE ? `${amount}\u00a0${assetSymbol}` : coins(amount, assetSymbol);
}
