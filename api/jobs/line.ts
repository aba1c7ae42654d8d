/** So long after its turn one may still come back: a little later than it was told, so that not all come at once, and once its row is found and claimed. */
const LATE_MS = 1_000;
/** Of a tenant that has rows coming back, and is before others, one looks at least so often: the first of them within a minute, and up to a quarter of that later. */
const GONE_MS = 75_000;
/** A tenant that has kept lanes for twice as long as another, and so much longer, leaves it the last one. */
const CLEARLY_MORE_MS = 2_000;
/** Longer than one of sixty that share a host of ten seconds has to wait for its next lane, so that each is still known to have had one. */
const HALF_FORGOTTEN_MS = 300_000;

/** Tenants that share lanes of which the last one is kept for whoever has had least of them lately. */
export interface Line {
  /** Tenants of which any come back. */
  comeBack: Map<string, Coming>;
  /** How long each has kept lanes, milliseconds, of which half is forgotten every five minutes. */
  hadMs: Map<string, number>;
  /** When half was forgotten last, milliseconds of the clock. */
  halvedMs: number;
}

interface Coming {
  /** When the last one does, milliseconds of the clock. */
  lastMs: number;
  /** When one was sent away last. */
  lookedMs: number;
}

/** One in which nobody is. */
export const aLine = (): Line => ({ comeBack: new Map(), hadMs: new Map(), halvedMs: 0 });

/** Whether one tenant is before another, which has had clearly more. Of those that have had about as much, as those have whose backlogs are alike, it is whoever looks first: for another the lane would be idle until that comes. */
function isBefore({ hadMs }: Line, tenant: string, other: string): boolean {
  return 2 * (hadMs.get(tenant) ?? 0) + CLEARLY_MORE_MS < (hadMs.get(other) ?? 0);
}

/** Whether no lanes are left for a tenant, or a single one, and another is before it of which any come back. */
export function isKept(left: number, line: Line, tenant: string, now: number, isInLine = (_other: string): boolean => true): boolean {
  if (left !== 1) return left < 1;
  for (const [other, coming] of line.comeBack) if (isExpected(coming, now) && isBefore(line, other, tenant) && isInLine(other)) return true;
  return false;
}

/** What was told to come back may be another process's by now, or nobody's. */
function isExpected({ lastMs, lookedMs }: Coming, now: number): boolean {
  return lastMs + LATE_MS > now && lookedMs + GONE_MS > now;
}

/** In how many turns that of a tenant comes: those of others that come back and that it is not before, and its own. */
export function turnsUntil(line: Line, tenant: string, now: number): number {
  let turns = 1;
  for (const [other, coming] of line.comeBack) {
    if (coming.lastMs + LATE_MS <= now) line.comeBack.delete(other);
    else if (other !== tenant && isExpected(coming, now) && !isBefore(line, tenant, other)) turns += 1;
  }
  return turns;
}

/** One of a tenant was told to come back then. */
export function noteComing({ comeBack }: Line, tenant: string, atMs: number, now: number): void {
  comeBack.set(tenant, { lastMs: Math.max(comeBack.get(tenant)?.lastMs ?? 0, atMs), lookedMs: now });
}

/** Once the last one is here, nothing is kept for it. */
export function noteCame({ comeBack }: Line, tenant: string, now: number): void {
  if ((comeBack.get(tenant)?.lastMs ?? now) <= now) comeBack.delete(tenant);
}

/** A tenant has kept a lane for so long. */
export function noteHad(line: Line, tenant: string, keptMs: number, now: number): void {
  const { hadMs } = line;
  const halvings = Math.floor((now - line.halvedMs) / HALF_FORGOTTEN_MS);
  if (halvings > 0) {
    line.halvedMs = now;
    for (const [name, ms] of hadMs) {
      const leftMs = ms / 2 ** halvings;
      if (leftMs < 1) hadMs.delete(name);
      else hadMs.set(name, leftMs);
    }
  }
  hadMs.set(tenant, (hadMs.get(tenant) ?? 0) + keptMs);
}
