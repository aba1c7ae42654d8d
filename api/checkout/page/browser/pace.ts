/** How long tries of a return may take: a dead connection must not eat the 3 s, a slow network must be let finish. */
const TRY_TIMEOUTS_MS = [2_000, 4_000, 8_000];
/** Pauses after the first failures: networks of waking phones come back within seconds, and the page is to be right within 3. */
const QUICK_RETRIES_MS = [250, 500, 1_000, 1_000];
const RETRY_MS = 3_000;
const LONGEST_RETRY_MS = 15_000;
const FIRST_REOPEN_MS = 300;
const LONGEST_REOPEN_MS = 15_000;

/** The time limit in milliseconds of a try after so many failed ones. Pure. */
export function tryTimeoutMs(failures: number): number {
  return TRY_TIMEOUTS_MS[Math.min(failures, TRY_TIMEOUTS_MS.length - 1)] ?? 0;
}

/**
 * The pause in milliseconds after so many failed tries in a row (1 and up): four quick ones, then every 3 s, later rarer.
 * Spread by up to a half, since a server that comes back has all its pages waiting. `random` is 0 ≤ x < 1. Pure.
 */
export function retryDelayMs(failures: number, random: number): number {
  const quick = QUICK_RETRIES_MS[failures - 1];
  if (quick !== undefined) return quick;
  const longer = RETRY_MS * 2 ** Math.max(0, failures - QUICK_RETRIES_MS.length - 4);
  return spread(Math.min(longer, LONGEST_RETRY_MS), random);
}

/** The pause in milliseconds before a socket is opened again, after so many in a row that did not last. Pure. */
export function reopenDelayMs(shortLived: number, random: number): number {
  return spread(Math.min(FIRST_REOPEN_MS * 2 ** shortLived, LONGEST_REOPEN_MS), random);
}

/** Between a half and the whole of `ms`. */
function spread(ms: number, random: number): number {
  return Math.round(ms / 2 + (ms / 2) * random);
}
