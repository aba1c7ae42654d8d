import { setTimeout as pause } from 'node:timers/promises';
import { auditPolicy } from '#api/audit/check.ts';
import { CHECKS } from '#api/audit/checks.ts';
import type { Holding, UnreadHolding } from '#api/audit/holding.ts';
import { compareHoldings } from '#api/audit/holdings.ts';
import { type AuditResult, runAudit, runCheck } from '#api/audit/run-audit.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { formatAmount } from '#shared/core/money.ts';

/** How long work in progress, or a node between two blocks, is given before what looks like a violation counts as one. */
const SECOND_LOOK_MILLISECONDS = 1_000;

/** GET /audit: runs every check now, the comparison with the chains included; `clean` when none finds a row (reliability 5). */
export async function runAuditNow(deps: Deps): Promise<Reply> {
  // Checks read whole tables: they get the time that takes, and not that of a request.
  const patient = deps.db.apart({ name: 'sluice-audit', max: 2, deadlines: 'patient' });
  try {
    const checks = [...(await lastingResults({ ...deps, db: patient })), await chainResult({ ...deps, db: patient })];
    return { status: 200, data: { clean: checks.every((check) => check.rows.length === 0), checks } };
  } finally {
    await patient.end();
  }
}

/** The SQL checks; one that work in progress can trip for a moment is run a second time before it counts. */
async function lastingResults(deps: Deps): Promise<AuditResult[]> {
  const policy = auditPolicy(deps);
  const results = await runAudit(deps.db.sql, policy);
  const passing = CHECKS.filter((check) => check.mayPass && results.some((result) => result.check === check.name && result.rows.length > 0));
  if (passing.length === 0) return results;
  await pause(SECOND_LOOK_MILLISECONDS);
  const again = new Map<string, AuditResult>();
  for (const check of passing) again.set(check.name, await runCheck(deps.db.sql, check, policy));
  return results.map((result) => again.get(result.check) ?? result);
}

/** A14: what the books say our addresses hold, against what they hold. An asset that cannot be compared is left unchecked, and named. */
async function chainResult(deps: Deps): Promise<AuditResult> {
  const unread: UnreadHolding[] = [];
  const differing = await lastingDifferences(deps, (holding) => unread.push(holding));
  for (const { network, symbol, why } of unread)
    if (why !== 'unopened') deps.log.warn({ err: why, network, asset: symbol }, 'the chain does not tell what our addresses hold; not compared');
  const rows = differing.map(({ byRole: _, native: __, ...one }) => ({
    ...one,
    expected: formatAmount(one.expected),
    actual: formatAmount(one.actual),
    difference: formatAmount(one.difference),
  }));
  const left = unread
    .map(
      ({ network, symbol, why }) => `${symbol} on ${network}: ${why === 'unopened' ? 'its opening balances are not booked yet' : 'the chain gives no answer'}`,
    )
    .join('; ');
  return {
    check: 'A14',
    title: `what our addresses hold is what the books say, per asset${left === '' ? '' : ` (not checked: ${left})`}`,
    rows,
  };
}

/**
 * What differs, and still does at a second look. A node that lags shows coins missing that are there, and one that is asked about its head while it makes the next block may
 * answer for that one. An asset that the second look says nothing of differs as it did.
 */
async function lastingDifferences(deps: Deps, unread: (holding: UnreadHolding) => void): Promise<Holding[]> {
  const differing = (holdings: readonly Holding[]): Holding[] => holdings.filter((one) => one.difference !== 0n);
  const first = differing(await compareHoldings(deps, unread));
  if (first.length === 0) return [];
  await pause(SECOND_LOOK_MILLISECONDS);
  const chains = new Map([...deps.chains].filter(([, { config }]) => first.some(({ network }) => network === config.name)));
  const again = new Map((await compareHoldings({ ...deps, chains }, () => undefined)).map((one) => [one.assetId, one]));
  return differing(first.map((one) => again.get(one.assetId) ?? one));
}
