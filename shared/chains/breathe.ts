import { setImmediate as turn } from 'node:timers/promises';
import { createBreath } from '#shared/core/turns.ts';

/**
 * Lets the event loop take a turn from time to time. Call it between the transactions of a block, because other people decide their number and size
 * (decision 0030).
 */
export const breathe = createBreath(() => performance.now(), turn);
