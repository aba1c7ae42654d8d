import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from '#shared/platform/logger.ts';

/** Hands outbox ids to whichever worker process is free; a wake-up only, never the truth (architecture 2). */
export interface JobQueue {
  /** Takes rows with how often each was begun before. @throws when Redis cannot take them; the caller then runs them itself */
  push(topic: string, rows: readonly { id: string; claims: number }[]): Promise<void>;
  /** Waits for what this process is running, then disconnects. */
  close(): Promise<void>;
}

export interface QueueOptions {
  redisUrl: string;
  /** Keeps deployments that share one Redis apart. */
  prefix: string;
  topics: readonly { topic: string; concurrency: number }[];
  run(topic: string, outboxId: string): Promise<void>;
  log: Logger;
}

const PUSH_TIMEOUT_MS = 2_000;
/** How long a goodbye to Redis may take; one that is away never answers it. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Longest pause between two attempts to reach Redis again. */
const RECONNECT_MS = 1_000;

/** Opens one BullMQ queue per topic, so that slow webhooks never hold up a payout, and starts this process's workers on them. */
export function openQueue(options: QueueOptions): JobQueue {
  const { prefix, log } = options;
  const quiet = { log: (error: Error) => log.debug({ err: error }, 'job queue: redis') };
  const running = new Set<Promise<void>>();
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

  // A job that arrives while closing is left alone: its row stays due and another worker, or the next start, takes it.
  const process = async (topic: string, outboxId: string): Promise<void> => {
    if (closing) return;
    const run = options.run(topic, outboxId).finally(() => running.delete(run));
    running.add(run);
    await run;
  };

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
  const workers: Worker[] = [];
  for (const { topic, concurrency } of options.topics) {
    const worker = new Worker<{ outboxId: string }>(topic, (job) => process(topic, job.data.outboxId), {
      connection: consumer,
      prefix,
      concurrency,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', quiet.log);
    workers.push(worker);
  }

  return {
    push: async (topic, rows) => {
      if (producer.status !== 'ready') throw new Error(`redis is ${producer.status}`);
      // A row that waits in Redis is put there once. One that was begun is another job: that of a worker which died stays in Redis for up to a minute, and no other of its name is taken.
      const jobs = rows.map(({ id, claims }) => ({ name: topic, data: { outboxId: id }, opts: { jobId: `outbox-${id}-${claims}` } }));
      await withinMilliseconds(
        PUSH_TIMEOUT_MS,
        queueOf(topic).then((queue) => queue.addBulk(jobs)),
      );
    },
    close: async () => {
      closing = true;
      await Promise.allSettled([...running]);
      const goodbyes = [...workers.map((worker) => worker.close()), ...[...queues.values()].map((queue) => queue.close())];
      await withinMilliseconds(CLOSE_TIMEOUT_MS, Promise.allSettled(goodbyes)).catch(quiet.log);
      producer.disconnect();
      consumer.disconnect();
    },
  };
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
