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
