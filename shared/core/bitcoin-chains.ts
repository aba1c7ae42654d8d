/** Chain ids of the Bitcoin networks this build knows, as `bitcoin-cli -chain` and the node's own answers name most of them. */
export const BITCOIN_CHAINS = ['mainnet', 'testnet4', 'signet', 'regtest'] as const;
export type BitcoinChain = (typeof BITCOIN_CHAINS)[number];
