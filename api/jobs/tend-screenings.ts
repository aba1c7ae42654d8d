import type { Sweep } from './registry.ts';

/** Once a minute: leftovers of screening give their credits back or get their verdict, and gateways without credit are counted. */
export const tendScreeningsSweep: Sweep = { name: 'tend-screenings', everySeconds: 60, run: (deps) => deps.screening.tend() };
