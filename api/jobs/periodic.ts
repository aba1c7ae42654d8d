import type { Deps } from '#api/deps.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { keepPeriodicLocks, LOCKS_ASKED_EVERY_MS } from './periodic-locks.ts';
import type { Periodic } from './work.ts';

/**
 * What is due within this part of its period begins with what is due now, which is late by up to as much: replicas that started together must not ask at the same moments for
 * ever.
 */
const TOGETHER_WITHIN = 0.1;

/** Failures in a row after which this process leaves work to another one for a while: it may be the one that cannot do it. */
const FAILS_UNTIL_REST = 3;
/** For twice its period, within these bounds: long enough for another process to ask for the lock, and short enough where there is none. */
const RESTS_MS = { least: 2 * LOCKS_ASKED_EVERY_MS, most: 60_000 };

/** Due at a moment of this process' own clock, milliseconds; `ranMs` is when it last ran, `failures` how often it failed since it last did not. */
type Due = Periodic & { name: string; dueMs: number; ranMs: number; failures: number };

export interface PeriodicRunner {
  /** Runs all of it once, now, and waits for all; for the development clock. */
  runAll(): Promise<void>;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/**
 * Runs each piece of work about every `everySeconds`, never overlapping itself; a replica skips what another one has the lock of.
 * What is due at about the same time begins together, and is asked for in one statement whether there is anything to do; what has no such question waits for no answer.
 * The locks live on one connection of their own, and so do the questions, so that work that waits cannot use up the pool it needs; the work has a
 * small pool with more patience than requests, because some read whole tables.
 */
export function startPeriodic(deps: Deps, work: Readonly<Record<string, Periodic>>): PeriodicRunner {
  const lockConnection = deps.db.apart({ name: 'sluice-periodic', max: 1, lifetimeMs: Number.POSITIVE_INFINITY });
  const questions = deps.db.apart({ name: 'sluice-periodic', max: 1 });
  const patient = deps.db.apart({ name: 'sluice-periodic', max: 6, deadlines: 'long' });
  const unhurried: Deps = { ...deps, db: patient };
  const all = Object.entries(work)
    .filter(([, { isOurs }]) => isOurs?.(deps) ?? true)
    .map(([name, one]): Due => ({ ...one, name, dueMs: 0, ranMs: Number.NEGATIVE_INFINITY, failures: 0 }));
  const locks = keepPeriodicLocks(
    lockConnection,
    all.map(({ name }) => name),
    deps.log,
  );
  const running = new Map<string, Promise<void>>();
  const startedMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;

  /** Begins all of them that do not run yet; answers when all of it is done. */
  const run = async (some: readonly Due[]): Promise<void> => {
    const begun = some.filter(({ name }) => !running.has(name));
    const asked = lock(begun).then((ours) => ({ ours, idle: findIdle(ours.filter(isAsked)) }));
    for (const one of begun) {
      const worked = asked.then(async ({ ours, idle }) => {
        if (!ours.includes(one)) return;
        const isIdle = isAsked(one) && (await idle).has(one);
        // The answer may have come after somebody asked for a stop.
        if (stopping) return;
        if (!isIdle) return runOne(one);
        one.dueMs = Math.max(one.dueMs, nextDue(startedMs, one.idleSeconds ?? one.everySeconds));
      });
      running.set(
        one.name,
        worked.finally(() => running.delete(one.name)),
      );
    }
    await Promise.all([asked, ...some.map(({ name }) => running.get(name))]);
  };
  /** Which of these this replica may run. */
  const lock = async (begun: readonly Due[]): Promise<readonly Due[]> => {
    const held = await locks.held();
    // Work of an hour is not to wait for the next one because one statement failed.
    if (held === undefined) for (const one of begun) one.dueMs = 0;
    // Nor is what another replica left in the middle of its hour.
    for (const one of all) if (held?.gained.has(one.name) && !running.has(one.name)) one.dueMs = 0;
    for (const one of all) if (held?.others.has(one.name)) for (const figure of one.figures ?? []) deps.metrics?.[figure].reset();
    return begun.filter(({ name }) => held?.names.has(name));
  };
  /** Those with nothing to do, by their own questions in one statement. Where that cannot be asked each of them says itself what is wrong, but for those that run now and then anyway. */
  const findIdle = async (some: readonly Due[]): Promise<ReadonlySet<Due>> => {
    const { sql } = questions;
    try {
      const busy = await askBusy(sql, deps, some);
      return new Set(some.filter((_, at) => busy[at] === false));
    } catch (error) {
      deps.log.warn(toldOf(error), 'what periodic work there is cannot be asked for');
      return new Set(some.filter(({ anywaySeconds }) => anywaySeconds !== undefined));
    }
  };
  const runOne = async (one: Due): Promise<void> => {
    one.ranMs = performance.now();
    try {
      const moved = await one.run(one.prompt === true ? deps : unhurried);
      one.failures = 0;
      if (moved > 0) deps.log.info({ work: one.name, moved }, 'periodic work moved rows');
    } catch (error) {
      one.failures += 1;
      deps.log.warn({ ...toldOf(error), work: one.name }, 'periodic work failed');
      if (one.failures >= FAILS_UNTIL_REST) await locks.rest(one.name, Math.min(RESTS_MS.most, Math.max(RESTS_MS.least, 2_000 * one.everySeconds)));
    } finally {
      if (one.mostOfTime !== undefined) one.dueMs = Math.max(one.dueMs, one.ranMs + (performance.now() - one.ranMs) / one.mostOfTime);
    }
  };
  const beat = (): void => {
    if (stopping || all.length === 0) return;
    const now = performance.now();
    const due = all.filter((one) => one.dueMs <= now + one.everySeconds * TOGETHER_WITHIN * 1_000);
    for (const one of due) one.dueMs = nextDue(startedMs, one.everySeconds);
    // Also where nothing is due, for the locks.
    void run(due);
    const next = Math.min(LOCKS_ASKED_EVERY_MS, ...all.map(({ dueMs }) => dueMs - now));
    timer = setTimeout(beat, next * (1 + TOGETHER_WITHIN * Math.random()));
  };
  beat();
  return {
    runAll: async () => {
      await Promise.all(running.values());
      for (const one of all) await run([one]);
    },
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      await Promise.all(running.values());
      await Promise.all([lockConnection.end(), questions.end(), patient.end()]);
    },
  };
}

/** Asks of each of these, by one statement that also writes what goes along, whether there may be anything to do. */
export async function askBusy(sql: Reads, deps: Deps, some: readonly Pick<Periodic, 'look' | 'along'>[]): Promise<boolean[]> {
  if (some.length === 0) return [];
  const looks = some.map(({ look }): ReturnType<Reads> => look?.(sql, deps) ?? sql`true`);
  const along = some.flatMap((one) => one.along ?? []).map(({ name, write }): ReturnType<Reads> => sql`${sql(name)} as (${write(sql)})`);
  const question = sql<[{ busy: (boolean | null)[] }]>`select array[${listed(sql, looks)}]::boolean[] as busy`;
  const [{ busy }] = await (along.length === 0 ? question : sql<[{ busy: (boolean | null)[] }]>`with ${listed(sql, along)} ${question}`);
  return busy.map((one) => one === true);
}

/** Parts of a statement, at least one, with commas between them. */
function listed(sql: Reads, [first, ...rest]: readonly ReturnType<Reads>[]): ReturnType<Reads> {
  return rest.reduce((earlier, one) => sql`${earlier}, ${one}`, first ?? sql``);
}

/**
 * When something that was begun now is due again. Every period is counted from the process' start and never from the last run, so that what is late falls due with what is
 * due more often, and is asked about with it.
 */
function nextDue(startedMs: number, everySeconds: number): number {
  const every = everySeconds * 1_000;
  return startedMs + (Math.floor((performance.now() - startedMs) / every + TOGETHER_WITHIN) + 1) * every;
}

/** Whether it is asked first if there is anything to do; not where it is time to run whatever the answer was. */
function isAsked({ look, anywaySeconds, everySeconds, ranMs }: Due): boolean {
  if (look === undefined) return false;
  // The run before may have been as late as this one is not.
  return anywaySeconds === undefined || performance.now() - ranMs < (anywaySeconds - everySeconds * TOGETHER_WITHIN) * 1_000;
}
