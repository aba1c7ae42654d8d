import type { BlockMessage } from './chain-events.ts';

/** The last block applied for a network, and the last message that moved it. */
export interface Tip {
  height: number;
  hash: string;
  /** Highest block known to be final; never moves back. */
  finalHeight: number;
  epoch: number;
  seq: number;
}

/** A canonical block the consumer remembers. */
export interface StoredBlock {
  height: number;
  hash: string;
}

/** The newest message seen so far; stored with the tip so that an old delivery can never pass for news. */
export interface Mark {
  epoch: number;
  seq: number;
}

export type Reconciled =
  /** Written by an earlier life of the indexer, or overtaken by a message already applied: acknowledge and forget. */
  | { action: 'drop'; reason: 'older_epoch' | 'superseded' }
  /** Its last block is canonical already: acknowledge; the mark still moves, or the writer would believe it unread. */
  | { action: 'duplicate'; mark: Mark }
  /** Only acknowledgements, given at the tip. */
  | { action: 'acks'; mark: Mark }
  /** Its first block follows the tip. */
  | { action: 'apply'; mark: Mark }
  /** Orphan every block above `ancestorHeight`, then apply. */
  | { action: 'reorganise'; ancestorHeight: number; mark: Mark }
  /** The chain contradicts a block that was final: stop the network and call a person. */
  | { action: 'freeze'; reason: string }
  /** It does not fit: ask the indexer to start again from the tip. */
  | { action: 'rewind'; reason: string };

/** True for a message that carries acknowledgements and no block: `to = from - 1`, both hashes the tip's. */
export function isAckOnly(message: Pick<BlockMessage, 'from' | 'to'>): boolean {
  return message.to === message.from - 1;
}

/**
 * Says what one stream message means to the consumer's tip (architecture 3.3). Pure; the message's MAC is checked before.
 * `known` holds the canonical stored blocks at heights `message.to` and `message.from - 1` and the one whose hash is
 * `message.parentHash`, as far as they are stored; more does no harm. `tip` is null before anything was ever applied.
 * A message delivered twice, late or out of order is never news: what it says was applied or overtaken already.
 */
export function reconcile(tip: Tip | null, known: readonly StoredBlock[], message: BlockMessage): Reconciled {
  // Whatever came first in an epoch is lost if the first message seen is not its first.
  if (tip === null) {
    if (isAckOnly(message) || message.seq !== 1) return { action: 'rewind', reason: 'nothing was applied yet and this is not the first message of its epoch' };
    return { action: 'apply', mark: { epoch: message.epoch, seq: message.seq } };
  }
  if (message.epoch < tip.epoch) return { action: 'drop', reason: 'older_epoch' };

  const newer = message.epoch > tip.epoch || message.seq > tip.seq;
  const mark: Mark = newer ? { epoch: message.epoch, seq: message.seq } : { epoch: tip.epoch, seq: tip.seq };
  const followsTip = message.parentHash === tip.hash && message.from === tip.height + 1;

  if (isAckOnly(message)) {
    if (followsTip) return { action: 'acks', mark };
    return newer
      ? { action: 'rewind', reason: `acknowledgements at block ${message.to} do not belong to the tip at ${tip.height}` }
      : { action: 'drop', reason: 'superseded' };
  }
  if (known.some((block) => block.height === message.to && block.hash === message.hash)) return { action: 'duplicate', mark };
  if (followsTip) return { action: 'apply', mark };
  if (!newer) return { action: 'drop', reason: 'superseded' };

  const before = message.from - 1;
  const parent = known.find((block) => block.hash === message.parentHash);
  if (parent !== undefined && parent.height === before) {
    if (parent.height >= tip.finalHeight) return { action: 'reorganise', ancestorHeight: parent.height, mark };
    return { action: 'freeze', reason: `a branch leaves the chain at block ${parent.height}, below final block ${tip.finalHeight}` };
  }
  if (before <= tip.finalHeight && known.some((block) => block.height === before)) {
    return { action: 'freeze', reason: `block ${before} was final with another hash than ${message.parentHash}` };
  }
  return { action: 'rewind', reason: `the parent of block ${message.from} is not known` };
}
