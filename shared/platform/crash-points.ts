let target: { name: string; hit: number } | undefined;
let hits = 0;

/**
 * Arms one named crash point for this process: at its n-th passing the process kills itself with SIGKILL.
 * `spec` is `name` or `name#n`; tests set it through SLUICE_CRASH_AT. Production configuration refuses it.
 */
export function armCrashPoint(spec: string | undefined): void {
  if (spec === undefined || spec === '') return;
  const [name, hit] = spec.split('#');
  target = { name: name as string, hit: Number(hit ?? 1) };
}

/** Marks a place where a crash must lose nothing; does nothing unless that very point is armed (architecture 5). */
export function crashPoint(name: string): void {
  if (target === undefined || target.name !== name) return;
  hits += 1;
  if (hits === target.hit) process.kill(process.pid, 'SIGKILL');
}
