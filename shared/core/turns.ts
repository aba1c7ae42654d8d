/** Lets whatever else waits have its turn, when it has been long enough since the last one. */
export type Breathe = () => Promise<void>;

/** Milliseconds of work in one go: what else the process serves (leases, health, requests) waits no longer for it. */
const LONGEST_MS = 15;

/** Makes a breath of a clock (milliseconds) and of what gives everybody else a turn. */
export function createBreath(now: () => number, turn: () => Promise<unknown>): Breathe {
  let since = now();
  return async () => {
    if (now() - since < LONGEST_MS) return;
    await turn();
    since = now();
  };
}

/** Long work that says where it could be interrupted. */
export type Steps<T> = Generator<undefined, T>;

/** Does it without interruption. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Does it with a breath at every place where it could be interrupted. */
export async function inTurns<T>(work: Steps<T>, breathe: Breathe): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await breathe();
  }
}
