import type { Deps } from '#api/deps.ts';
import { type DueWork, handOver, handOverDue } from '#api/store/outbox.ts';
import { createBell } from '#shared/platform/bell.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { JobQueue } from './queue.ts';
import type { Job } from './work.ts';
import { runJob, runTelling } from './run-job.ts';

/** How often it is looked while no wake-up can arrive, or while rows run here that leave no room for others. */
const POLL_MILLISECONDS = 500;
/** Rows that become due one after the other are handed over together. */
const SHORTEST_PAUSE_MILLISECONDS = 250;
/** The longest that a row waits whose wake-up was lost: its process was killed between commit and wake-up, or a clock was moved. */
const SAFETY_MILLISECONDS = 10_000;
/** Full jobs of the queue. */
const BATCH = 96;
/** A worker that has not started a row by then never got it (Redis was wiped): it is handed over again. So long for each batch before it, since what waits behind others is not missed. */
const HAND_OVER_SECONDS = 5;
const LONGEST_HAND_OVER_SECONDS = 300;

export interface Relay {
  /** Looks at once instead of when the next row is due. */
  wake(): void;
  /**
   * Runs here and at once what this process has just committed, as far as its jobs want that and there is room; answers whether that was all. Whoever else comes to such a row finds its lease. What fails
   * before it has one is found by the next look.
   */
  begin(work: readonly DueWork[]): boolean;
  /** Looks within half a second: a row of this process is to be run again, maybe at once, maybe again and again. */
  lookSoon(): void;
  /** Stops looking, starts no more rows, and waits for those it is running itself. */
  stop(): Promise<void>;
}

/**
 * Finds due outbox rows of all jobs in one statement and hands their ids to the queue; while Redis is down it runs them itself, with the
 * same concurrency. It looks when it is woken, when the next row is due by what it saw last, twice a second while it is `deaf` to
 * wake-ups, and every ten seconds whatever it was told. Postgres decides what is due, so nothing depends on Redis having kept anything (architecture 2).
 */
export function startRelay(deps: Deps, jobs: readonly Job[], queue: JobQueue, deaf: () => boolean): Relay {
  let stopping = false;
  const bell = createBell(POLL_MILLISECONDS, deaf);
  // `batches` counts those that Redis took one right after the other.
  const own = jobs.map((job) => ({ job, pool: openPool(deps, job, bell.ringSoon), batches: 0 }));

  /** Puts rows of one job into the queue, or runs them here; answers whether the queue took them. */
  const give = async ({ job: { topic }, pool }: (typeof own)[number], rows: readonly { id: string; claims: number }[]): Promise<boolean> => {
    try {
      await queue.push(topic, rows);
      return true;
    } catch (error) {
      if (stopping) return false;
      deps.log.debug({ err: error, topic }, 'running jobs without redis');
      pool.add(rows.map(({ id }) => id));
      return false;
    }
  };

  /** Hands over what is due; answers after how many milliseconds there may be more. */
  const pass = async (): Promise<number> => {
    const asked = own.map((of) => ({
      of,
      topic: of.job.topic,
      room: Math.max(0, BATCH - of.pool.size()),
      seconds: Math.min(HAND_OVER_SECONDS * (of.batches + 1), LONGEST_HAND_OVER_SECONDS),
    }));
    const askedMs = performance.now();
    const { rows, nextInMs, atMs } = await handOver(deps.db.sql, asked);
    if (atMs !== null) deps.hearClock?.(atMs, askedMs);
    let next = Math.max(nextInMs ?? SAFETY_MILLISECONDS, SHORTEST_PAUSE_MILLISECONDS);
    // Side by side, so that a Redis that does not answer is waited for once.
    await Promise.all(
      asked.map(async ({ of, topic, room }) => {
        const due = rows.filter((row) => row.topic === topic);
        if (room === 0) next = Math.min(next, POLL_MILLISECONDS);
        else if (due.length === room) next = 0;
        const taken = due.length > 0 && (await give(of, due));
        of.batches = taken && due.length === room ? of.batches + 1 : 0;
      }),
    );
    return next;
  };

  const loop = async (): Promise<void> => {
    let failing = false;
    while (!stopping) {
      let next = POLL_MILLISECONDS;
      try {
        next = await pass();
        failing = false;
      } catch (error) {
        if (!failing) deps.log.warn(toldOf(error), 'relay pass failed; trying again');
        failing = true;
      }
      if (!stopping) await bell.rest(Math.min(next, SAFETY_MILLISECONDS));
    }
  };
  const running = loop();

  return {
    wake: bell.ring,
    begin: (work) =>
      !stopping && work.length > 0 && work.map(({ id, topic }) => own.find(({ job }) => job.topic === topic)?.pool.begin(id) === true).every(Boolean),
    lookSoon: bell.ringSoon,
    stop: async () => {
      stopping = true;
      bell.ring();
      await running;
      await Promise.all(own.map(({ pool }) => pool.stop()));
    },
  };
}

interface Pool {
  /** Rows that wait or run here. */
  size(): number;
  /** Runs these rows as soon as there is room; one that is here already is not added again. */
  add(outboxIds: readonly string[]): void;
  /** Runs this row now, if its job wants that and no others are in its way. */
  begin(outboxId: string): boolean;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/**
 * Runs rows in this process, at most `job.concurrency` at a time; a slow one delays only those that come after the last free place. `later` is told
 * of each that is to be run again, or may have to be.
 */
function openPool(deps: Deps, job: Job, later: () => void): Pool {
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const fill = (): void => {
    for (const id of waiting) {
      if (running.size >= job.concurrency) return;
      waiting.delete(id);
      const run = runTelling(deps, job, id, later).finally(() => {
        running.delete(id);
        fill();
      });
      running.set(id, run);
    }
  };
  const add = (outboxIds: readonly string[]): void => {
    for (const id of outboxIds) if (!running.has(id)) waiting.add(id);
    fill();
  };
  return {
    size: () => waiting.size + running.size,
    add,
    begin: (outboxId) => {
      const hasRoom = waiting.size === 0 && running.size < (job.begunAtOnce ?? 0);
      if (hasRoom) add([outboxId]);
      return hasRoom;
    },
    stop: async () => {
      waiting.clear();
      await Promise.all(running.values());
    },
  };
}

/**
 * Runs every due row of the given jobs here and now, and those that become due by it, for as long as any gets done; for the
 * development clock and for tests. One that only asks to be looked at again, at once, does not keep it.
 * @returns how many times a row ran
 */
export async function runDueJobs(deps: Deps, jobs: readonly Job[]): Promise<number> {
  const tried = new Set<string>();
  let total = 0;
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const job of jobs) {
      for (const id of await handOverDue(deps.db.sql, job.topic, BATCH, 0)) {
        const outcome = await runJob(deps, job, id);
        if (outcome === 'not-run') continue;
        total += 1;
        if (outcome === 'done' || !tried.has(id)) goesOn = true;
        tried.add(id);
      }
    }
  }
  return total;
}
