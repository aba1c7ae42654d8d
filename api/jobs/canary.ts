import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { payOnce } from '#api/clients/canary-payment.ts';
import type { Deps } from '#api/deps.ts';
import { recordCanary, takeCanary } from '#api/store/processes.ts';

/** Seconds between two payments, whoever takes them. */
const EVERY_SECONDS = 60;
/** How often a worker looks whether it is time, and shows when one last succeeded. */
const LOOK_MILLISECONDS = 15_000;
/** The service that is about to answer it has just been started. */
const FIRST_LOOK_MILLISECONDS = 10_000;

export interface Canary {
  /** Gives up the payment in hand. */
  stop(): Promise<void>;
}

/** Where the canary pays: the base URL of the API, and the file its gateway's key is in, read anew for every payment so that a key can be changed. */
export interface CanaryOptions {
  url: string;
  keyFile: string;
  everySeconds?: number;
  lookMilliseconds?: number;
  firstLookMilliseconds?: number;
}

/**
 * Takes a sandbox payment through the public API every minute, in one worker of all at a time, and shows in each when one last
 * succeeded. Whatever merchants cannot do shows here first, however little they do. Time is the wall clock's.
 */
export function startCanary(deps: Deps, options: CanaryOptions): Canary {
  const stopping = new AbortController();
  const { everySeconds = EVERY_SECONDS, lookMilliseconds = LOOK_MILLISECONDS, firstLookMilliseconds = FIRST_LOOK_MILLISECONDS } = options;
  const rest = (milliseconds: number): Promise<void> => pause(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
  const loop = async (): Promise<void> => {
    await rest(firstLookMilliseconds);
    /** Whoever paid knows how it went, and that nobody pays before the next payment is due. */
    let knownUntilMs = Number.NEGATIVE_INFINITY;
    for (; !stopping.signal.aborted; await rest(lookMilliseconds)) {
      const beganMs = performance.now();
      if (beganMs < knownUntilMs) continue;
      try {
        const look = await takeCanary(deps.db.sql, everySeconds);
        const state = look.taken ? await attempt(deps, options, stopping.signal) : look;
        if (state === undefined) continue;
        deps.metrics?.canaryLastSuccess.set((state.succeededAt?.getTime() ?? 0) / 1_000);
        if (look.taken) knownUntilMs = beganMs + everySeconds * 1_000;
      } catch (error) {
        deps.log.warn({ err: error }, 'the canary cannot ask the database');
      }
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Pays once, and answers when a payment last succeeded; undefined when it was given up. */
async function attempt(deps: Deps, { url, keyFile }: CanaryOptions, signal: AbortSignal): Promise<{ succeededAt: Date | null } | undefined> {
  const startedAt = performance.now();
  let problem: string | null = null;
  try {
    const apiKey = (await readFile(keyFile, 'utf8')).trim();
    await payOnce({ baseUrl: url, apiKey }, signal);
  } catch (error) {
    // Whoever stops it is no failure of what it looks at.
    if (signal.aborted) return undefined;
    problem = (error as Error).message;
    deps.log.error({ problem }, 'the canary payment failed');
  }
  const succeededAt = await recordCanary(deps.db.sql, problem);
  deps.log.debug({ seconds: (performance.now() - startedAt) / 1_000, problem }, 'canary');
  return { succeededAt };
}
