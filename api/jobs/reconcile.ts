import { reconcile } from '#api/audit/reconcile.ts';
import type { Sweep } from './registry.ts';

/** Compares the books with the chains every minute, and freezes dispatch where coins are missing. */
export const reconcileSweep: Sweep = { name: 'reconcile', everySeconds: 60, run: reconcile };
