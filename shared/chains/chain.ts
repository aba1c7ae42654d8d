import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';

/** A block as far as following the chain needs it. */
export interface BlockRef {
  height: number;
  hash: string;
  parentHash: string;
  /** Whole Unix seconds. */
  time: number;
}

export interface Head {
  latest: BlockRef;
  /** Height of the block the node tags `safe`; null where the node has no such tag. */
  safeHeight: number | null;
  /** Height of the block the node tags `finalized`; null where the node has no such tag. */
  finalizedHeight: number | null;
}

/** Which addresses matter; asked once per transfer end, so it must cost nothing. Keys are canonical addresses. */
export interface WatchSet {
  has(address: string): boolean;
}

/** Everything that happened to watched addresses in one block, read from effects and cross-checked by hash. */
export interface BlockContent {
  block: BlockRef;
  transfers: Transfer[];
  sent: SentTransaction[];
  /** Set when the endpoint could not show what contracts passed on in this block; absent means that everything was seen. */
  internalUnseen?: true;
}

/** Consecutive blocks, all of them below final. */
export interface RangeContent {
  parentHash: string;
  last: BlockRef;
  /** In order; contents without sightings may be left out. */
  contents: BlockContent[];
  /** As in a block, for at least one of these. */
  internalUnseen?: true;
}

/** A transaction as the chain knows it, for inquiries and for the outcome of payouts. */
export interface TransactionFacts {
  txid: string;
  height: number | null;
  blockHash: string | null;
  succeeded: boolean | null;
  transfers: Transfer[];
  /** As in a block. */
  internalUnseen?: true;
}

/**
 * Reads one network. Every method rejects with `ChainUnavailable` when no endpoint gave an answer that could be trusted;
 * unsure is never an answer.
 */
export interface Reader {
  genesisHash(): Promise<string>;
  /** Never served from a cache. */
  head(): Promise<Head>;
  blockAt(height: number): Promise<BlockRef>;
  /** The whole content of one block, fetched by hash. */
  block(hash: string, watched: WatchSet): Promise<BlockContent>;
  range(from: number, to: number, watched: WatchSet): Promise<RangeContent>;
  transaction(txid: string): Promise<TransactionFacts | null>;
  /** Chain units held by `address` at `height` (at the head when absent); `contract` null is the native coin. */
  balance(address: string, contract: string | null, height?: number): Promise<bigint>;
  /**
   * Whether this endpoint shows native coins that contracts pass on (decision 0009); asked of the node once, and again after
   * an error. What was read without says so itself, by `internalUnseen`.
   */
  seesInternal(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Why there is no answer that could be trusted. `down`: not reached, or an error of the server. `slow`: no answer in time.
 * `busy`: told to ask less. `refused`: reached, and it said no to this very question; asking it again changes nothing.
 * `wrong-chain`: it serves another chain. `untrusted`: an answer that contradicts itself or what was asked.
 */
export type Trouble = 'down' | 'slow' | 'busy' | 'refused' | 'wrong-chain' | 'untrusted';

export interface Unavailability extends ErrorOptions {
  /** `untrusted` unless it is said here or by the cause. */
  trouble?: Trouble;
  /** Milliseconds the endpoint asked to be left alone for. */
  retryAfterMs?: number;
}

/** No answer that could be trusted; never holds an endpoint's URL, whose path may be a key. */
export class ChainUnavailable extends Error {
  readonly trouble: Trouble;
  readonly retryAfterMs: number | undefined;
  constructor(message: string, { trouble = 'untrusted', retryAfterMs, ...options }: Unavailability = {}) {
    super(message, options);
    this.name = 'ChainUnavailable';
    this.trouble = (options.cause as { trouble?: Trouble } | undefined)?.trouble ?? trouble;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reads and writes addresses and transaction ids of one family; pure. */
export interface AddressCodec {
  /** The canonical form used in the database and the watch set, or why the text is not an address (decisions 10). */
  parse(text: string): { ok: true; canonical: string } | { ok: false; problem: string };
  /** The form shown to people and to the contract (EIP-55 for EVM). */
  display(canonical: string): string;
  /** The form a transaction id has in the database, or why the text is not one. */
  parseTxid(text: string): { ok: true; canonical: string } | { ok: false; problem: string };
}

/** Derives deposit addresses from an account xpub; holds no key. */
export interface Deriver {
  /** BIP-32 fingerprint of the account key, 8 hex digits. */
  readonly fingerprint: string;
  /** Canonical address at /0/index below the account. */
  depositAddress(index: number): string;
}

/** A transfer somebody decided on: what, where to, how much. */
export interface TransferIntent {
  sender: string;
  recipient: string;
  contract: string | null;
  rawAmount: bigint;
}

/** What sending it takes now, destination-aware. `rawFee` is the most it can cost in native units. */
export interface FeeQuote {
  rawFee: bigint;
  /** Family-specific fields, JSON-safe; stored in the payout's plan and handed back to the signer unchanged. */
  fields: Record<string, string>;
  /** Unix milliseconds after which the chain takes no bytes made of these fields; null where bytes never expire. */
  expiresAtMs: number | null;
}

/** The keyless half of paying: quotes, nonces and broadcasting; used by the worker. */
export interface Payer {
  /**
   * What the transfer costs to this very recipient, simulated in the present state, the sender's balances included.
   * @throws ChainUnavailable when the node cannot be reached; `rejected` when the chain itself says the transfer would fail
   */
  quote(intent: TransferIntent): Promise<{ ok: true; quote: FeeQuote } | { ok: false; rejected: string }>;
  /**
   * The same as if the sender held enough coins and gas: what a merchant is quoted must not depend on what a wallet of
   * ours happens to hold (decisions 10).
   * @throws ChainUnavailable when the node cannot be reached
   */
  estimate(intent: TransferIntent): Promise<{ ok: true; quote: FeeQuote } | { ok: false; rejected: string }>;
  /**
   * The fee fields of a replacement for bytes that no block holds: same nonce, both caps raised by what nodes ask for, and no
   * lower than the market. Null on families whose transactions cannot be replaced.
   */
  bump: ((fields: Record<string, string>) => Promise<FeeQuote>) | null;
  /** Next nonce by the chain's latest state; only to initialise a wallet row and to detect foreign use. Null on families without nonces. */
  nonce(address: string): Promise<number | null>;
  /** Hands bytes to the network. No answer proves anything either way: the chain decides (architecture 4). */
  broadcast(signedBytes: Uint8Array): Promise<{ accepted: boolean; answer: string }>;
  balance(address: string, contract: string | null): Promise<bigint>;
}

/** What the signer is asked to sign: the intent, and the plan's nonce (null on families without) and fee fields. */
export interface SigningRequest {
  intent: TransferIntent;
  nonce: number | null;
  fields: Record<string, string>;
}

export interface SignedTransfer {
  txid: string;
  signedBytes: Uint8Array;
  /** The most the bytes let it cost, native units; never more than the quote's `rawFee`. */
  rawFeeLimit: bigint;
  /** Unix milliseconds after which the chain takes them no more; null where bytes never expire. */
  expiresAtMs: number | null;
}

/** The half that holds keys; only the signer role may construct it. */
export interface TransferSigner {
  /** Address of the key at `path` below the seed, canonical. */
  addressAt(path: string): string;
  /** Account-level extended public key at `path`, for the configuration of the keyless roles. */
  xpubAt(path: string): string;
  /**
   * Builds, signs, decodes its own bytes and compares them with the request.
   * @throws Invariant when the decoded bytes are not exactly the request
   */
  sign(path: string, request: SigningRequest): Promise<SignedTransfer>;
}

/** What signed bytes do, read from the bytes alone. */
export interface DecodedTransfer extends TransferIntent {
  nonce: number | null;
  /** The most the bytes let it cost, native units. On TRON that is the fee limit alone: bandwidth and a new account cost what the chain says, whatever the bytes are. */
  rawFeeLimit: bigint;
  expiresAtMs: number | null;
  txid: string;
  /** The chain the bytes are for; null where they name none but a recent block of it. */
  chainId: string | null;
  /** The fields as the plan writes them. */
  fields: Record<string, string>;
}

/** Reads bytes back into what they do; used before storing and before broadcasting. @throws Invariant when they are anything but one transfer */
export type DecodeTransfer = (signedBytes: Uint8Array) => Promise<DecodedTransfer>;
