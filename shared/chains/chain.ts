import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';

/** The fields of a block that following the chain needs. */
export interface BlockRef {
  height: number;
  hash: string;
  parentHash: string;
  /** Whole Unix seconds. */
  time: number;
}

/** A block that a node announced as its new head; nothing else of it is known yet. */
export type AnnouncedBlock = Pick<BlockRef, 'height' | 'hash' | 'parentHash'>;

export interface Head {
  latest: BlockRef;
  /** Height of the block the node tags `safe`; null where the node has no such tag. */
  safeHeight: number | null;
  /** Height of the block the node tags `finalized`; null where the node has no such tag. */
  finalizedHeight: number | null;
}

/** Whether the twenty bytes at position `at` are a watched address. */
export type HasKey = (bytes: Uint8Array, at: number) => boolean;

/** The addresses that matter. Each transfer is looked up twice, so a look-up must cost almost nothing. Keys are canonical addresses. */
export interface WatchSet {
  has(address: string): boolean;
  /** Looks an address up by its twenty bytes, where addresses are that long, without making a string. */
  hasKey?: HasKey;
}

/** All transfers of watched addresses in one block, read from effects and cross-checked by hash. */
export interface BlockContent {
  block: BlockRef;
  transfers: Transfer[];
  sent: SentTransaction[];
  /** Set when the endpoint could not show internal transfers of this block; absent when everything was seen. */
  internalUnseen?: true;
}

/** Consecutive blocks, all below final. */
export interface RangeContent {
  parentHash: string;
  last: BlockRef;
  /** In order. Contents without sightings may be left out. */
  contents: BlockContent[];
  /** As for a block; set when it applies to at least one of these. */
  internalUnseen?: true;
}

/** Where a node says that a token moved. */
export interface LogPlace {
  height: number;
  blockHash: string;
  txid: string;
  /** Position in the block, over all its logs. */
  index: number;
}

/** A transaction that waits to be mined. Until a block holds it, another one may take its place. */
export interface WaitingTransaction {
  txid: string;
  /** The transfers it would make to watched addresses; their block and place are not known yet. */
  transfers: Omit<Transfer, 'height' | 'blockHash' | 'position' | 'time'>[];
  /** Outputs that it would spend, as `txid:vout`. Of several transactions that spend the same output only one can ever be mined. */
  spends: string[];
}

/** The transactions that wait at a node now. */
export interface Mempool {
  /** Ids of all of them. */
  txids: ReadonlySet<string>;
  /** Those that were not known before and concern a watched address. */
  fresh: WaitingTransaction[];
}

/** A transaction as the chain knows it, for inquiries and for the outcome of payouts. */
export interface TransactionFacts {
  txid: string;
  height: number | null;
  blockHash: string | null;
  succeeded: boolean | null;
  transfers: Transfer[];
  /** All outputs that it spends, as `txid:vout`; only where coins are outputs, and only once a block holds it. */
  spends?: string[];
  /** As for a block. */
  internalUnseen?: true;
}

/** An answer about logs as it came, and what was found in it. */
export interface HeardLogs {
  /** Released once nobody compares anything with it any more. */
  told: { readonly bytes: Buffer; release(): void };
  places: LogPlace[];
}

/** Abilities that a node may have beyond those that every node of its family must have (EVM). */
export type NodeAbility = 'block receipts' | 'access lists' | 'state overrides' | 'traces';

/** Reads one network. Every method rejects with `ChainUnavailable` when no endpoint gave an answer that can be trusted; unsure is never an answer. */
export interface Reader {
  genesisHash(): Promise<string>;
  /** Never served from a cache. */
  head(): Promise<Head>;
  blockAt(height: number): Promise<BlockRef>;
  /**
   * The whole content of one block, fetched by hash.
   * `lean` leaves out the block's traces, and says so by `internalUnseen`; it is for a block that was too much for a process before.
   */
  block(hash: string, watched: WatchSet, how?: { lean?: boolean }): Promise<BlockContent>;
  /**
   * Starts to fetch a block that may soon be asked for by its hash. `block` then uses the result, or asks again if that failed. Only the last
   * announced block is fetched. Absent on families whose nodes announce nothing.
   */
  foresee?(announced: AnnouncedBlock): void;
  /** Blocks `from` to `to`. It stops earlier once it holds `enough` transfers, and `last` says where. */
  range(from: number, to: number, watched: WatchSet, how?: { enough?: number }): Promise<RangeContent>;
  /**
   * Where these tokens moved to or from a watched address in blocks `from` to `to`, by the node's index of logs: nothing of it is proven, and nothing
   * else that happened there is told. `heard` is what other endpoints answered to the same question, and gets this answer too: one that is the same byte
   * for byte is not looked through again. Absent on families whose nodes have no such index.
   */
  tokenPlaces?(from: number, to: number, watched: WatchSet, contracts: ReadonlySet<string>, heard?: HeardLogs[]): Promise<LogPlace[]>;
  /** `inBlock` is the block that may hold it, by the books, because some nodes have no index of all transactions. */
  transaction(txid: string, inBlock?: string): Promise<TransactionFacts | null>;
  /** Chain units held by `address` at `height` (at the head when absent); `contract` null is the native coin. */
  balance(address: string, contract: string | null, height?: number): Promise<bigint>;
  /** Next nonce of `address` after the block at `height`; absent on families without nonces. */
  nonceAt?(address: string, height: number): Promise<number>;
  /** Whether there is a contract at `address` now; absent on families without contracts. */
  hasCode?(address: string): Promise<boolean>;
  /**
   * Whether this endpoint shows native coins that contracts pass on (decision 0009). The node is asked once, and again after an error. Content that
   * was read without them says so by `internalUnseen`.
   */
  seesInternal(): Promise<boolean>;
  /**
   * The abilities that this endpoint lacks, by its own answers. Missing ones are asked for again each time, with `anew` all of them. Absent on
   * families whose nodes all have the same.
   */
  lacks?(anew?: boolean): Promise<NodeAbility[]>;
  /**
   * The transactions that wait at this endpoint; `known` are those that need not be read again. Absent on families whose nodes show nothing before
   * a block holds it.
   */
  mempool?(watched: WatchSet, known: ReadonlySet<string>): Promise<Mempool>;
  /**
   * Chain units of the given outputs, in the same order, null for one that is spent or unknown, and the block after which that is so. Absent where
   * coins are balances.
   */
  outputs?(wanted: readonly { txid: string; vout: number }[]): Promise<{ at: BlockRef; rawAmounts: (bigint | null)[] }>;
  /**
   * The outputs that lie at one address now, and the block after which that is so. Absent where coins are balances.
   * The node searches the whole set of outputs, which takes minutes on a large chain, so this is asked once for a wallet that may have held coins
   * before it was watched.
   * @throws ChainUnavailable also while the node is busy with another such search
   */
  unspentAt?(address: string): Promise<{ at: BlockRef; outputs: UnspentOutput[] }>;
  /**
   * Ids of the waiting transactions that spend these outputs, in the same order, null where none does. All endpoints must answer. Absent where
   * coins are balances.
   */
  waitingSpenders?(wanted: readonly { txid: string; vout: number }[]): Promise<(string | null)[]>;
  close(): Promise<void>;
}

/**
 * Why there is no answer that can be trusted. `down`: not reached, or an error of the server. `slow`: no answer in time. `busy`: the endpoint asks
 * for fewer requests. `refused`: it rejected this very question, so asking it again changes nothing. `wrong-chain`: it serves another chain.
 * `untrusted`: the answer contradicts itself or the question.
 */
export type Trouble = 'down' | 'slow' | 'busy' | 'refused' | 'wrong-chain' | 'untrusted';

export interface Unavailability extends ErrorOptions {
  /** Taken from the cause if that has one; `untrusted` when neither says. */
  trouble?: Trouble;
  /** How many milliseconds the endpoint asked to be left alone. */
  retryAfterMs?: number;
  /** Unknown fields of a block header, if they are the reason (decision 0039). */
  unknownFields?: readonly string[];
}

/** There is no answer that can be trusted. The message never holds an endpoint's URL, because its path may be a key. */
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

/** Reads and writes addresses and transaction ids of one family. Pure. */
export interface AddressCodec {
  /** The canonical form used in the database and the watch set, or why the text is not an address (decisions 10). */
  parse(text: string): { ok: true; canonical: string } | { ok: false; problem: string };
  /** The form for people and for the contract (EIP-55 for EVM). */
  display(canonical: string): string;
  /** The form in which the database stores a transaction id, or why the text is not one. */
  parseTxid(text: string): { ok: true; canonical: string } | { ok: false; problem: string };
}

/** Derives deposit addresses from an account xpub; holds no key. */
export interface Deriver {
  /** BIP-32 fingerprint of the account key, 8 hex digits. */
  readonly fingerprint: string;
  /** Canonical address at /0/index below the account key. */
  depositAddress(index: number): string;
}

/** An unspent output of ours, as the books know it; only on families whose coins are outputs. */
export interface OwnOutput {
  txid: string;
  vout: number;
  rawAmount: bigint;
  /** Canonical. */
  address: string;
}

/** An unspent output, as the chain reports it. */
export interface UnspentOutput extends OwnOutput {
  /** Height of the block in which it was made. */
  height: number;
  /** Whether a coinbase made it; it then cannot move before it is 100 blocks deep. */
  coinbase: boolean;
}

/** A transfer that was decided on: asset, recipient and amount. */
export interface TransferIntent {
  /** The address that pays. Where coins are outputs: in a question the wallet that gets the change, in signed bytes the address of the first input. */
  sender: string;
  recipient: string;
  contract: string | null;
  rawAmount: bigint;
}

/** The present cost of sending a transfer to its recipient. `rawFee` is the most that it can cost, in native units. */
export interface FeeQuote {
  rawFee: bigint;
  /** Family-specific fields, safe for JSON. The payout's plan stores them, and the signer gets them unchanged. */
  fields: Record<string, string>;
  /** Unix milliseconds after which the chain no longer accepts bytes made from these fields; null where bytes never expire. */
  expiresAtMs: number | null;
  /**
   * The units of network resources that the fee buys (gas, energy), where the destination influences them: because its code runs, or its state
   * decides what is written. Absent where it does not.
   */
  units?: bigint;
}

/** The earlier quote of a transfer that it is now held to (decisions 10). */
export interface Bound {
  /** Units of that quote; absent where the destination does not influence them. */
  units?: bigint;
  /** The most units that the transfer may take now because of its destination. */
  mostUnits?: bigint;
  /** The fee that was locked, in native units. Bytes are made to cost no more than this while a block would take them at that price. */
  rawFee: bigint;
}

/**
 * `lacking` is set when only coins are missing: the least that one more output of ours must bring, including its own cost. `about` is set when the
 * amount cannot be sent, whoever the recipient is.
 */
export type Quoted = { ok: true; quote: FeeQuote } | { ok: false; rejected: string; lacking?: bigint; about?: 'amount' };

/** The facts that a replacement needs where coins are outputs. */
export interface ReplacedFamily {
  /** The intent now: the transfer, or only returning the anchor to the wallet. */
  intent: TransferIntent;
  /** Outputs that it may spend beyond those spent already. */
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
 * Quotes, nonces and broadcasting, without keys; used by the worker. Where coins are outputs, `coins` are the outputs that it may choose from, and
 * the quote's fields name the chosen ones.
 */
export interface Payer {
  /**
   * The cost of a transfer to this very recipient, simulated in the present state with the sender's own balances. It is also rejected when it takes
   * more than it is `bound` to.
   * @throws ChainUnavailable when the node cannot be reached; `rejected` when the chain itself says that the transfer would fail
   */
  quote(intent: TransferIntent, coins?: readonly OwnOutput[], bound?: Bound): Promise<Quoted>;
  /**
   * The cost of a transfer as if the sender held enough coins and gas, because a merchant's quote must not depend on what a wallet of ours holds
   * (decisions 10). If the recipient's own code runs, the transfer is held to what it is `bound` to here as well, so that nothing is brought for a
   * transfer that would not be sent.
   * @throws ChainUnavailable when the node cannot be reached
   */
  estimate(intent: TransferIntent, coins?: readonly OwnOutput[], bound?: Bound): Promise<Quoted>;
  /**
   * The fee fields of a replacement for bytes that no block holds: same nonce, both caps raised by what nodes require, and no lower than the
   * market. Null on families whose transactions cannot be replaced.
   * Where coins are outputs it needs the whole family, and returns null when nothing can replace it now: the fee may not rise further, or no coins
   * are left to pay it.
   */
  bump: ((fields: Record<string, string>, family?: ReplacedFamily) => Promise<FeeQuote | null>) | null;
  /**
   * The cost of joining these outputs into one at `wallet`, with the first as the anchor; only where coins are outputs. The remainder is what
   * arrives.
   * If it replaces bytes that did the same (`replaced`, newest first), it pays as much more as nodes require.
   * @throws ChainUnavailable when the node cannot be reached
   */
  join?(wallet: string, coins: readonly OwnOutput[], replaced?: readonly DecodedTransfer[]): Promise<Quoted>;
  /** The present cost of spending outputs; absent where coins are balances. @throws ChainUnavailable when the node cannot be reached */
  outputCost?(): Promise<OutputCost>;
  /** Next nonce in the chain's latest state, only for setting up a wallet's row and for detecting use by others. Null on families without nonces. */
  nonce(address: string): Promise<number | null>;
  /**
   * Next nonce including the transactions that wait to be mined, by the endpoint that knows most of them; all must answer. Absent on families
   * without nonces.
   */
  waitingNonce?(address: string): Promise<number>;
  /** How long bytes made now can still be mined, in seconds of the chain's clock; absent where bytes never expire. */
  bytesLiveSeconds?: number;
  /** Sends bytes to the network. No answer proves anything: the chain decides (architecture 4). */
  broadcast(signedBytes: Uint8Array): Promise<{ accepted: boolean; answer: string }>;
  balance(address: string, contract: string | null): Promise<bigint>;
}

/** The order to the signer: the intent, and the plan's nonce (null on families without) and fee fields. */
export interface SigningRequest {
  intent: TransferIntent;
  nonce: number | null;
  fields: Record<string, string>;
  /** Path of the key for every address that inputs lie at; only where coins are outputs. */
  paths?: Readonly<Record<string, string>>;
}

export interface SignedTransfer {
  txid: string;
  signedBytes: Uint8Array;
  /** The most that the bytes allow it to cost, in native units; never more than the quote's `rawFee`. */
  rawFeeLimit: bigint;
  /** Unix milliseconds after which the chain no longer accepts them; null where bytes never expire. */
  expiresAtMs: number | null;
}

/** Signs with keys; only the signer role may construct it. */
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

/** What signed bytes do, read only from the bytes. */
export interface DecodedTransfer extends TransferIntent {
  nonce: number | null;
  /**
   * The most that the bytes allow it to cost, in native units. On TRON that is only the fee limit: bandwidth and a new account cost what the chain
   * asks, whatever the bytes say.
   */
  rawFeeLimit: bigint;
  expiresAtMs: number | null;
  txid: string;
  /** The chain that the bytes are for; null where they name only a recent block. */
  chainId: string | null;
  /** The fields in the form of the plan. */
  fields: Record<string, string>;
}

/** Decodes signed bytes; used before storing and before broadcasting. @throws Invariant when they are anything other than one transfer */
export type DecodeTransfer = (signedBytes: Uint8Array) => Promise<DecodedTransfer>;
