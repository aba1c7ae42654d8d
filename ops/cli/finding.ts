/** One dependency: whether it is well, what was seen, and what to do when it is not. */
export interface Finding {
  check: string;
  good: boolean;
  seen: string;
  fix: string | null;
}

/** What is well. */
export function good(name: string, seen: string): Finding {
  return { check: name, good: true, seen, fix: null };
}

/** What is not, and what to do about it. */
export function bad(name: string, seen: string, fix: string): Finding {
  return { check: name, good: false, seen, fix };
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
