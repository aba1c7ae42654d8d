import { closeMonths } from '#api/billing/close-months.ts';
import type { Sweep } from './registry.ts';

/** Closes the months that are over into invoices, within a minute of 00:00 UTC on the first. */
export const closeMonthsSweep: Sweep = { name: 'close-months', everySeconds: 60, run: closeMonths };
