/** One thing that was looked at: how it is, what was seen, and what to do about it. */
export interface Finding {
  check: string;
  level: 'ok' | 'warn' | 'fail';
  /** False of what fails alone: a warning works, for now or for whoever chose it. */
  good: boolean;
  seen: string;
  fix: string | null;
}

/** What is well. */
export function good(name: string, seen: string): Finding {
  return { check: name, level: 'ok', good: true, seen, fix: null };
}

/** What works and should not stay as it is. */
export function warn(name: string, seen: string, fix: string): Finding {
  return { check: name, level: 'warn', good: true, seen, fix };
}

/** What is not well, and what to do about it. */
export function bad(name: string, seen: string, fix: string): Finding {
  return { check: name, level: 'fail', good: false, seen, fix };
}

/** Does what tells how a dependency is: well with what it answers, not well with why it failed. */
export async function attempt(name: string, fix: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return good(name, await work());
  } catch (error) {
    const { message, cause } = error as Error;
    return bad(name, cause instanceof Error && cause.message !== '' ? cause.message : message || String((error as { code?: unknown }).code), fix);
  }
}

/** An age for people: 40 s, 12 min, 3 h, 2 days. */
export function age(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
