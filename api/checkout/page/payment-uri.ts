import { parseTrusted, toUnits } from '#shared/core/money.ts';
import type { NetworkFacts, Offer, Snapshot } from './snapshot.ts';

/** The part of an offer that says what is to be sent where. */
export type Payable = Pick<Offer, 'assetType' | 'assetDecimals' | 'contractAddress' | 'totalValue' | 'depositAddress'>;

export interface UriOptions {
  /** True when the payer decides how much: nothing then names an amount, since an offer's amounts are placeholders (ux 4). */
  openAmount: boolean;
}

export interface QrOptions extends UriOptions {
  qrMode: Snapshot['qrMode'];
}

/** Schemes of BIP-321 and of what follows it, by the coin. */
const BITCOIN_SCHEMES: Record<string, string> = { BTC: 'bitcoin', LTC: 'litecoin', DOGE: 'dogecoin' };
const BECH32 = /^(bc|tb|bcrt|ltc|tltc)1[02-9ac-hj-np-z]+$/i;

/**
 * What the QR code of an offer holds (ux 4). Tokens and TRON get the address alone, because wallets misread the URIs (some send
 * to the token's contract), unless the gateway decided otherwise. Null while there is no address.
 */
export function qrPayload(offer: Payable, network: NetworkFacts, options: QrOptions): string | null {
  const { address, uri } = payloads(offer, network, options);
  return prefersAddress(offer, network) && options.qrMode === 'SAFE' ? address : (uri ?? address);
}

/** What the payer may have the code hold instead: a token's URI with the amount, or the address alone; null without a choice. */
export function alternativePayload(offer: Payable, network: NetworkFacts, options: QrOptions): string | null {
  const { address, uri } = payloads(offer, network, options);
  if (uri === null || !prefersAddress(offer, network)) return null;
  if (options.qrMode === 'URI') return address;
  // Nothing in a TRON URI names the token: a wallet would offer to send as many TRX. Only a merchant may choose that.
  // Without an amount to say, a token's URI has its dangers and no use.
  return offer.assetType === 'TRC20' || options.openAmount ? null : uri;
}

function prefersAddress(offer: Payable, network: NetworkFacts): boolean {
  return offer.assetType !== 'NATIVE' || network.family === 'tron';
}

function payloads(offer: Payable, network: NetworkFacts, options: UriOptions): { address: string | null; uri: string | null } {
  const address = offer.depositAddress ?? null;
  if (address === null) return { address, uri: null };
  if (network.family === 'evm') return { address, uri: withScheme('ethereum:', erc681(offer, network, options)) };
  if (network.family === 'tron') return { address, uri: options.openAmount ? null : `tron:${address}?amount=${offer.totalValue}` };
  return { address, uri: bitcoinUri(offer, network, { ...options, address: BECH32.test(address) ? address.toUpperCase() : address }) };
}

function withScheme(scheme: string, rest: string | null): string | null {
  return rest === null ? null : `${scheme}${rest}`;
}

/**
 * An ERC-681 request without its scheme, which wallets' own links take too; whole base units, never an exponent. Null when there
 * is no address or the amount is no whole number of units.
 */
export function erc681(offer: Payable, network: NetworkFacts, { openAmount }: UriOptions): string | null {
  const units = toUnits(parseTrusted(offer.totalValue), offer.assetDecimals);
  if (offer.depositAddress === undefined || units === undefined) return null;
  if (offer.assetType === 'NATIVE') return `${offer.depositAddress}@${network.chainId}${openAmount ? '' : `?value=${units}`}`;
  if (offer.contractAddress === null) return null;
  return `${offer.contractAddress}@${network.chainId}/transfer?address=${offer.depositAddress}${openAmount ? '' : `&uint256=${units}`}`;
}

/** A BIP-321 URI, `bitcoin:…?amount=0.00044007`; each key once. Null for a coin without a scheme. */
export function bitcoinUri(
  offer: Payable,
  network: NetworkFacts,
  { openAmount, address, label }: UriOptions & { address: string; label?: string },
): string | null {
  const scheme = BITCOIN_SCHEMES[network.nativeSymbol];
  if (scheme === undefined) return null;
  const query = [...(openAmount ? [] : [`amount=${offer.totalValue}`]), ...(label === undefined ? [] : [`label=${percentEncoded(label)}`])];
  return `${scheme}:${address}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** A bech32 address all in lower case, every other as it is: base58 means something else in another case. */
export function linkAddress(address: string): string {
  return BECH32.test(address) ? address.toLowerCase() : address;
}

/** Percent-encodes any text, also one whose surrogates lost each other. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}
