import type { TabMemory } from './memory.ts';

/** Minutes before the deadline at which the page speaks; 0 is the deadline itself. At most four for a payment (ux 3). */
export type TimeNotice = 10 | 5 | 1 | 0;

/** What a notice depends on at a moment at which somebody listens. */
export interface TimeFacts {
  /** Milliseconds until the deadline. */
  left: number;
  /** The page shows them. */
  isShown: boolean;
  /** The deadline passed and nothing was found. */
  isOver: boolean;
}

const NOTICES: readonly TimeNotice[] = [0, 1, 5, 10];
const MINUTE_MS = 60_000;
/** By how much a look may be late for its minute. */
const LATE_MS = 5_000;

/**
 * Gives what looks at the time again and again, and says each notice once in this tab, with the minutes that there are: after a
 * sleep they are fewer than the notice's own.
 */
export function timeNotices(memory: TabMemory, say: (minutes: number) => void): (facts: TimeFacts) => void {
  /** What was left at the last look; null while no time was shown. */
  let before: number | null = null;
  return ({ left, isShown, isOver }) => {
    const notice = before !== null && (isShown || isOver) ? dueNotice(before, left) : null;
    before = isShown ? left : null;
    if (notice === null || memory.has(`said-${notice}`)) return;
    memory.add(`said-${notice}`);
    say(Math.min(notice, Math.max(1, Math.floor((left + LATE_MS) / MINUTE_MS))));
  };
}

/** The notice that is due between two looks: of several that were slept through, the one that is still true. */
function dueNotice(before: number, now: number): TimeNotice | null {
  return NOTICES.find((minutes) => now <= minutes * MINUTE_MS && before > minutes * MINUTE_MS) ?? null;
}
