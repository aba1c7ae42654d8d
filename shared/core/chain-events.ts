/**
 * The words an indexer says to the api: one message per block near the head, one per range of blocks below final
 * (architecture 3.3). Messages are hash-linked: `parentHash` must be the tip of whoever applies them.
 */

/** `native`: the transaction's own value. `internal`: native coins a contract passed on. `token`: a token's own event. */
export const TRANSFER_KINDS = ['native', 'internal', 'token'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** Any movement of a coin or token to or from a watched address, read from its effect on chain. */
export interface Transfer {
  kind: TransferKind;
  txid: string;
  /**
   * Position inside the transaction: 0 for the top-level value, the index in the receipt for a log, vout for Bitcoin; for an
   * internal one its place, from 1, among the movements of coins between two accounts that took effect, in the order they
   * happened: what else is listed beside them differs from node to node.
   */
  ordinal: number;
  height: number;
  blockHash: string;
  /** Position of the transaction in its block. */
  position: number;
  /** Block time, whole Unix seconds. */
  time: number;
  sender: string;
  /** Where a transaction has several payers (Bitcoin): everybody but `sender` whose coins it moves. */
  coSenders?: string[];
  recipient: string;
  /** Set when the coins were made in this block and cannot move before it is 100 blocks deep (a coinbase). */
  coinbase?: true;
  /** Token contract in its canonical form, null for the native coin. */
  contract: string | null;
  /** Chain integer units, decimal. */
  rawAmount: string;
  /** Set when no root covers it, because its block holds something of a form that nobody here knows: never credited on one provider's word alone (decision 0039). */
  unproven?: true;
}

/** A transaction signed by a watched address of ours, with its outcome and what it cost; how payouts complete. */
export interface SentTransaction {
  kind: 'sent';
  txid: string;
  height: number;
  blockHash: string;
  position: number;
  time: number;
  sender: string;
  /** Account nonce on chains that have one. */
  nonce: number | null;
  /** Outputs of watched addresses it spends, where coins are outputs. */
  spends?: { txid: string; vout: number }[];
  succeeded: boolean;
  /** Native units the transaction cost its sender, decimal. */
  rawFee: string;
}

export type Sighting = Transfer | SentTransaction;

/** The indexer's word that an address is watched from `watchedFrom` (block height) on. */
export interface WatchAck {
  address: string;
  watchedFrom: number;
}

export interface BlockMessage {
  network: string;
  /** Fencing number of the writer's lease; a message of an older epoch is dropped. */
  epoch: number;
  /** Counts from 1 within an epoch. */
  seq: number;
  /** First and last block covered, inclusive; equal near the head. */
  from: number;
  to: number;
  /** Hash of block `from - 1`. */
  parentHash: string;
  /** Hash of block `to`. */
  hash: string;
  safeNumber: number;
  finalNumber: number;
  /** Highest block the writer's node knew of when it read this one. */
  headNumber: number;
  /** Time of block `to`, whole Unix seconds. */
  time: number;
  sightings: Sighting[];
  acks: WatchAck[];
  /** Set when at least one of the blocks was read from an endpoint that does not show what contracts passed on. */
  internalUnseen?: true;
  /** Set when these blocks were read by the logs of two providers: only the configured tokens are told of, and all of it is read again (decision 0053). */
  byLogs?: true;
  /** W3C trace context of the read, so that a credit can be traced back to its block. */
  traceparent?: string;
}

/** The stream on which a network's indexer tells again what final blocks held that an operator asked about. */
export function rescanStream(network: string): string {
  return `sluice:rescans:${network}`;
}

/** The stream a network's indexer appends to. */
export function blockStream(network: string): string {
  return `sluice:blocks:${network}`;
}
