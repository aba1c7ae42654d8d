import type { Problem } from '../model.ts';
import type { CommandAnswer } from './wire.ts';

/** What choosing an offer needs of the page around it. */
export interface SelectingEffects {
  /** POSTs the select (decisions 9); it may take 5 s. */
  send(offerId: string): Promise<CommandAnswer>;
  /** Has the page's snapshot read anew. */
  refresh(): Promise<void>;
  after(ms: number, run: () => void): () => void;
  /** False once the payer chose something else in another tab: two pages must not fight. */
  isWanted(offerId: string): boolean;
}

/** What the page hears of it. */
export interface SelectingEvents {
  /** What the payer should know; null when it is over. It goes on trying by itself after `busy`. */
  problem(problem: Problem | null): void;
  /** Nothing is under way any more: it failed, or the snapshot tells the rest. */
  ended(isFailed: boolean): void;
}

/** Calls again no sooner than this, milliseconds. */
const SHORTEST_WAIT_MS = 500;
/** After an answer whose snapshot did not arrive, milliseconds. */
const UNHEARD_WAIT_MS = 2_000;
/** After a 429 that does not say for how long, milliseconds. */
const BUSY_WAIT_MS = 10_000;
/** Pauses between tries that no server answered, milliseconds; then the payer is told. */
const RETRIES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * Chooses an offer: asks until the address is there, since calling again is the designed recovery (contract 4.2), waits out a
 * 429, and tells what it cannot mend. Returns what stops it.
 */
export function selectOffer(effects: SelectingEffects, events: SelectingEvents, offerId: string): () => void {
  let isStopped = false;
  let cancelWait = (): void => {};
  let misses = 0;

  const end = (problem: Problem | null): void => {
    if (isStopped) return;
    isStopped = true;
    events.problem(problem);
    events.ended(problem !== null);
  };

  const tryAgain = (ms: number): void => {
    cancelWait = effects.after(Math.max(ms, SHORTEST_WAIT_MS), () => {
      if (effects.isWanted(offerId)) void attempt();
      else end(null);
    });
  };

  const missed = (kind: 'choose-failed' | 'unavailable', waitMs: number | null): void => {
    const pause = RETRIES_MS[misses];
    misses += 1;
    if (pause === undefined) end({ kind });
    else tryAgain(Math.max(pause, waitMs ?? 0));
  };

  async function attempt(): Promise<void> {
    const answer = await effects.send(offerId);
    if (isStopped) return;
    if (answer.kind === 'failed') return missed('choose-failed', null);
    if (answer.kind === 'later' && answer.reason === 'unavailable') return missed('unavailable', answer.waitMs);
    if (answer.kind === 'later') {
      const waitMs = answer.waitMs ?? BUSY_WAIT_MS;
      events.problem({ kind: 'busy', retryAfterSeconds: Math.ceil(waitMs / 1_000) });
      return tryAgain(waitMs);
    }
    events.problem(null);
    misses = 0;
    // What the server decided is on the page before anything else is said about it.
    await effects.refresh();
    if (isStopped) return;
    if (answer.kind === 'refused') end({ kind: 'choose-failed' });
    // Also when it is done: who hears nothing of the address yet did not get the snapshot that has it.
    else tryAgain(answer.kind === 'working' ? answer.waitMs : UNHEARD_WAIT_MS);
  }

  events.problem(null);
  void attempt();
  return () => {
    isStopped = true;
    cancelWait();
  };
}
