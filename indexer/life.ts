import type { AnnouncedBlock, Head } from '#shared/chains/chain.ts';
import type { JoinedReader } from '#shared/chains/join-readers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { IndexerMetrics } from '#shared/platform/metrics.ts';
import type { Database, Sql } from '#shared/platform/postgres.ts';
import type { Streams } from '#shared/platform/redis-streams.ts';
import type { ChainEvent } from '#state-machines/chain/machine.ts';
import type { Trail } from './trail.ts';
import type { Wake } from './wake.ts';
import type { Watchlist } from './watchlist.ts';

/** What an indexer process is made of; nothing of this is a global. */
export interface IndexerDeps {
  sql: Sql;
  snapshot: Database['snapshot'];
  streams: Streams;
  log: Logger;
  metrics: IndexerMetrics;
  /** Id of this process in the lease. */
  holder: string;
  openReader(network: NetworkConfig): JoinedReader;
  /** Rings when a network's node says that its head moved, where one does, with the block it names; returns how to stop it. */
  hearHeads?(network: NetworkConfig, ring: (announced?: AnnouncedBlock) => void): () => void;
  /** Milliseconds that never go back; for intervals only. */
  monotonicMs(): number;
}

/** The head as last seen, and when the question was asked: what it says was true no earlier than that. */
export interface SeenHead extends Head {
  askedAtMs: number;
  /** When it was first seen with this hash. */
  changedAtMs: number;
}

/** Blocks that are read together. */
export interface Unit {
  from: number;
  to: number;
}

/** What an earlier life began to read and never got rid of, and how many lives ended like that. */
export interface LeftUnit extends Unit {
  deaths: number;
}

/** What is read: the head is followed, or blocks are read again for an operator. */
export type Purpose = 'following' | 'rescanning';

/**
 * One life of one chain: what its children share between joining under an epoch and giving it up. It holds no truth; all
 * of it can be rebuilt from Postgres and the chain.
 */
export interface Life {
  network: NetworkConfig;
  networkId: string;
  epoch: number;
  reader: JoinedReader;
  /** What the life before this one was reading when it ended; by now it may be known that it was not the reason. */
  left: Record<Purpose, LeftUnit | null>;
  watchlist: Watchlist;
  trail: Trail;
  /** Highest block that was published and is final; a fork below it is for a person. */
  finalHeight: number;
  /** Set when the chain was left below `finalHeight`: its next block is published so that the consumer sees it, and nothing after. */
  forkedBelowFinal: boolean;
  head: SeenHead | undefined;
  /** What a node named last as its new head, until somebody looked at it. */
  announced: AnnouncedBlock | undefined;
  /** Height of the block that was asked for last before the head was known to be it. */
  foreseenHeight: number | undefined;
  /** Sequence of the last message appended in this epoch, and the last one the consumer applied. */
  seq: number;
  appliedSeq: number;
  /** Lengths of the messages that the consumer has not applied yet, in characters, oldest first; those it has are dropped now and then. */
  ahead: { seq: number; characters: number }[];
  /** Sequence of the last word on the mempool in this epoch. */
  mempoolSeq: number;
  /** Stream id of the last message appended in this epoch. */
  lastEntryId: string | undefined;
  /** Why Redis did not confirm the message that is being sent; undefined while it confirms them. */
  unsent: string | undefined;
  /** When the last published block was known to be the chain's head. */
  caughtUpAtMs: number | undefined;
  /** What time it was for the service when the database last said so, Unix milliseconds, and when that was heard; undefined before the first pulse. */
  serviceTime: { atMs: number; heardAtMs: number } | undefined;
  /** Until when this process may believe it holds the lease. */
  leaseUntilMs: number;
  /**
   * Notes what is about to be read, in the words that stand in the lease, with the next beat of the pulse where one is soon due; false, having done nothing, where none is. Absent
   * while no pulse beats.
   */
  noteWithPulse?: ((note: string) => Promise<boolean>) | undefined;
  /** Rung when there may be something to read or acknowledge. */
  scanWake: Wake;
  /** Rung when the database may have news for the indexer. */
  pulseWake: Wake;
  /** Rung when the consumer moved on. */
  appliedWake: Wake;
  /** Whether blocks are to be read again, as far as the database was asked. */
  rescanOpen: boolean;
  /** Rung when they are. */
  rescanWake: Wake;
}

/** A child of the chain machine: works until `signal` aborts, and tells the machine what happened. */
export type Child = (deps: IndexerDeps, life: Life, tell: (event: ChainEvent) => void, signal: AbortSignal) => Promise<void>;
