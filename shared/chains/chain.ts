import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';

/** A block as far as following the chain needs it. */
export interface BlockRef {
  height: number;
  hash: string;
  parentHash: string;
  /** Whole Unix seconds. */
  time: number;
}

/** A block that a node says is its new head, of which nothing is known yet. */
export type AnnouncedBlock = Pick<BlockRef, 'height' | 'hash' | 'parentHash'>;

export interface Head {
  latest: BlockRef;
  /** Height of the block the node tags `safe`; null where the node has no such tag. */
  safeHeight: number | null;
  /** Height of the block the node tags `finalized`; null where the node has no such tag. */
  finalizedHeight: number | null;
}

/** Whether the twenty bytes at a place are those of a watched address. */
export type HasKey = (bytes: Uint8Array, at: number) => boolean;

/** Which addresses matter; asked once per transfer end, so it must cost nothing. Keys are canonical addresses. */
export interface WatchSet {
  has(address: string): boolean;
  /** The same of twenty bytes, where addresses are that long: without making text of them. */
  hasKey?: HasKey;
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

/** A transaction that waits to be mined; until a block holds it another one may take its place. */
export interface WaitingTransaction {
  txid: string;
  /** What it would bring to watched addresses; where in which block is not known yet. */
  transfers: Omit<Transfer, 'height' | 'blockHash' | 'position' | 'time'>[];
  /** Outputs it would spend, as `txid:vout`: of several transactions with one in common only one can ever be mined. */
  spends: string[];
}

/** What waits at a node now. */
export interface Mempool {
  /** Ids of everything that waits. */
  txids: ReadonlySet<string>;
  /** Those among them that were not known yet and concern a watched address. */
  fresh: WaitingTransaction[];
}

/** A transaction as the chain knows it, for inquiries and for the outcome of payouts. */
export interface TransactionFacts {
  txid: string;
  height: number | null;
  blockHash: string | null;
  succeeded: boolean | null;
  transfers: Transfer[];
  /** Where coins are outputs, of one in a block: all that it spends, as `txid:vout`. */
  spends?: string[];
  /** As in a block. */
  internalUnseen?: true;
}

/** What a node may offer beside what every one of its family must (EVM). */
export type NodeAbility = 'block receipts' | 'access lists' | 'state overrides' | 'traces';

/**
 * Reads one network. Every method rejects with `ChainUnavailable` when no endpoint gave an answer that could be trusted;
 * unsure is never an answer.
 */
export interface Reader {
  genesisHash(): Promise<string>;
  /** Never served from a cache. */
  head(): Promise<Head>;
  blockAt(height: number): Promise<BlockRef>;
  /**
   * The whole content of one block, fetched by hash. `lean`: without what can be left out of it, which is its traces (it says so by
   * `internalUnseen`); for one that was too much for a process before.
   */
  block(hash: string, watched: WatchSet, how?: { lean?: boolean }): Promise<BlockContent>;
  /**
   * Begins to ask for a block that may soon be asked for by its hash; `block` then takes what came of it, and asks anew where that failed. One at a time:
   * another one takes its place. Absent on families whose nodes announce nothing.
   */
  foresee?(announced: AnnouncedBlock): void;
  /** Blocks `from` to `to`; it ends earlier once it holds `enough` transfers, and `last` says where. */
  range(from: number, to: number, watched: WatchSet, how?: { enough?: number }): Promise<RangeContent>;
  /** `inBlock` is where it may be found, by the books: some nodes have no index of all transactions. */
  transaction(txid: string, inBlock?: string): Promise<TransactionFacts | null>;
  /** Chain units held by `address` at `height` (at the head when absent); `contract` null is the native coin. */
  balance(address: string, contract: string | null, height?: number): Promise<bigint>;
  /** Next nonce of `address` after the block at `height`; absent on families without nonces. */
  nonceAt?(address: string, height: number): Promise<number>;
  /** Whether a contract lies at `address` now; absent on families that have none. */
  hasCode?(address: string): Promise<boolean>;
  /**
   * Whether this endpoint shows native coins that contracts pass on (decision 0009); asked of the node once, and again after
   * an error. What was read without says so itself, by `internalUnseen`.
   */
  seesInternal(): Promise<boolean>;
  /**
   * What this endpoint does not offer, by its own words; what is missing is asked for again each time, `anew` everything. Absent on families whose
   * nodes all offer the same.
   */
  lacks?(anew?: boolean): Promise<NodeAbility[]>;
  /** What waits at this endpoint, told of what is known already; absent on families where nothing is said before a block says it. */
  mempool?(watched: WatchSet, known: ReadonlySet<string>): Promise<Mempool>;
  /**
   * Chain units of outputs that no block up to the answer's has spent, null for one that is spent or unknown, in the order asked;
   * and the block it holds after. Absent where coins are balances.
   */
  outputs?(wanted: readonly { txid: string; vout: number }[]): Promise<{ at: BlockRef; rawAmounts: (bigint | null)[] }>;
  /**
   * What lies at one address now, and the block it was so after: the whole set of outputs is searched, which takes minutes on a large
   * chain, so it is asked once for a wallet that may have held coins before it was watched. Absent where coins are balances.
   * @throws ChainUnavailable also while the node is busy with another such search
   */
  unspentAt?(address: string): Promise<{ at: BlockRef; outputs: UnspentOutput[] }>;
  /** Ids of the waiting transactions that spend these outputs, null where none does, in the order asked; of several endpoints all must answer. Absent where coins are balances. */
  waitingSpenders?(wanted: readonly { txid: string; vout: number }[]): Promise<(string | null)[]>;
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
  /** Fields of a header that nobody here knows, where they are why (decision 0039). */
  unknownFields?: readonly string[];
}

/** No answer that could be trusted; never holds an endpoint's URL, whose path may be a key. */
export class ChainUnavailable extends Error {
  readonly trouble: Trouble;
  readonly retryAfterMs: number | undefined;
  readonly unknownFields: readonly string[];
  constructor(message: string, { trouble = 'untrusted', retryAfterMs, unknownFields = [], ...options }: Unavailability = {}) {
    super(message, options);
    this.name = 'ChainUnavailable';
    this.trouble = (options.cause as { trouble?: Trouble } | undefined)?.trouble ?? trouble;
    this.retryAfterMs = retryAfterMs;
    this.unknownFields = unknownFields;
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

/** An output of ours that nothing has spent, as the books know it; only families whose coins are outputs have any. */
export interface OwnOutput {
  txid: string;
  vout: number;
  rawAmount: bigint;
  /** Canonical. */
  address: string;
}

/** An output as the chain tells of it. */
export interface UnspentOutput extends OwnOutput {
  /** Of the block it was made in. */
  height: number;
  /** Whether it was made by a coinbase, and cannot move before it is 100 blocks deep. */
  coinbase: boolean;
}

/** A transfer somebody decided on: what, where to, how much. */
export interface TransferIntent {
  /** Who pays. Where coins are outputs: the wallet that gets the change in a question, the address of the first input in signed bytes. */
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
  /**
   * How much of the network's work the fee buys (gas, energy), where the destination has a say in it: it is code that runs, or its
   * state decides what is written. Absent where it has none.
   */
  units?: bigint;
}

/** What was quoted for a transfer before, which it is now held to (decisions 10). */
export interface Bound {
  /** Of that quote; absent where the destination has no say. */
  units?: bigint;
  /** The most units the destination may make it take now. */
  mostUnits?: bigint;
  /** What was locked for it, native units: bytes are made to cost no more than this while a block would take them at that. */
  rawFee: bigint;
}

/**
 * `lacking` is set when nothing but coins is missing: the least that one more output of ours would have to bring, its own cost
 * included; `about` when it is the amount that cannot be sent, whoever would get it.
 */
export type Quoted = { ok: true; quote: FeeQuote } | { ok: false; rejected: string; lacking?: bigint; about?: 'amount' };

/** What a replacement has to know where coins are outputs. */
export interface ReplacedFamily {
  /** What is to happen now: the transfer, or nothing but the anchor going back to the wallet. */
  intent: TransferIntent;
  /** Outputs it may spend beside those that are spent already. */
  coins: readonly OwnOutput[];
  /** All bytes signed so far, newest first. */
  replaced: readonly DecodedTransfer[];
}

/** What payments cost now where coins are outputs. */
export interface OutputCost {
  /** Chain units per thousand units of size; on Bitcoin satoshis per thousand virtual bytes. */
  rate: bigint;
  /** Chain units that spending one more output costs. */
  input: bigint;
}

/**
 * The keyless half of paying: quotes, nonces and broadcasting; used by the worker. Where coins are outputs, `coins` are the
 * ones it may choose from, and the fields name the chosen ones.
 */
export interface Payer {
  /**
   * What the transfer costs to this very recipient, simulated in the present state, the sender's balances included; rejected too
   * when it takes more than it is `bound` to.
   * @throws ChainUnavailable when the node cannot be reached; `rejected` when the chain itself says the transfer would fail
   */
  quote(intent: TransferIntent, coins?: readonly OwnOutput[], bound?: Bound): Promise<Quoted>;
  /**
   * The same as if the sender held enough coins and gas: what a merchant is quoted must not depend on what a wallet of
   * ours happens to hold (decisions 10). Where the recipient's own code runs it is held to what it is `bound` to here as well, so that
   * nothing is brought for what would not be sent.
   * @throws ChainUnavailable when the node cannot be reached
   */
  estimate(intent: TransferIntent, coins?: readonly OwnOutput[], bound?: Bound): Promise<Quoted>;
  /**
   * The fee fields of a replacement for bytes that no block holds: same nonce, both caps raised by what nodes ask for, and no
   * lower than the market. Null on families whose transactions cannot be replaced. Where coins are outputs it needs the whole
   * family, and answers null when nothing can replace it now: the fee may not rise further, or no coins are left to pay it.
   */
  bump: ((fields: Record<string, string>, family?: ReplacedFamily) => Promise<FeeQuote | null>) | null;
  /**
   * Where coins are outputs: what bringing all of these to `wallet` as one output costs, the first of them the anchor; in the place of
   * bytes that did the same (`replaced`, newest first) it pays as much more as nodes ask for. What is left over is what arrives. Absent elsewhere.
   * @throws ChainUnavailable when the node cannot be reached
   */
  join?(wallet: string, coins: readonly OwnOutput[], replaced?: readonly DecodedTransfer[]): Promise<Quoted>;
  /** What payments cost now; absent where coins are balances. @throws ChainUnavailable when the node cannot be reached */
  outputCost?(): Promise<OutputCost>;
  /** Next nonce by the chain's latest state; only to initialise a wallet row and to detect foreign use. Null on families without nonces. */
  nonce(address: string): Promise<number | null>;
  /** The same with everything that waits to be mined, by whichever endpoint knows of most; all must answer. Absent on families without nonces. */
  waitingNonce?(address: string): Promise<number>;
  /** Longest that bytes made now can still be mined, in seconds of the chain's clock; absent where bytes never expire. */
  bytesLiveSeconds?: number;
  /** Hands bytes to the network. No answer proves anything either way: the chain decides (architecture 4). */
  broadcast(signedBytes: Uint8Array): Promise<{ accepted: boolean; answer: string }>;
  balance(address: string, contract: string | null): Promise<bigint>;
}

/** What the signer is asked to sign: the intent, and the plan's nonce (null on families without) and fee fields. */
export interface SigningRequest {
  intent: TransferIntent;
  nonce: number | null;
  fields: Record<string, string>;
  /** Where coins are outputs: the path of the key of every address they lie at. */
  paths?: Readonly<Record<string, string>>;
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
