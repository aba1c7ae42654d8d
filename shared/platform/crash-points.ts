import { writeSync } from 'node:fs';

const STDERR = 2;
/** What a dying process says before the name of its point; it says nothing else after it. */
export const DIED_AT = 'died at crash point ';

/** Passings that are left until the process dies there, by name. */
let armed = new Map<string, number>();

/**
 * Arms crash points for this process: at the n-th passing of any of them the process names it on stderr and kills itself
 * with SIGKILL. `spec` is `name` or `name#n`, or several of them with commas between; tests set it through
 * SLUICE_CRASH_AT. Production configuration refuses it.
 */
export function armCrashPoint(spec: string | undefined): void {
  const points = (spec ?? '').split(',').filter((point) => point !== '');
  armed = new Map(points.map((point) => point.split('#')).map(([name, passings]) => [name as string, Number(passings ?? 1)]));
}

/** Marks a place where a crash must lose nothing; does nothing unless that very point is armed (architecture 5). */
export function crashPoint(name: string): void {
  const left = armed.get(name);
  if (left === undefined) return;
  armed.set(name, left - 1);
  if (left > 1) return;
  writeSync(STDERR, `${DIED_AT}${name}\n`);
  process.kill(process.pid, 'SIGKILL');
}
