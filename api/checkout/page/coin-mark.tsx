import type { JSX } from 'preact';
import type { NetworkFacts, Offer } from './snapshot.ts';

/** Signs of currencies, drawn here: what coins call their own logos belongs to others. */
const SIGNS: Readonly<Record<string, string>> = {
  dollar: 'M15.7 8.6c-.5-1.3-1.9-2-3.6-2-2.1 0-3.6 1-3.6 2.6 0 3.5 7.2 1.9 7.2 5.5 0 1.7-1.6 2.7-3.7 2.7-1.8 0-3.2-.8-3.8-2.1M12 4.3v15.4',
  tugrik: 'M6.5 6.5h11M12 6.5v11.5M8.2 13.1l7.6-2.3M8.2 16.1l7.6-2.3',
  euro: 'M16.8 7.6A5.8 5.8 0 0 0 8 12a5.8 5.8 0 0 0 8.8 4.4M5.8 10.6h7.4M5.8 13.4h7.4',
  bitcoin: 'M8.5 6.3h5a2.8 2.8 0 0 1 0 5.6h-5m0 0h5.7a2.9 2.9 0 0 1 0 5.8H8.5M9.7 6.3v11.4M11 4.3v2M13.6 4.3v2M11 17.7v2M13.6 17.7v2',
  xi: 'M7 6.8h10M8.5 12h7M7 17.2h10',
};

const COINS: Readonly<Record<string, keyof typeof SIGNS>> = { USDT: 'tugrik', USDC: 'dollar', DAI: 'dollar', EURC: 'euro', BTC: 'bitcoin', ETH: 'xi' };

/** Short names of networks, as their wallets use them, by family and chain id. */
const CODES: Readonly<Record<string, string>> = {
  'evm:1': 'ETH',
  'evm:10': 'OP',
  'evm:56': 'BNB',
  'evm:137': 'POL',
  'evm:8453': 'BASE',
  'evm:42161': 'ARB',
};

/** A coin's mark with its network's beside it: what tells two USDT apart at a glance. It says nothing that its text does not. */
export function CoinMark({ offer, network }: { offer: Pick<Offer, 'assetSymbol'>; network: NetworkFacts }): JSX.Element {
  const { assetSymbol } = offer;
  const sign = SIGNS[COINS[assetSymbol] ?? ''];
  const code = codeOf(network);
  return (
    <span class={`coin coin-${slug(assetSymbol)}`} aria-hidden="true">
      {sign === undefined ? (
        [...assetSymbol][0]
      ) : (
        <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
          <path d={sign} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
        </svg>
      )}
      {code !== assetSymbol && <span class={`badge badge-${slug(code)}`}>{code}</span>}
    </span>
  );
}

function codeOf({ family, chainId, nativeSymbol, displayName }: NetworkFacts): string {
  return CODES[`${family}:${chainId}`] ?? (family === 'evm' ? displayName.slice(0, 4).toUpperCase() : nativeSymbol);
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}
