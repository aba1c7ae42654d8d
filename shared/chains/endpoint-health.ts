import type { Trouble } from './chain.ts';

/** How one endpoint has been doing. Times are in milliseconds of one clock that never goes back. */
export interface Health {
  /** Failed questions in a row; what it merely refuses to answer does not count. */
  failures: number;
  /** Until then it is asked only when nobody else is left. */
  openUntilMs: number;
  /** Until then it is not asked at all, because it said so. */
  quietUntilMs: number;
  lastTrouble: Trouble | null;
  /** Why it is never asked again; null while it may be. */
  foreign: string | null;
  /** The last head it told, and when. */
  head: { height: number; atMs: number } | null;
  /** True while its head is on another branch than the one being followed. */
  astray: boolean;
  latencyMs: number | null;
}

/** What an endpoint is good for now. */
export type Standing = 'well' | 'lagging' | 'failing' | 'quiet' | 'foreign';

/** What the endpoints of one network are compared by. */
export interface Pace {
  blockSeconds: number;
  /** Blocks behind the best head that are still no lag. */
  lagBlocks: number;
}

const FAILURES_UNTIL_OPEN = 3;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 60_000;
/** A head told longer ago says nothing about others. */
const HEAD_COUNTS_MS = 60_000;
/** Ten seconds of blocks, and never fewer than three. */
const LAG_SECONDS = 10;
const FEWEST_LAG_BLOCKS = 3;
const SMOOTHING = 0.2;

/** An endpoint nobody asked yet. */
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

/** How far apart heads of one network may be. */
export function paceOf(blockSeconds: number): Pace {
  return { blockSeconds, lagBlocks: Math.max(FEWEST_LAG_BLOCKS, Math.ceil(LAG_SECONDS / blockSeconds)) };
}

/** After an answer that could be trusted; `tookMs` is null when its time says nothing about the endpoint. */
export function afterSuccess(health: Health, tookMs: number | null): Health {
  const before = health.latencyMs;
  const latencyMs = tookMs === null || before === null ? (before ?? tookMs) : before + SMOOTHING * (tookMs - before);
  return { ...health, failures: 0, openUntilMs: 0, lastTrouble: null, latencyMs };
}

/** After none: three in a row open the circuit, for a second and then ever longer; being told when to come back is obeyed. */
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

/** Whoever asks an endpoint whose circuit was open is the only one to try it for a while. */
export function takeTrial(health: Health, nowMs: number): Health {
  if (health.failures < FAILURES_UNTIL_OPEN || health.openUntilMs > nowMs) return health;
  return { ...health, openUntilMs: nowMs + FIRST_OPEN_MS };
}

/** After an endpoint told its head; `expectedHash` is the followed chain's block at that height, as far as it is known. */
export function afterHead(health: Health, head: { height: number; hash: string }, expectedHash: string | undefined, nowMs: number): Health {
  return { ...health, head: { height: head.height, atMs: nowMs }, astray: expectedHash !== undefined && expectedHash !== head.hash };
}

/** True when another endpoint proves that this one is behind: heads told at other times are moved by the blocks in between. */
export function isLagging(all: readonly Health[], at: number, pace: Pace, nowMs: number): boolean {
  const own = all[at]?.head ?? null;
  if (own === null) return false;
  return all.some(({ head, foreign }, i) => {
    if (i === at || head === null || foreign !== null || nowMs - head.atMs > HEAD_COUNTS_MS) return false;
    const later = Math.max(0, head.atMs - own.atMs) / 1_000 / pace.blockSeconds;
    return head.height - own.height > pace.lagBlocks + later;
  });
}

/** What endpoint `at` is good for now. */
export function standingOf(all: readonly Health[], at: number, pace: Pace, nowMs: number): Standing {
  const health = all[at] ?? UNTRIED;
  if (health.foreign !== null) return 'foreign';
  if (health.quietUntilMs > nowMs) return 'quiet';
  if (health.openUntilMs > nowMs) return 'failing';
  return health.astray || isLagging(all, at, pace, nowMs) ? 'lagging' : 'well';
}

/** What to tell people about endpoint `at`: one that is merely due another try has not come back yet. */
export function reportedStandingOf(all: readonly Health[], at: number, pace: Pace, nowMs: number): Standing {
  const standing = standingOf(all, at, pace, nowMs);
  return standing === 'well' && (all[at]?.failures ?? 0) >= FAILURES_UNTIL_OPEN ? 'failing' : standing;
}

/**
 * Whom to ask, in this order: those that are well, as configured; then those that lag; then those whose circuit is open,
 * because a question must not stay unasked when nobody is well. Never one that serves another chain, or that asked for quiet.
 */
export function inOrder(all: readonly Health[], pace: Pace, nowMs: number): number[] {
  const standings = all.map((_, at) => standingOf(all, at, pace, nowMs));
  const having = (wanted: Standing): number[] => [...all.keys()].filter((at) => standings[at] === wanted);
  const failing = having('failing').sort((a, b) => (all[a]?.openUntilMs ?? 0) - (all[b]?.openUntilMs ?? 0));
  return [...having('well'), ...having('lagging'), ...failing];
}
