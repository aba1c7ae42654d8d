import { reportOutputs } from '#api/treasury/report-outputs.ts';
import type { Sweep } from './registry.ts';

/** Keeps the gauge up to date that tells how many outputs the pools have. */
export const reportOutputsSweep: Sweep = { name: 'report-outputs', everySeconds: 60, everyReplica: true, run: reportOutputs };
