import { reportFunding } from '#api/treasury/report-funding.ts';
import type { Sweep } from './registry.ts';

/** Tells in time that a funding wallet has to be filled. */
export const reportFundingSweep: Sweep = { name: 'report-funding', everySeconds: 60, run: reportFunding };
