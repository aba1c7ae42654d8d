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

/** How long whoever asks for the metrics waits for fresh figures; those of a database that does not answer stay what they were. */
const WAITED_MS = 3_000;
/** Reports at once: more wait for their turn, and leave connections to the work of this process. */
const AT_ONCE = 2;

/**
 * Reads those figures when somebody asks for the metrics, and not while nobody does (decision 0096). However often they are asked for, each report
 * runs once at a time and no more often than its figures grow old.
 */
export function reportOnScrape(deps: Deps, reports: Readonly<Record<string, Report>> = REPORTS): void {
  const all = Object.entries(reports).map(([name, report]) => ({ ...report, name, begunMs: Number.NEGATIVE_INFINITY }));
  let running: Promise<unknown> | undefined;
  const refresh = async (): Promise<void> => {
    const now = performance.now();
    const queue = all.filter(({ begunMs, seconds }) => now - begunMs >= seconds * 1_000);
    const work = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
        one.begunMs = performance.now();
        await one.run(deps).catch((error: unknown) => deps.log.warn({ ...toldOf(error), report: one?.name }, 'figures for the metrics cannot be read'));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };
  deps.metrics?.onScrape(async () => {
    running ??= refresh().finally(() => {
      running = undefined;
    });
    const waited = new AbortController();
    await Promise.race([running, pause(WAITED_MS, undefined, { signal: waited.signal }).catch(() => undefined)]);
    waited.abort();
  });
}
