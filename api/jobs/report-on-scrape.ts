import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '#api/deps.ts';
import { reportOutputs } from '#api/treasury/report-outputs.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import { reportPriceAges } from './refresh-prices.ts';
import { reportDispatch, reportJobs, reportPayments, reportProcesses, reportSettlements } from './reports.ts';

/** What keeps gauges up to date that are read from Postgres, and how old its figures may be. */
export interface Report {
  seconds: number;
  run(deps: Deps): Promise<unknown>;
}

const REPORTS: Readonly<Record<string, Report>> = {
  jobs: { seconds: 10, run: reportJobs },
  payments: { seconds: 10, run: reportPayments },
  processes: { seconds: 10, run: reportProcesses },
  settlements: { seconds: 10, run: reportSettlements },
  dispatch: { seconds: 10, run: reportDispatch },
  prices: { seconds: 10, run: reportPriceAges },
  outputs: { seconds: 60, run: reportOutputs },
};

/** How long whoever asks for the metrics waits for fresh figures; those of a database or a node that does not answer stay what they were. */
const WAITED_MS = 3_000;

/**
 * Reads those figures when somebody asks for the metrics, and not while nobody does (decision 0096). However often they are asked for, each report
 * runs once at a time and no more often than its figures grow old, and none waits for another one's node.
 */
export function reportOnScrape(deps: Deps, reports: Readonly<Record<string, Report>> = REPORTS): void {
  const all = Object.entries(reports).map(([name, report]) => ({
    ...report,
    name,
    begunMs: Number.NEGATIVE_INFINITY,
    running: undefined as Promise<unknown> | undefined,
  }));
  const refresh = (one: (typeof all)[number]): Promise<unknown> | undefined => {
    if (one.running !== undefined || performance.now() - one.begunMs < one.seconds * 1_000) return one.running;
    one.begunMs = performance.now();
    one.running = one
      .run(deps)
      .catch((error: unknown) => deps.log.warn({ ...toldOf(error), report: one.name }, 'figures for the metrics cannot be read'))
      .finally(() => {
        one.running = undefined;
      });
    return one.running;
  };
  deps.metrics?.onScrape(async () => {
    const waited = new AbortController();
    await Promise.race([Promise.all(all.map(refresh)), pause(WAITED_MS, undefined, { signal: waited.signal }).catch(() => undefined)]);
    waited.abort();
  });
}
