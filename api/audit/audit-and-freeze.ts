import { pricePolicy } from '#api/clients/prices.ts';
import type { Deps } from '#api/deps.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import { listImbalances } from '#api/store/ledger.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { CHECKS } from './checks.ts';
import { runCheck } from './run-audit.ts';

/**
 * Runs the audit and stops all dispatch when it finds something (reliability D24); only an operator lifts the freeze. A check that work
 * in progress can trip for a moment must fail twice in a row: `failedLastTime` is kept from call to call. Answers how many rows violate it.
 */
export async function auditAndFreeze(deps: Deps, failedLastTime: Set<string>): Promise<number> {
  let violations = 0;
  for (const check of CHECKS) {
    const { rows } = await runCheck(deps.db.sql, check, pricePolicy(deps.config));
    const lasting = !check.mayPass || failedLastTime.has(check.name);
    if (rows.length === 0) failedLastTime.delete(check.name);
    else failedLastTime.add(check.name);
    if (rows.length === 0 || !lasting) continue;
    violations += rows.length;
    deps.log.fatal({ check: check.name, title: check.title, rows: rows.slice(0, 10) }, 'the audit found a violation; dispatch is frozen');
    await insertFreeze(deps.db.sql, { scope: 'all', reason: `audit ${check.name}: ${check.title}` });
    crashPoint('audit.freeze-set');
  }
  for (const { symbol, imbalance } of await listImbalances(deps.db.sql)) deps.metrics?.ledgerImbalance.set({ asset: symbol }, Number(imbalance));
  deps.metrics?.ledgerCheckTimestamp.set(deps.wallClock() / 1_000);
  return violations;
}
