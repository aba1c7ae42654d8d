/** True under `npm run test:long`, which runs the full counts of races, simulations and fuzz. */
export const FULL = process.env.SLUICE_TEST_COUNTS === 'full';

/** How often to do what `npm run test:long` does `full` times: a twentieth of it, and never zero. */
export function times(full: number): number {
  return FULL ? full : Math.max(1, Math.ceil(full / 20));
}
