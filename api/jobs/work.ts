import type { Deps } from '#api/deps.ts';
import type { OutboxLease, Topic } from '#api/store/outbox.ts';
import type { ApiMetrics } from '#shared/platform/metrics.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/**
 * What a run says about its row: finished for good, or to be run again at a service time. Throwing means "failed": it is
 * retried with a growing pause and declared dead after many failures in a row.
 */
export type JobResult = { done: true } | { again: Date } | EndedResult;

/** The same of a run that has written it itself, in the transaction of its effect: null is finished for good. */
export interface EndedResult {
  ended: true;
  again: Date | null;
}

/** What a run begins with. */
export interface Begun<Read> {
  lease: OutboxLease;
  /** What was read behind the claim; undefined where that was not, so that the run reads it itself. */
  read: Read | undefined;
}

/**
 * Work on one row, started from an outbox row of its topic. It may run twice and may be killed anywhere: everything it
 * knows it reads from the row named by `refId`.
 */
export interface Job<Read = unknown> {
  topic: Topic;
  /** How many may run at once in one process. */
  concurrency: number;
  /** How many of these at once a process begins itself as soon as it has committed them, instead of by way of Redis; none when absent. */
  begunAtOnce?: number;
  /** Reads what its runs begin with, of rows of the outbox that are claimed in the same moment, by their ids. Sent right behind the claim, it sees all that is committed by then. */
  read?(sql: Reads, outboxIds: readonly string[]): Promise<ReadonlyMap<string, Read>>;
  run(deps: Deps, refId: string, begun: Begun<Read>): Promise<JobResult>;
}

/** Work that is looked for (deadlines passed, credits matured), about every `everySeconds`, by one replica at a time. */
export interface Periodic {
  everySeconds: number;
  /** Whether a process of this configuration does it at all; one that does not keeps it from no other. */
  isOurs?(deps: Deps): boolean;
  /**
   * Asks whether there may be anything to do; without it, or where nobody can answer, the work runs. Such questions of all work that is due together are
   * one statement (decision 0096). What it answers is a condition, which takes no lock.
   */
  look?(sql: Reads, deps: Deps): ReturnType<Reads>;
  /**
   * What is written each time it is asked for, as a part of the same statement by a name that `look` may ask about: what most of the time is all there is to do. It waits for no lock.
   */
  along?: { name: string; write(sql: Reads): ReturnType<Reads> };
  /** How long it is not asked again after it had nothing to do, where that is longer. */
  idleSeconds?: number;
  /** How often it runs whatever the answer was. */
  anywaySeconds?: number;
  /**
   * The largest part of the time that its runs may take, above 0 and below 1: after each it rests for as long as that makes. For work that takes longer the longer a
   * deployment has been used, so that those who made it long do not keep the database busy for all.
   */
  mostOfTime?: number;
  /** Whether it runs with the connections of the process, because others wait for it: those that periodic work shares may all be busy with what reads whole tables. */
  prompt?: true;
  /**
   * Gauges that its runs alone set, but for times of which alerts take the latest: once another replica does the work, this one shows what it saw last no more. What was
   * wrong then would keep waking people for as long as the process lives, and what was well would keep them asleep.
   */
  figures?: readonly Figure[];
  /** Returns how many rows it moved. */
  run(deps: Deps): Promise<number>;
}

type Figure = { [Name in keyof ApiMetrics]: ApiMetrics[Name] extends { reset(): void } ? Name : never }[keyof ApiMetrics];

/** Everything a worker runs by itself; periodic work by its name. */
export interface Work {
  jobs: readonly Job[];
  periodic: Readonly<Record<string, Periodic>>;
}
