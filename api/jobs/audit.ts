import { auditAndFreeze } from '#api/audit/audit-and-freeze.ts';
import type { Sweep } from './registry.ts';

/** Audits the books every minute. */
export function auditSweep(): Sweep {
  const failedLastTime = new Set<string>();
  return { name: 'audit', everySeconds: 60, run: (deps) => auditAndFreeze(deps, failedLastTime) };
}
