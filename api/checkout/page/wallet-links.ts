import { bitcoinUri, erc681, linkAddress, type Payable, type UriOptions } from './payment-uri.ts';
import type { NetworkFacts } from './snapshot.ts';

/** A link that opens a wallet with the payment filled in. */
export interface WalletLink {
  /** The wallet's own name; null for whichever app of the device takes the scheme. */
  name: string | null;
  href: string;
}

/** EVM networks MetaMask comes with, by EIP-155 id; on others its link ends in an error. */
const METAMASK_CHAINS = new Set(['1', '10', '56', '137', '8453', '42161', '59144', '11155111']);

/** Coin numbers of Trust Wallet's universal asset ids, by family and chain. */
const TRUST_COINS: Record<string, string> = {
  'evm:1': '60',
  'evm:10': '10000070',
  'evm:56': '20000714',
  'evm:137': '966',
  'evm:8453': '8453',
  'evm:42161': '10042221',
  'tron:mainnet': '195',
};

/**
 * Links for the wallets that know the offer's network (ux 4), in the order they are shown; none while there is no address.
 * Paying never needs one of them (ux C12).
 */
export function walletLinks(offer: Payable, network: NetworkFacts, options: UriOptions & { merchant: string }): WalletLink[] {
  const address = offer.depositAddress;
  if (address === undefined) return [];
  const hrefs: { name: string | null; href: string | null }[] = [
    { name: 'MetaMask', href: metaMask(offer, network, options) },
    { name: 'Trust Wallet', href: trustWallet({ ...offer, depositAddress: address }, network, options) },
    {
      name: null,
      href: network.family === 'bitcoin' ? bitcoinUri(offer, network, { ...options, address: linkAddress(address), label: options.merchant }) : null,
    },
  ];
  return hrefs.flatMap(({ name, href }) => (href === null ? [] : [{ name, href }]));
}

function metaMask(offer: Payable, network: NetworkFacts, options: UriOptions): string | null {
  if (network.family !== 'evm' || !METAMASK_CHAINS.has(network.chainId)) return null;
  const request = erc681(offer, network, options);
  return request === null ? null : `https://link.metamask.io/send/${request}`;
}

function trustWallet(offer: Payable & { depositAddress: string }, network: NetworkFacts, { openAmount }: UriOptions): string | null {
  const coin = TRUST_COINS[`${network.family}:${network.chainId}`];
  if (coin === undefined || (offer.assetType !== 'NATIVE' && offer.contractAddress === null)) return null;
  const asset = `c${coin}${offer.contractAddress === null ? '' : `_t${offer.contractAddress}`}`;
  return `https://link.trustwallet.com/send?asset=${asset}&address=${offer.depositAddress}${openAmount ? '' : `&amount=${offer.totalValue}`}`;
}
