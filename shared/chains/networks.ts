import type { AssetType, Family, Finality } from '#shared/core/assets.ts';
import { FINALITY } from '#shared/core/policy.ts';

/** A token as its issuer deployed it, recorded here so that nobody has to copy an address from a web page. */
export interface KnownToken {
  symbol: string;
  name: string;
  type: AssetType;
  contract: string;
  decimals: number;
}

/** What is known of a public network before it is configured. A further EVM network needs only one more row here. */
export interface NetworkProfile {
  family: Family;
  chainId: string;
  name: string;
  /** The name that payers read. */
  displayName: string;
  nativeSymbol: string;
  blockSeconds: number;
  /** Decisions 5. */
  finality: Finality;
  /** Smallest priority fee that a transaction offers, in native units per gas; empty blocks give no indication of it. */
  minimumTip: bigint;
  /** `op-stack`: a transaction also pays for its bytes on L1, and only the network's fee oracle knows how much. */
  dataFee: 'op-stack' | null;
  /** Whether blocks may end with a state sync, which hands over deposits from Ethereum and which no root covered for years. */
  stateSyncs: boolean;
  /** Seconds without a new head after which the network counts as stalled. */
  stallSeconds: number;
  /** Greatest age of the block with each tag, in seconds, on a healthy network. Only monitoring depends on it. */
  tagSeconds: Readonly<Record<'safe' | 'finalized', number>>;
  explorerTxUrl: string;
  /** Contracts that were checked against their issuers' own lists; a missing token was not. */
  tokens: readonly KnownToken[];
}

const GWEI = 1_000_000_000n;

/** Two and three epochs, of 32 slots each. */
const ETHEREUM_TAGS = { safe: 768, finalized: 1_152 };
/** Posted to L1 within minutes, final when L1 is. */
const ROLLUP_TAGS = { safe: 600, finalized: 1_800 };
/** A chain without such tags. */
const NO_TAGS = { safe: 0, finalized: 0 };
/** Solid once nineteen of twenty-seven representatives have made a block each. */
const tronTags = (blockSeconds: number) => ({ safe: 20 * blockSeconds, finalized: 20 * blockSeconds });

const usdt = (contract: string, type: AssetType = 'ERC20', decimals = 6): KnownToken => ({ symbol: 'USDT', name: 'Tether USD', type, contract, decimals });
const usdc = (contract: string, type: AssetType = 'ERC20', decimals = 6): KnownToken => ({ symbol: 'USDC', name: 'USD Coin', type, contract, decimals });

export const NETWORKS: readonly NetworkProfile[] = [
  {
    family: 'evm',
    chainId: '1',
    name: 'ethereum',
    displayName: 'Ethereum',
    nativeSymbol: 'ETH',
    blockSeconds: 12,
    finality: FINALITY.ethereum,
    minimumTip: GWEI / 100n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 180,
    tagSeconds: ETHEREUM_TAGS,
    explorerTxUrl: 'https://etherscan.io/tx/{txHash}',
    tokens: [usdt('0xdAC17F958D2ee523a2206206994597C13D831ec7'), usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')],
  },
  {
    family: 'evm',
    chainId: '56',
    name: 'bsc',
    displayName: 'BNB Smart Chain',
    nativeSymbol: 'BNB',
    blockSeconds: 0.45,
    finality: FINALITY.fastFinality,
    // The base fee is nothing here; the tip that validators ask for is the whole price.
    minimumTip: GWEI / 20n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 60,
    tagSeconds: { safe: 5, finalized: 5 },
    explorerTxUrl: 'https://bscscan.com/tx/{txHash}',
    // Pegged by the exchange that runs the bridge, hence eighteen decimals.
    tokens: [usdt('0x55d398326f99059fF775485246999027B3197955', 'BEP20', 18), usdc('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 'BEP20', 18)],
  },
  {
    family: 'evm',
    chainId: '137',
    name: 'polygon',
    displayName: 'Polygon',
    nativeSymbol: 'POL',
    blockSeconds: 2,
    finality: FINALITY.fastFinality,
    // Validators accept nothing below 25; a little more costs no cents.
    minimumTip: 30n * GWEI,
    dataFee: null,
    stateSyncs: true,
    stallSeconds: 90,
    tagSeconds: { safe: 10, finalized: 10 },
    explorerTxUrl: 'https://polygonscan.com/tx/{txHash}',
    tokens: [usdt('0xc2132D05D31c914a87C6611C10748AEb04B58e8F'), usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359')],
  },
  {
    family: 'evm',
    chainId: '8453',
    name: 'base',
    displayName: 'Base',
    nativeSymbol: 'ETH',
    blockSeconds: 2,
    finality: FINALITY.rollup,
    minimumTip: GWEI / 1_000n,
    dataFee: 'op-stack',
    stateSyncs: false,
    stallSeconds: 60,
    tagSeconds: ROLLUP_TAGS,
    explorerTxUrl: 'https://basescan.org/tx/{txHash}',
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  {
    family: 'evm',
    chainId: '42161',
    name: 'arbitrum',
    displayName: 'Arbitrum One',
    nativeSymbol: 'ETH',
    blockSeconds: 0.25,
    finality: FINALITY.rollup,
    // First come, first served, so a tip buys nothing. Gas estimates include the cost of the bytes on L1.
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 60,
    tagSeconds: ROLLUP_TAGS,
    explorerTxUrl: 'https://arbiscan.io/tx/{txHash}',
    tokens: [usdt('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'), usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831')],
  },
  {
    family: 'evm',
    chainId: '10',
    name: 'optimism',
    displayName: 'OP Mainnet',
    nativeSymbol: 'ETH',
    blockSeconds: 2,
    finality: FINALITY.rollup,
    minimumTip: GWEI / 1_000n,
    dataFee: 'op-stack',
    stateSyncs: false,
    stallSeconds: 60,
    tagSeconds: ROLLUP_TAGS,
    explorerTxUrl: 'https://optimistic.etherscan.io/tx/{txHash}',
    tokens: [usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85')],
  },
  {
    family: 'tron',
    chainId: 'mainnet',
    name: 'tron',
    displayName: 'TRON',
    nativeSymbol: 'TRX',
    blockSeconds: 3,
    finality: FINALITY.tron,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 60,
    tagSeconds: tronTags(3),
    explorerTxUrl: 'https://tronscan.org/#/transaction/{txHash}',
    tokens: [usdt('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'TRC20')],
  },
  {
    family: 'tron',
    chainId: 'nile',
    name: 'tron-nile',
    displayName: 'TRON Nile testnet',
    nativeSymbol: 'TRX',
    blockSeconds: 3,
    finality: FINALITY.tron,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 120,
    tagSeconds: tronTags(3),
    explorerTxUrl: 'https://nile.tronscan.org/#/transaction/{txHash}',
    tokens: [],
  },
  {
    family: 'tron',
    chainId: 'local',
    name: 'tron-local',
    displayName: 'local TRON',
    nativeSymbol: 'TRX',
    blockSeconds: 1,
    finality: FINALITY.tron,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 30,
    tagSeconds: tronTags(1),
    explorerTxUrl: 'http://127.0.0.1:3001/explorer/tron/tx/{txHash}',
    tokens: [],
  },
  {
    family: 'bitcoin',
    chainId: 'mainnet',
    name: 'bitcoin',
    displayName: 'Bitcoin',
    nativeSymbol: 'BTC',
    blockSeconds: 600,
    finality: FINALITY.bitcoin,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    // Blocks come by chance; two hours without one happen every other year.
    stallSeconds: 7_200,
    tagSeconds: NO_TAGS,
    explorerTxUrl: 'https://mempool.space/tx/{txHash}',
    tokens: [],
  },
  {
    family: 'bitcoin',
    chainId: 'testnet4',
    name: 'bitcoin-testnet4',
    displayName: 'Bitcoin Testnet4',
    nativeSymbol: 'BTC',
    blockSeconds: 600,
    finality: FINALITY.bitcoin,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 7_200,
    tagSeconds: NO_TAGS,
    explorerTxUrl: 'https://mempool.space/testnet4/tx/{txHash}',
    tokens: [],
  },
  {
    family: 'bitcoin',
    chainId: 'signet',
    name: 'bitcoin-signet',
    displayName: 'Bitcoin Signet',
    nativeSymbol: 'BTC',
    blockSeconds: 600,
    finality: FINALITY.bitcoin,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 7_200,
    tagSeconds: NO_TAGS,
    explorerTxUrl: 'https://mempool.space/signet/tx/{txHash}',
    tokens: [],
  },
  {
    family: 'bitcoin',
    chainId: 'regtest',
    name: 'bitcoin-regtest',
    displayName: 'Bitcoin Regtest',
    nativeSymbol: 'BTC',
    blockSeconds: 1,
    finality: FINALITY.local,
    minimumTip: 0n,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 30,
    tagSeconds: NO_TAGS,
    explorerTxUrl: 'http://127.0.0.1:3001/explorer/bitcoin/tx/{txHash}',
    tokens: [],
  },
  {
    family: 'evm',
    chainId: '31337',
    name: 'local',
    displayName: 'local Ethereum',
    nativeSymbol: 'ETH',
    blockSeconds: 1,
    finality: FINALITY.local,
    minimumTip: GWEI,
    dataFee: null,
    stateSyncs: false,
    stallSeconds: 30,
    tagSeconds: { safe: 64, finalized: 64 },
    explorerTxUrl: 'http://127.0.0.1:3001/explorer/local/tx/{txHash}',
    tokens: [],
  },
];

/** A network without a profile counts as an unknown public chain, with cautious figures. */
const UNKNOWN = { minimumTip: GWEI, stallSeconds: 180, tagSeconds: ROLLUP_TAGS, dataFee: null, stateSyncs: true };

/** The part of a network's profile that its adapter needs. */
export function profileOf(family: Family, chainId: string): Pick<NetworkProfile, 'minimumTip' | 'stallSeconds' | 'tagSeconds' | 'dataFee' | 'stateSyncs'> {
  return NETWORKS.find((network) => network.family === family && network.chainId === chainId) ?? UNKNOWN;
}

/** The name of a network for people: that of its profile, or its own name with capitals (`my-chain` → `My Chain`). */
export function displayNameOf({ family, chainId, name }: Pick<NetworkProfile, 'family' | 'chainId' | 'name'>): string {
  const known = NETWORKS.find((network) => network.family === family && network.chainId === chainId);
  return known?.displayName ?? name.replace(/(^|[-_ ]+)(\p{L})/gu, (_whole, gap: string, letter: string) => (gap === '' ? '' : ' ') + letter.toUpperCase());
}
