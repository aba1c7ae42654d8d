/** An offer as the contract shows it (contract 2.4, decisions 9). */
export interface Offer {
  id: string;
  assetId: string;
  assetSymbol: string;
  /** Name of the network in this deployment: `ethereum`. */
  assetNetwork: string;
  assetPriceUsd: string;
  amount: string;
  txFee: string;
  commissionFee: string;
  totalValue: string;
  /** Absent until the offer was selected and its network's indexer watches the address. */
  depositAddress?: string;
  assetDecimals: number;
  assetType: 'NATIVE' | 'ERC20' | 'TRC20' | 'BEP20';
  /** As people see it; null for a network's own coin. */
  contractAddress: string | null;
}

export type PaymentStatus = 'PENDING' | 'SUCCESS' | 'ACCEPTABLE' | 'MISMATCH' | 'EXPIRED';

/** The public payment object (contract 2.3), as far as the page reads it. */
export interface PublicPayment {
  id: string;
  status: PaymentStatus;
  checkoutMode: 'HOSTED' | 'API';
  amount: string;
  amountUsd: string;
  currencyCode: string;
  createdAt: string;
  expiresAt: string;
  offers: Offer[];
  openAmount: boolean;
  minAmountUsd?: string;
  isSandbox: boolean;
  language: string | null;
  /** What is paid for, and the merchant's own number for it, in their words. */
  title?: string;
  reference?: string;
  txFeePayer: 'MERCHANT' | 'CUSTOMER' | 'PLATFORM';
  commissionFeePayer: 'MERCHANT' | 'CUSTOMER' | 'PLATFORM';
  selectedOfferId: string | null;
  paidAssetId?: string;
  paidAssetSymbol?: string;
  txHash?: string;
  receivedAmount?: string;
  explorerTxUrl?: string;
}

/** Coins that were seen on their way and decided nothing yet (ux 0.2). */
export interface PendingDeposit {
  assetSymbol: string;
  /** Name of the network. */
  network: string;
  amount: string;
  confirmations: number;
  /** Null where the chain's own word on its finality decides. */
  required: number | null;
  txHash: string;
  explorerTxUrl: string;
  /** False when they were first seen after the deadline: no price was held for them. */
  inTime: boolean;
}

/** The deposit that decided, beside what the public object says of it. */
export interface PaidDeposit {
  assetSymbol: string;
  assetType: Offer['assetType'];
  /** Name of the network. */
  network: string;
  amount: string;
  /** The block it is in; null in the sandbox. */
  block: number | null;
  /** When that block was made, RFC 3339. */
  at: string;
  /** True when no offer in that asset had been selected: it was valued at its own market price (S9). */
  otherCoin: boolean;
  /** What the judging offer asked for; null for an open amount. */
  requested: { amount: string; assetSymbol: string; network: string } | null;
}

/** What a payer needs to know of a network that an offer is on. */
export interface NetworkFacts {
  /** As people call it: `Ethereum`, `BNB Smart Chain`, `TRON`, `Bitcoin`. */
  displayName: string;
  family: 'evm' | 'tron' | 'bitcoin';
  /** EIP-155 id as text for EVM; `mainnet` and the like elsewhere. */
  chainId: string;
  nativeSymbol: string;
  /** About how long coins take there until the payment is decided, in seconds; null where nobody can say. */
  expectedSeconds: number | null;
}

/** Who is paid. */
export interface MerchantFacts {
  name: string;
  /** Where the payer is sent back to: `acme.example`; null where there is no such page. */
  host: string | null;
  /** Path on the checkout's own host; null without a logo. */
  logoPath: string | null;
  supportUrl: string | null;
}

/**
 * Everything the hosted page knows of a payment, all of it each time, true at one moment of the database. Nothing of
 * screening is in it (ux 0.6).
 */
export interface Snapshot {
  /** Service time of that moment, RFC 3339 with milliseconds; a snapshot with an earlier one is old news. */
  serverTime: string;
  payment: PublicPayment;
  pendingDeposit: PendingDeposit | null;
  /** Until when a late deposit is captured, RFC 3339. */
  graceEndsAt: string;
  /** Which way a MISMATCH went (ux 0.5); else null. */
  mismatchSide: 'UNDER' | 'OVER' | null;
  /** True when the deposit that decided came after the expiry (S12). */
  lateCapture: boolean;
  /** Null until a deposit decided. */
  paid: PaidDeposit | null;
  /** By name, of every network that is mentioned. */
  networks: Record<string, NetworkFacts>;
  merchant: MerchantFacts;
  /** The merchant's page with what the callback carries at this status (decisions 7). */
  returnUrl: string;
  /** What QR codes of tokens hold: the address alone, or a URI (ux 4). */
  qrMode: 'SAFE' | 'URI';
}

export type Scenario = 'success' | 'acceptable' | 'underpaid' | 'overpaid' | 'wrong_asset' | 'seen_then_confirmed' | 'late_capture' | 'expired';

/** What the server sends over the socket. */
export type ServerFrame =
  | ({ type: 'snapshot' } & Snapshot)
  | ({ type: 'update' } & Snapshot)
  | { type: 'ping'; serverTime: string }
  | { type: 'error'; command: 'select' | 'simulate' | null; error: { code: string; message: string; retryAfterSeconds?: number } };

/** What the page may send over the socket; the answer to both is an `update`, or an `error`. */
export type ClientFrame = { type: 'select'; offerId: string } | { type: 'simulate'; scenario: Scenario; amount?: string; assetId?: string };
