import { randomUUID } from 'node:crypto';
import type { ChainEvent } from '#state-machines/chain/machine.ts';
import { acquireLease, type Pulse, takePulse } from '#indexer/lease.ts';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { scanChain } from '#indexer/scan.ts';
import { createTrail } from '#indexer/trail.ts';
import { loadWatches, readTip, readTrail } from '#indexer/truth.ts';
import { createWake } from '#indexer/wake.ts';
import { createWatchlist } from '#indexer/watchlist.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { openReader } from '#shared/chains/readers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';
import type { Database } from '#shared/platform/postgres.ts';
import type { Streams } from '#shared/platform/redis-streams.ts';

/** The real scan of an indexer, one look at the chain at a time, its stream a list of texts. */
export interface Scanner {
  /** Reads what there is to read now; answers the messages it published, oldest first. */
  look(): Promise<string[]>;
  /** Begins a new life under the next epoch, from the consumer's tip, as an indexer does that starts or rewinds. */
  join(): Promise<void>;
  isAskedToRewind(): Promise<boolean>;
  hasUnacknowledged(): Promise<boolean>;
  /** Why the last look ended early, if the node was the reason. */
  problem(): string | undefined;
}

/** Between two looks passes enough time for an acknowledgement that was lost to be said again. */
const BETWEEN_LOOKS_MS = 10_000;

/** An indexer without a process: its clock moves only between looks, and it never waits. */
export async function aScanner(given: {
  db: Pick<Database, 'sql' | 'snapshot'>;
  network: NetworkConfig;
  networkId: string;
  reader: ReturnType<typeof openReader>;
}): Promise<Scanner> {
  const { network, networkId, reader } = given;
  const { sql, snapshot } = given.db;
  const holder = randomUUID();
  const watchlist = createWatchlist();
  await loadWatches(snapshot, networkId, watchlist.addAll);
  let nowMs = 0;
  let published: string[] = [];
  let problem: string | undefined;
  const stream: Pick<Streams, 'append'> = {
    append: async (_name, payload) => {
      published.push(payload);
      return String(published.length);
    },
  };
  const deps: IndexerDeps = {
    sql,
    snapshot,
    streams: stream as Streams,
    log: createLogger({ component: 'test', level: process.env.SLUICE_TEST_LOGS ? 'debug' : 'silent' }),
    metrics: createIndexerMetrics('test'),
    holder,
    openReader: () => reader,
    monotonicMs: () => nowMs,
  };
  const begin = async (): Promise<Life> => {
    const epoch = await acquireLease(sql, networkId, holder);
    if (epoch === undefined) throw new Error('somebody else holds the lease');
    const tip = await readTip(sql, networkId);
    return {
      network,
      left: { following: null, rescanning: null },
      networkId,
      epoch,
      reader,
      watchlist,
      trail: createTrail(tip, await readTrail(sql, networkId)),
      finalHeight: tip?.finalHeight ?? -1,
      forkedBelowFinal: false,
      head: undefined,
      announced: undefined,
      foreseenHeight: undefined,
      seq: 0,
      mempoolSeq: 0,
      appliedSeq: 0,
      ahead: [],
      lastEntryId: undefined,
      unsent: undefined,
      caughtUpAtMs: undefined,
      serviceTime: undefined,
      leaseUntilMs: Number.POSITIVE_INFINITY,
      scanWake: createWake(),
      pulseWake: createWake(),
      appliedWake: createWake(),
      rescanOpen: false,
      rescanWake: createWake(),
    };
  };
  let life = await begin();
  let publishedHeight: number | null = null;
  const pulse = (): Promise<Pulse> => takePulse(sql, { networkId, holder, epoch: life.epoch }, { publishedHeight, caughtUpSecondsAgo: null });
  const tell = (event: ChainEvent): void => {
    if (event.type === 'FAILED') problem = event.reason;
  };
  return {
    async look() {
      published = [];
      problem = undefined;
      nowMs += BETWEEN_LOOKS_MS;
      watchlist.expect((await pulse()).unacked);
      try {
        life.head = { ...(await reader.head()), askedAtMs: nowMs, changedAtMs: nowMs };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        problem = error.message;
        return [];
      }
      // A scan that would wait, because there is nothing to read or the node failed it, has had its look.
      const done = new AbortController();
      life.scanWake = {
        ring: () => undefined,
        wait: async () => {
          done.abort();
          return false;
        },
      };
      await scanChain(deps, life, tell, done.signal);
      // The consumer of this test is never behind.
      life.appliedSeq = life.seq;
      publishedHeight = life.trail.joined() ? (life.trail.last()?.height ?? null) : null;
      await pulse();
      return published;
    },
    async join() {
      life = await begin();
      publishedHeight = null;
    },
    isAskedToRewind: async () => (await pulse()).rewind !== null,
    hasUnacknowledged: async () => (await pulse()).unacked.length > 0,
    problem: () => problem,
  };
}
