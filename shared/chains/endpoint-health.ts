import type { Trouble } from './chain.ts';

/** The state of one endpoint. Times are in milliseconds of one clock that never goes back. */
export interface Health {
  /** Failed questions in a row; a mere refusal does not count. */
  failures: number;
  /** Before this time it is asked only when no other endpoint is left. */
  openUntilMs: number;
  /** Before this time it is not asked at all, because it said so. */
  quietUntilMs: number;
  lastTrouble: Trouble | null;
  /** Why it counts as serving another chain; null when it does not. It is then asked for nothing but which chain it serves. */
  foreign: string | null;
  /** The last head that it reported, and when. */
  head: { height: number; atMs: number } | null;
  /** Whether its head is on another branch than the followed one. */
  astray: boolean;
  latencyMs: number | null;
}

/** How useful an endpoint is now. */
export type Standing = 'well' | 'lagging' | 'failing' | 'quiet' | 'foreign';

/** The figures for comparing the endpoints of one network. */
export interface Pace {
  blockSeconds: number;
  /** An endpoint up to this many blocks behind the best head does not count as lagging. */
  lagBlocks: number;
}

const FAILURES_UNTIL_OPEN = 3;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 60_000;
/** A head that was reported longer ago says nothing about other endpoints. */
const HEAD_COUNTS_MS = 60_000;
/** A lag of ten seconds' worth of blocks is allowed, and never fewer than three blocks. */
const LAG_SECONDS = 10;
const FEWEST_LAG_BLOCKS = 3;
const SMOOTHING = 0.2;

/** An endpoint that was not asked yet. */
export const UNTRIED: Health = {
  failures: 0,
  openUntilMs: 0,
  quietUntilMs: 0,
  lastTrouble: null,
  foreign: null,
  head: null,
  astray: false,
  latencyMs: null,
};

/** How far apart the heads of one network may be. */
export function paceOf(blockSeconds: number): Pace {
  return { blockSeconds, lagBlocks: Math.max(FEWEST_LAG_BLOCKS, Math.ceil(LAG_SECONDS / blockSeconds)) };
}

/** After a trustworthy answer; `tookMs` is null when the time says nothing about the endpoint. */
export function afterSuccess(health: Health, tookMs: number | null): Health {
  const before = health.latencyMs;
  const latencyMs = tookMs === null || before === null ? (before ?? tookMs) : before + SMOOTHING * (tookMs - before);
  return { ...health, failures: 0, openUntilMs: 0, lastTrouble: null, latencyMs };
}

/** After a failure. Three in a row open the circuit, for a second at first and then longer each time. A time that the endpoint asks for is always kept. */
export function afterFailure(health: Health, trouble: Trouble, nowMs: number, retryAfterMs = 0): Health {
  if (trouble === 'refused') return { ...health, lastTrouble: trouble };
  const failures = health.failures + 1;
  const openMs = failures < FAILURES_UNTIL_OPEN ? 0 : Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** Math.min(10, failures - FAILURES_UNTIL_OPEN));
  return {
    ...health,
    failures,
    lastTrouble: trouble,
    openUntilMs: openMs === 0 ? health.openUntilMs : nowMs + openMs,
    quietUntilMs: Math.max(health.quietUntilMs, nowMs + retryAfterMs),
  };
}

/** Lets one caller try an endpoint whose circuit was open, and keeps others from it for a while. */
export function takeTrial(health: Health, nowMs: number): Health {
  if (health.failures < FAILURES_UNTIL_OPEN || health.openUntilMs > nowMs) return health;
  return { ...health, openUntilMs: nowMs + FIRST_OPEN_MS };
}

/** After an endpoint reported its head; `expectedHash` is the followed chain's block at that height, if known. */
export function afterHead(health: Health, head: { height: number; hash: string }, expectedHash: string | undefined, nowMs: number): Health {
  return { ...health, head: { height: head.height, atMs: nowMs }, astray: expectedHash !== undefined && expectedHash !== head.hash };
}

/** Whether another endpoint proves that this one is behind. Heads reported at different times are compared less the blocks in between. */
export function isLagging(all: readonly Health[], at: number, pace: Pace, nowMs: number): boolean {
  const own = all[at]?.head ?? null;
  if (own === null) return false;
  return all.some(({ head, foreign }, i) => {
    if (i === at || head === null || foreign !== null || nowMs - head.atMs > HEAD_COUNTS_MS) return false;
    const later = Math.max(0, head.atMs - own.atMs) / 1_000 / pace.blockSeconds;
    return head.height - own.height > pace.lagBlocks + later;
  });
}

/** How useful endpoint `at` is now. */
export function standingOf(all: readonly Health[], at: number, pace: Pace, nowMs: number): Standing {
  const health = all[at] ?? UNTRIED;
  if (health.foreign !== null) return 'foreign';
  if (health.quietUntilMs > nowMs) return 'quiet';
  if (health.openUntilMs > nowMs) return 'failing';
  return health.astray || isLagging(all, at, pace, nowMs) ? 'lagging' : 'well';
}

/** The state to show to people. An endpoint that is only due for another try still counts as failing. */
export function reportedStandingOf(all: readonly Health[], at: number, pace: Pace, nowMs: number): Standing {
  const standing = standingOf(all, at, pace, nowMs);
  return standing === 'well' && (all[at]?.failures ?? 0) >= FAILURES_UNTIL_OPEN ? 'failing' : standing;
}

/**
 * The endpoints to ask, in order: those that work, as configured; then those that lag; then those whose circuit is open, because a question must be
 * asked even if none works. Never one that serves another chain, or that asked to be left alone.
 */
export function inOrder(all: readonly Health[], pace: Pace, nowMs: number): number[] {
  const standings = all.map((_, at) => standingOf(all, at, pace, nowMs));
  const having = (wanted: Standing): number[] => [...all.keys()].filter((at) => standings[at] === wanted);
  const failing = having('failing').sort((a, b) => (all[a]?.openUntilMs ?? 0) - (all[b]?.openUntilMs ?? 0));
  return [...having('well'), ...having('lagging'), ...failing];
}
