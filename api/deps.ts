import type { Journal } from '#api/signer/journal/journal.ts';
import type { KeyToTake } from '#api/store/idempotency.ts';
import type { DueWork } from '#api/store/outbox.ts';
import type { Payment, PaymentToWrite } from '#api/store/payments.ts';
import type { Actor } from '#api/store/proposals.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { AddressCodec, Deriver, Payer } from '#shared/chains/chain.ts';
import type { JoinedReader } from '#shared/chains/join-readers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Usd } from '#shared/core/money.ts';
import type { ApiConfig } from '#shared/platform/config.ts';
import type { Limiter } from '#shared/platform/limiter.ts';
import type { ApiMetrics } from '#shared/platform/metrics.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';
import type { Screen } from '#state-machines/settlement/settlement.ts';

/** Everything keyless that the api knows about one network. */
export interface Chain {
  /** Id of its row in `networks`. */
  id: string;
  config: NetworkConfig;
  codec: AddressCodec;
  deriver: Deriver;
  reader: JoinedReader;
  payer: Payer;
}

export interface Price {
  usd: Usd;
  source: string;
  /** Service time it was taken. */
  at: Date;
}

/** Where prices come from; a ticker, or `fiat:<CODE>` for a currency. Undefined means none that is fresh (decisions 2). */
export interface PriceSource {
  fresh(symbol: string): Promise<Price | undefined>;
}

/** A destination somebody wants to be paid to. */
export interface DestinationToScreen {
  gateway: Gateway;
  chain: Chain;
  /** Canonical. */
  address: string;
  assetId: string;
  amountUsd?: Usd;
}

/** A deposit of a gateway that screens. */
export interface DepositToScreen {
  gateway: Gateway;
  chain: Chain;
  depositId: string;
  txid: string;
  /** Canonical; none where the chain does not tell. */
  senders: readonly string[];
  /** Canonical. */
  recipient: string;
  assetId: string;
  amountUsd?: Usd;
}

/** What screening a deposit came to; `ref` is the row that keeps the verdict. Whoever gets no score asks again later. */
export type DepositScreen = { score: number; ref: string } | 'unavailable' | 'out_of_credit' | 'pending';

/**
 * Buys verdicts of where money goes and comes from, each once, with the gateway's credits (decisions 10). A score is 0 to
 * 100; unsure is never a score. Asks a third party for seconds: never to be called with a transaction open, nor for a
 * gateway whose screening is off.
 */
export interface Screening {
  /** Pinned for a day per gateway and address. */
  destination(input: DestinationToScreen): Promise<Screen>;
  /** Pinned for ever per deposit. */
  deposit(input: DepositToScreen): Promise<DepositScreen>;
  /** Finishes what askers that died or gave up have left, so that no credit is held for ever; returns how many. */
  tend(): Promise<number>;
  /** Who gives the verdicts, and how many addresses the sanctions list holds; null without a list. */
  sources(): { provider: string; sanctioned: number | null };
}

/** A plain-text mail to one person. */
export interface Mail {
  /** Names what it is about, so that a mail sent twice can be told to be one: letters, digits and hyphens. */
  id: string;
  to: string;
  subject: string;
  text: string;
}

/** Where mail goes. */
export interface Mailer {
  /** @throws AddressRefused where no mail reaches its recipient, now or later; otherwise when it was not taken: whoever asked asks again later */
  send(mail: Mail): Promise<void>;
}

/** What every use case is given; nothing of this is ever a global (architecture 1). */
export interface Deps {
  db: Database;
  config: ApiConfig;
  log: Logger;
  /** By network name. */
  chains: ReadonlyMap<string, Chain>;
  prices: PriceSource;
  screening: Screening;
  mail: Mailer;
  /** Who may call how often; asked through `rateLimit` of api/http (decisions 8). */
  limiter: Limiter;
  /** Cryptographically secure in production; chosen by tests. */
  randomBytes(length: number): Uint8Array;
  /** Wall time in milliseconds: request signatures, TOTP, leases, rate limits. Deadlines use `sluice_now()` instead. */
  wallClock(): number;
  /** Takes what the database said it was, Unix milliseconds, beside what was asked at `askedMs` of `performance.now()`. */
  hearClock?(ms: number, askedMs: number): void;
  /** Tells workers that an outbox row may be due; losing it loses nothing. Whoever knows all that is due by its commit says so: a worker then begins at once with its own. */
  wake(work?: readonly DueWork[]): void;
  /** Tells a network's indexer that a new address waits to be watched; losing it loses nothing. */
  nudgeIndexer(network: string): void;
  /**
   * Tells every process that shows payments to their payers that something about these may look different now, and about
   * whatever waits for blocks of `network`. To be called after the commit; losing it loses nothing.
   */
  announce(paymentIds: readonly string[], network?: string): void;
  /** What this process counts; absent where nobody scrapes it. */
  metrics?: ApiMetrics;
  /** What the signer signed before; absent outside of the signer role. */
  journal?: Journal;
  /** Who calls the operator API; absent outside of it. */
  operator?: Actor;
  /** Told when a call without a key turned out to come from the allowlisted server of an API-mode payment; absent outside of requests. */
  knownServer?(): void;
}

/** The gateway a request belongs to, as its key or the payment's id told. */
export interface Gateway {
  id: string;
  name: string;
  status: 'PENDING' | 'VERIFIED' | 'SUSPENDED';
  billing: 'STANDARD' | 'MONTHLY' | 'PLATFORM';
  settings: GatewaySettings;
}

/** Everything the operator API lets one set on a gateway, complete with defaults (operability 3). */
export interface GatewaySettings {
  /** Null means every active asset. */
  assetIds: string[] | null;
  openAmount: { enabled: boolean; minAmountUsd: string; assetIds: string[] | null };
  settings: {
    txFeePayer: 'MERCHANT' | 'CUSTOMER';
    commissionFeePayer: 'MERCHANT' | 'CUSTOMER';
    overAcceptableDiff: string;
    underAcceptableDiff: string;
    acceptableDiffKind: 'ABSOLUTE' | 'PERCENTAGE';
    checkAmountDeviation: boolean;
    commissionBps: number;
    commissionMinUsd: string;
    lateCaptureGraceSeconds: number;
    /** Null means the deployment's default: 0 in development, 86,400 in production (decisions 10). */
    maturitySeconds: number | null;
    inquiryAttempts: number;
  };
  /** What a payment gets whose request says nothing of it; absent or null is the contract's own. */
  defaults?: { timeoutSeconds: number | null; callbackUrl: string | null };
  apiAllowlist: string[];
  cashout: {
    enabled: boolean;
    allowlist: string[];
    parkingEnabled: boolean;
    parkedCap: number;
    approvalCapUsd: string | null;
    /** Most US dollars its cashouts may move within a day; absent or null means no cap (decisions 10). */
    dailyCapUsd?: string | null;
    dispatchDelaySeconds: number;
  };
  /** Its credits are a row of their own. */
  screening: { enabled: boolean; threshold: number };
  contactEmail: string | null;
  strictSignatures: boolean;
  branding: {
    displayName: string | null;
    logoUrl: string | null;
    supportUrl: string | null;
    language: string | null;
    /** What QR codes of tokens hold: the address alone, or a URI with the amount that some wallets misread (ux 4). */
    qrMode: 'SAFE' | 'URI';
    /** Six hexadecimal digits behind a `#`; absent or null is the service's own. */
    accentColor?: string | null;
    /** Absent is AUTO, as whoever pays has it. */
    theme?: 'AUTO' | 'LIGHT' | 'DARK';
    /** Hash of the logo that was uploaded, which comes before `logoUrl`. */
    logo?: string | null;
  };
}

/** What an operation answers: the HTTP status and the `data` of the envelope. */
export interface Reply {
  status: number;
  data: object;
  /** Row it created, kept with the idempotency key for the audit. */
  resourceId?: string;
  /** The response byte for byte, where it was written before. */
  body?: string;
  /** Sent in place of the data. */
  file?: SentFile;
}

/** A file that is never changed. */
export interface SentFile {
  /** In ASCII, without quotes. */
  name: string;
  type: string;
  etag: string;
  length: number;
  /** Its bytes from one on and before another, in parts. */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

/**
 * Runs the one transaction of a state-changing call. With an Idempotency-Key it also stores the reply (2xx only) beside
 * the effect, so that either both exist or neither, and a duplicate gets the stored reply instead (decisions 8).
 * Everything remote must be fetched before it is called. `shared` says what `work` writes and replies where that is one new payment and nothing else, or
 * does it itself: such work may be done together with that of others.
 */
export type Commit = (work: (tx: Tx) => Promise<Reply>, shared?: PaymentCreate | SharedWork) => Promise<Reply>;

/** Does a request's work in one transaction with that of others, or calls `alone`. */
export type SharedWork = (own: OwnWork) => Promise<Reply>;

/** What doing a request's work together with that of others takes to know of it. */
export interface OwnWork {
  /** Its Idempotency-Key, if it has one. */
  key: KeyToTake | undefined;
  /** Its reply as it is kept under the key. */
  written(reply: Reply): Reply & { body: string };
  /** Does it in a transaction of its own, which finds out whether it is a duplicate. */
  alone(): Promise<Reply>;
  /** Whether `alone` answered what was kept for a duplicate. */
  isReplay(): boolean;
}

/** A new payment, and how its request is answered. */
export interface PaymentCreate {
  toWrite: PaymentToWrite;
  reply(payment: Payment): Reply;
}
