/** Families of chains; each has one folder in `shared/chains`. */
export type Family = 'evm' | 'tron' | 'bitcoin';

export type AssetType = 'NATIVE' | 'ERC20' | 'TRC20' | 'BEP20';

/** What makes a block final enough: a count of blocks (the block itself is 1) or the node's own tag. */
export type FinalityRule = { blocks: number } | { tag: 'safe' | 'finalized' };

/** When a payment resolves (by US dollar value) and when credited funds may mature (decisions 5). */
export interface Finality {
  /** Tiers in ascending order; the last has no `upToUsd`. Where both are counts, the funds of one may `mature` before the network's own rule. */
  resolve: { upToUsd?: string; rule: FinalityRule; mature?: FinalityRule }[];
  /** For whatever its tier says nothing of; also what the network as a whole counts as final. */
  mature: FinalityRule;
}

/** A coin or token as configured; decimals and contract are pinned here and never read from the chain. */
export interface AssetConfig {
  symbol: string;
  name: string;
  type: AssetType;
  contract: string | null;
  decimals: number;
  /** Network fee charged per payment, asset units (decisions 2). */
  networkFee: string;
  dustFloor: string;
  /** How many decimals an offer is quoted with, instead of the fewest that are exact enough (decisions 1). */
  quoteDecimals?: number;
  /** Smallest cashout in asset units; null means the equivalent of 1 USD. */
  minimumSettlement: string | null;
  /** The most that the signer lets out; without it US dollars alone bound it, at prices from the database, and production refuses to sign. */
  caps?: AssetCaps;
  /** Between which amounts the hot wallet is kept, on a network with a cold address; without it nothing goes to cold storage (decision 0033). */
  coldStorage?: ColdStorage;
}

/** What the signer holds an asset against by itself (decisions 10). */
export interface AssetCaps {
  /** Asset units, decimal: the most in one transaction, in an hour and in a day. */
  perTransaction: string;
  hourly: string;
  daily: string;
  /** US dollars one unit is worth at least, whatever prices say. */
  floorUsd: string;
}

/** Asset units, decimal: what is above the ceiling goes to cold storage, and below the floor somebody is asked for a refill. */
export interface ColdStorage {
  ceiling: string;
  floor: string;
}

/** A wallet of this deployment: its address (which anyone may read) and where the signer finds its key. */
export interface WalletConfig {
  address: string;
  path: string;
}

/** Most US dollars that may leave per transaction, in an hour and in a day. */
export interface OutgoingLimits {
  perTransactionUsd: string;
  hourlyUsd: string;
  dailyUsd: string;
}

/** One chain this deployment serves, as the networks file describes it. */
export interface NetworkConfig {
  name: string;
  family: Family;
  /** EIP-155 id as text for EVM; the network's own name elsewhere. */
  chainId: string;
  nativeSymbol: string;
  /** One or more JSON-RPC or HTTP endpoints, in order of preference. */
  rpcUrls: string[];
  /** WebSocket of a node that tells when its head moves (EVM); the head is asked for at once then, and as often as always without. */
  headUrl?: string;
  finality: Finality;
  /**
   * True once every block that is still to be read logs each movement of the native coin (EIP-7708): they are read from
   * those logs, and nothing is traced (decision 0009).
   */
  coinLogs?: boolean;
  /**
   * True where the native coin is to be offered although no endpoint shows what contracts pass on: such coins are flagged, and credited by
   * an operator or an inquiry alone. Without it the coin is not offered then, and tokens are (decision 0042).
   */
  acceptsUnseenInternalTransfers?: boolean;
  /**
   * True where a long way back is read by the logs of two providers first, while nothing but tokens is waited for, and completely after that (EVM,
   * decision 0053).
   */
  catchUpByLogs?: boolean;
  /**
   * US dollars. With two providers every credit needs both to tell its block, and above this the transfer itself too, as it always does where no root covers it.
   * With one provider this is what a lie of it can cost in one payment: more is not credited in production (decision 0040).
   */
  secondOpinionUsd?: string;
  /** Expected seconds between blocks; drives polling and stall detection. */
  blockSeconds: number;
  /** Account-level extended public key below which deposit addresses are derived at /0/i. */
  accountXpub: string;
  /** BIP-32 fingerprint (8 hex digits) of that key; a swapped xpub is refused at start. */
  accountFingerprint: string;
  /** BIP-32 path of that account below the signer's seed. */
  accountPath: string;
  wallets: { hot: WalletConfig; funding: WalletConfig; held: WalletConfig };
  /** Where excess of the hot wallet goes: an address whose key is nowhere in this deployment (decision 0033). */
  cold?: { address: string };
  /** Link to a transaction with `{txHash}` in it. */
  explorerTxUrl: string;
  /** What the signer lets out, all assets together and, where given, of the native coin and of tokens by themselves. */
  limits: OutgoingLimits & {
    native?: OutgoingLimits;
    tokens?: OutgoingLimits;
    /** Most US dollars a day that fees may rise above what cashouts locked for them; the default of policy.ts where absent. */
    dailyFeeExpenseUsd?: string;
  };
  /** Providers that have to agree on it before the signer takes bytes for dead: 2 where absent, and never fewer in production (decisions 10). */
  deathWitnesses?: number;
  /** When deposits are swept without a cashout waiting; the defaults of policy.ts where absent. */
  sweeping?: { floorTimesCost?: number; atOnce?: number };
  /** What a Bitcoin payout may pay, satoshis per virtual byte as decimal text with at most three places; the defaults of policy.ts where absent. */
  feeRate?: { floor?: string; cap?: string; fallback?: string; targetBlocks?: number };
  /** When small outputs of a Bitcoin pool are joined by themselves: above how many, up to which fee rate (satoshis per virtual byte) and for how much a day; the defaults of policy.ts where absent. */
  consolidation?: { aboveOutputs?: number; belowFeeRate?: string; dailyUsd?: string };
  assets: AssetConfig[];
}
