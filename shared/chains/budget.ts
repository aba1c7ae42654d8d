/**
 * How much an endpoint may be asked: a rate learned from its answers, and how long it asked to be left alone. Times are in milliseconds of one
 * clock that never goes back.
 */
export interface Budget {
  /** Calls per second; Infinity for a node whose calls nobody counts. */
  ratePerSecond: number;
  /** Calls that may go now; below zero when later ones were promised already. */
  credit: number;
  /** The time at which `credit` was correct. */
  atMs: number;
  /** Calls answered in a row since the rate last changed. */
  streak: number;
  /** No call is sent before this time. */
  quietUntilMs: number;
}

/** The free plans of most providers allow twenty calls a second. */
const FIRST_RATE = 20;
const LOWEST_RATE = 1;
const HIGHEST_RATE = 2_000;
const GROWTH = 1.05;
const SHRINKAGE = 0.95;

/** The budget of an endpoint that was not asked yet. Our own node is asked as fast as it answers. */
export function freshBudget(nowMs: number, own: boolean): Budget {
  const ratePerSecond = own ? Number.POSITIVE_INFINITY : FIRST_RATE;
  return { ratePerSecond, credit: ratePerSecond, atMs: nowMs, streak: 0, quietUntilMs: 0 };
}

/** Takes calls out of the budget, and returns how long to wait before sending them. A burst of one second is allowed. */
export function spend(budget: Budget, calls: number, nowMs: number): { budget: Budget; waitMs: number } {
  const quietMs = Math.max(0, budget.quietUntilMs - nowMs);
  if (budget.ratePerSecond === Number.POSITIVE_INFINITY) return { budget, waitMs: quietMs };
  const { ratePerSecond } = budget;
  const filled = Math.min(ratePerSecond, budget.credit + (Math.max(0, nowMs - budget.atMs) * ratePerSecond) / 1_000);
  const paceMs = filled > 0 ? 0 : Math.ceil((-filled * 1_000) / ratePerSecond);
  return { budget: { ...budget, credit: filled - calls, atMs: nowMs }, waitMs: Math.max(quietMs, paceMs) };
}

/** After an answer. The rate grows once a second's worth of calls were answered in a row. */
export function afterAnswer(budget: Budget, calls: number): Budget {
  const streak = budget.streak + calls;
  if (budget.ratePerSecond === Number.POSITIVE_INFINITY || streak < budget.ratePerSecond) return { ...budget, streak };
  return { ...budget, streak: 0, ratePerSecond: Math.min(HIGHEST_RATE, budget.ratePerSecond * GROWTH) };
}

/** After a request to ask less. The rate shrinks, and nothing is sent for as long as the endpoint asked. */
export function afterRefusal(budget: Budget, nowMs: number, retryAfterMs: number): Budget {
  const quietUntilMs = Math.max(budget.quietUntilMs, nowMs + retryAfterMs);
  // A node in our own network that asks for less is shared with others after all, so its calls are counted too.
  const rate = budget.ratePerSecond === Number.POSITIVE_INFINITY ? HIGHEST_RATE : budget.ratePerSecond;
  return { ...budget, streak: 0, quietUntilMs, credit: Math.min(budget.credit, 0), ratePerSecond: Math.max(LOWEST_RATE, rate * SHRINKAGE) };
}

/** Whether a URL is in our own network. Nobody counts the calls to a node there. */
export function isOwnNode(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (/^(localhost|127\..+|::1|10\..+|192\.168\..+|169\.254\..+|f[cd][0-9a-f]{2}:.*)$/.test(host)) return true;
  if (/^172\.(1[6-9]|2\d|3[01])\./.test(host)) return true;
  return /^[^.:]+$/.test(host) || /\.(local|internal|localhost|svc)$/.test(host);
}

const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/** Milliseconds that a `Retry-After` header asks for: whole seconds or an HTTP date, at most ten minutes; undefined without one. */
export function readRetryAfter(header: string | null | undefined, wallNowMs: number): number | undefined {
  if (header === null || header === undefined || header.trim() === '') return undefined;
  const text = header.trim();
  const ms = /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) * 1_000 : / GMT$/.test(text) ? Date.parse(text) - wallNowMs : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, Math.ceil(ms)));
}

const FIRST_PAUSE_MS = 125;

/** Pause before the next of several tries: 125 ms, doubled each time. */
export function pauseBeforeTry(tried: number, firstMs = FIRST_PAUSE_MS): number {
  return firstMs * 2 ** Math.max(0, tried - 1);
}
