import type { Deps } from '#api/deps.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import { keepPeriodicLocks } from './periodic-locks.ts';
import type { Periodic } from './work.ts';

/** What is due within this part of its period begins with what is due now. */
const TOGETHER_WITHIN = 0.1;

/** Due at a moment of this process' own clock, milliseconds; `ranMs` is when it last ran. */
type Due = Periodic & { name: string; dueMs: number; ranMs: number };

export interface PeriodicRunner {
  /** Runs all of it once, now, and waits for all; for the development clock. */
  runAll(): Promise<void>;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/**
 * Runs each piece of work about every `everySeconds`, never overlapping itself; a replica skips what another one has the lock of.
 * What is due at about the same time begins together, and is asked for in one statement whether there is anything to do.
 * The locks live on one connection of their own, so that work that waits cannot use up the pool it needs; the work has a
 * small pool with more patience than requests, because some read whole tables.
 */
export function startPeriodic(deps: Deps, work: Readonly<Record<string, Periodic>>): PeriodicRunner {
  const lockConnection = deps.db.apart({ name: 'sluice-periodic', max: 1, lifetimeMs: Number.POSITIVE_INFINITY });
  const patient = deps.db.apart({ name: 'sluice-periodic', max: 6, deadlines: 'long' });
  const unhurried: Deps = { ...deps, db: patient };
  const locks = keepPeriodicLocks(lockConnection, Object.keys(work), deps.log);
  const all = Object.entries(work).map(([name, one]): Due => ({ ...one, name, dueMs: 0, ranMs: Number.NEGATIVE_INFINITY }));
  const running = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;

  /** Begins all of them that do not run yet; answers when all of it is done. */
  const run = async (some: readonly Due[]): Promise<void> => {
    const begun = some.filter(({ name }) => !running.has(name));
    const chosen = choose(begun);
    for (const one of begun) {
      const { name } = one;
      const worked = chosen.then((names) => (names.has(name) ? runOne(unhurried, one) : undefined)).finally(() => running.delete(name));
      running.set(name, worked);
    }
    await Promise.all(some.map(({ name }) => running.get(name)));
  };
  /** Which of these this replica may run and has a reason to. */
  const choose = async (begun: readonly Due[]): Promise<ReadonlySet<string>> => {
    const held = await locks.held(begun.map(({ name }) => name));
    // Work of an hour is not to wait for the next one because one statement failed.
    if (held === undefined) for (const one of begun) one.dueMs = 0;
    const ours = begun.filter(({ name }) => held?.has(name));
    const now = performance.now();
    const isTime = ({ ranMs, anywaySeconds }: Due): boolean => anywaySeconds !== undefined && now - ranMs >= anywaySeconds * 1_000;
    const asked = ours.filter((one) => one.look !== undefined && !isTime(one));
    const idle = await findIdle(unhurried, asked);
    for (const one of asked) if (idle.has(one.name)) one.dueMs = Math.max(one.dueMs, now + (one.idleSeconds ?? 0) * 1_000);
    return new Set(ours.map(({ name }) => name).filter((name) => !idle.has(name)));
  };
  const beat = (): void => {
    if (stopping || all.length === 0) return;
    const now = performance.now();
    const due = all.filter((one) => one.dueMs <= now + one.everySeconds * TOGETHER_WITHIN * 1_000);
    for (const one of due) one.dueMs = now + one.everySeconds * 1_000;
    void run(due);
    // Replicas that started together must not ask at the same moments for ever.
    const next = Math.min(...all.map(({ dueMs }) => dueMs)) - now;
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
      await Promise.all([lockConnection.end(), patient.end()]);
    },
  };
}

/** Those with nothing to do, by their own questions in one statement; none where that cannot be asked, since each then says itself what is wrong. */
async function findIdle(deps: Deps, asked: readonly Due[]): Promise<ReadonlySet<string>> {
  const { sql } = deps.db;
  const [first, ...rest] = asked.map(({ look }) => look?.(sql, deps) ?? sql`true`);
  if (first === undefined) return new Set();
  try {
    const [{ busy }] = await sql<[{ busy: boolean[] }]>`select array[${rest.reduce((all, one) => sql`${all}, ${one}`, first)}]::boolean[] as busy`;
    return new Set(asked.filter((_, at) => busy[at] !== true).map(({ name }) => name));
  } catch (error) {
    deps.log.warn(toldOf(error), 'what periodic work there is cannot be asked for');
    return new Set();
  }
}

async function runOne(deps: Deps, one: Due): Promise<void> {
  one.ranMs = performance.now();
  try {
    const moved = await one.run(deps);
    if (moved > 0) deps.log.info({ work: one.name, moved }, 'periodic work moved rows');
  } catch (error) {
    deps.log.warn({ ...toldOf(error), work: one.name }, 'periodic work failed');
  }
}
