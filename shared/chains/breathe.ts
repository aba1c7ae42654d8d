import { setImmediate as turn } from 'node:timers/promises';
import { createBreath } from '#shared/core/turns.ts';

/** Gives the event loop a turn now and then: to be called between the transactions of a block, whose number and size others decide (decision 0030). */
export const breathe = createBreath(() => performance.now(), turn);
