import { setTimeout as pause } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from '#shared/platform/logger.ts';
import { openPlaces } from './places.ts';

/** Hands outbox ids to whichever worker process is free; a wake-up only, never the truth (architecture 2). */
export interface JobQueue {
  /** Takes rows. @throws when Redis cannot take them; the caller then runs them itself */
  push(topic: string, rows: readonly QueuedRow[]): Promise<void>;
  /** Waits for what this process is running, then disconnects. */
  close(): Promise<void>;
}

/** A row of the outbox, and how often it was begun before. */
export interface QueuedRow {
  id: string;
  claims: number;
}

export interface QueueOptions {
  redisUrl: string;
  /** Keeps deployments that share one Redis apart. */
  prefix: string;
  /** With how many rows of each may run at once in this process. */
  topics: readonly { topic: string; concurrency: number }[];
  /** Runs one row; never rejects. */
  run(topic: string, outboxId: string): Promise<void>;
  log: Logger;
}

const PUSH_TIMEOUT_MS = 2_000;
/** How long a goodbye to Redis may take; one that is away never answers it. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Longest pause between two attempts to reach Redis again. */
const RECONNECT_MS = 1_000;
/** Rows of one job, at most: what Redis does for a job costs as much as a webhook itself. */
const MOST_ROWS = 16;
/** How long a worker waits for as many places as a job may need, once one is free. It waits for none of those whose runs have gone on for longer. */
const FILLING_MS = 50;
/** How long it lets the few rows of a job that is not full go ahead: so short that one which hangs does not slow down the others. */
const AHEAD_MS = 10;

/** A quarter of the places of one process, so that several share even few rows. */
function rowsOfJob(concurrency: number): number {
  return Math.max(1, Math.min(MOST_ROWS, Math.floor(concurrency / 4)));
}

/**
 * Opens one BullMQ queue per topic, so that slow webhooks never hold up a payout, and starts this process's workers on them. A job hands over several rows: it is done once
 * they were begun here, as far as there is room. Those without go back to where any worker finds them first.
 */
export function openQueue(options: QueueOptions): JobQueue {
  const { prefix, log } = options;
  const quiet = { log: (error: Error) => log.debug({ err: error }, 'job queue: redis') };
  let closing = false;
  const retryStrategy = (times: number): number | null => (closing ? null : Math.min(times * 50, RECONNECT_MS));
  const producer = new Redis(options.redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: PUSH_TIMEOUT_MS,
    retryStrategy,
    connectionName: 'sluice-jobs',
  });
  const consumer = new Redis(options.redisUrl, { maxRetriesPerRequest: null, retryStrategy, connectionName: 'sluice-workers' });
  producer.on('error', quiet.log);
  consumer.on('error', quiet.log);

  const queues = new Map<string, Queue>();
  /** One whose connection was not there when it was opened fails for ever: it is opened for the first rows that Redis can take, and again where that failed. */
  const queueOf = async (topic: string): Promise<Queue> => {
    const queue = queues.get(topic) ?? new Queue(topic, { connection: producer, prefix, skipWaitingForReady: true, skipMetasUpdate: true });
    if (!queues.has(topic)) queue.on('error', quiet.log);
    queues.set(topic, queue);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      queues.delete(topic);
      queue.close().catch(quiet.log);
      throw error;
    }
  };
  const put = async (topic: string, jobs: readonly (readonly QueuedRow[])[], lifo: boolean): Promise<void> => {
    if (producer.status !== 'ready') throw new Error(`redis is ${producer.status}`);
    // The same rows wait in Redis once. Those of which the first was begun are another job: that of a worker which died stays in Redis for up to a minute, and no other of its name is taken.
    const nameOf = ([first, ...others]: readonly QueuedRow[]): string => `outbox-${first?.id}-${first?.claims}-${others.length}`;
    const given = jobs.map((rows) => ({ name: topic, data: { rows }, opts: { jobId: nameOf(rows), lifo } }));
    await withinMilliseconds(
      PUSH_TIMEOUT_MS,
      queueOf(topic).then((queue) => queue.addBulk(given)),
    );
  };

  const opened = options.topics.map(({ topic, concurrency }) => {
    const places = openPlaces(concurrency);
    const most = rowsOfJob(concurrency);
    // What arrives while closing is left alone: its rows stay due and another worker, or the next start, takes them.
    const begin = async (rows: readonly QueuedRow[]): Promise<void> => {
      if (closing) return;
      const room = places.free();
      const runs = rows.slice(0, room).map(({ id }) => places.run(() => options.run(topic, id)));
      const rest = rows.slice(room);
      // Rows that Redis does not take back are handed over again.
      if (rest.length > 0) await put(topic, [rest], true).catch(quiet.log);
      // Hardly anything waits behind a job that is not full: to end it now would only be in the way of what it began.
      if (rows.length < most) await Promise.race([Promise.all(runs), pause(AHEAD_MS)]);
      await places.untilFree(most, FILLING_MS);
    };
    const worker = new Worker<{ rows: QueuedRow[] }>(topic, ({ data }) => begin(data.rows), {
      connection: consumer,
      prefix,
      concurrency: 1,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', quiet.log);
    return { topic, most, places, worker };
  });

  return {
    push: async (topic, rows) => {
      const most = opened.find((one) => one.topic === topic)?.most ?? 1;
      await put(topic, inParts(rows, most), false);
    },
    close: async () => {
      closing = true;
      // At once, or they would go on taking, and leaving alone, all that waits in Redis for as long as one of their own does not end.
      const workersClosed = Promise.allSettled(opened.map(({ worker }) => worker.close()));
      await Promise.all(opened.map(({ places }) => places.close()));
      const queuesClosed = Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await withinMilliseconds(CLOSE_TIMEOUT_MS, Promise.all([workersClosed, queuesClosed])).catch(quiet.log);
      producer.disconnect();
      consumer.disconnect();
    },
  };
}

function inParts<T>(all: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));
}

async function withinMilliseconds(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('redis did not answer in time')), milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
