import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Upper bounds in seconds, of blocks for REORG: requests, single steps, what a customer waits for, what takes hours, depths. */
export const HTTP = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 6, 10];
export const FAST = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60];
export const FLOW = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
export const LONG = [15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
export const REORG = [1, 2, 3, 6, 12, 24, 64];

/** Node's own gauges that end in `_total`, which a counter's name must and a gauge's must not. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];
/** What is told of how late the event loop was since the last scrape, in seconds, by the end of its name. */
const LAGS = {
  min: { of: 'least', read: (seen) => late(seen.min) },
  max: { of: 'most', read: (seen) => late(seen.max) },
  mean: { of: 'mean', read: (seen) => late(seen.mean) },
  stddev: { of: 'standard deviation', read: (seen) => seen.stddev / 1e9 },
  p50: { of: '50th percentile', read: (seen) => late(seen.percentile(50)) },
  p90: { of: '90th percentile', read: (seen) => late(seen.percentile(90)) },
  p99: { of: '99th percentile', read: (seen) => late(seen.percentile(99)) },
} satisfies Record<string, { of: string; read(seen: IntervalHistogram): number }>;
/**
 * The library has the same by a clock that strikes a hundred times a second, which alone is most of what an idle process computes, and with its interval in
 * what it tells. That clock cannot be left out, only slowed down.
 */
const HARDLY_EVER_MS = 3_600_000;
/** How often it is seen how late the event loop is; what waits for half a second is worth a ticket. */
const LAG_SEEN_EVERY_MS = 100;

/** What a metrics endpoint serves. */
export interface Scrape {
  contentType: string;
  body: string;
}

/** What is running, for `sluice_build_info`. */
interface Build {
  component: 'api' | 'indexer';
  version: string;
  /** Of the sources it was built from. */
  commit: string;
}

export type MetricRegistry = ReturnType<typeof createRegistry>;

/** An empty registry with Node's own metrics, and a way to make each kind of metric in it. */
export function createRegistry({ component, version, commit }: Build) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HARDLY_EVER_MS });
  for (const name of [...MISNAMED, ...Object.keys(LAGS).map(nameOfLag)]) registry.removeSingleMetric(name);
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => new Gauge({ name, help, labelNames, registers: [registry] });
  /** One that is absent, and not 0, until it is set. */
  const absentGauge = (name: string, help: string): Gauge => {
    const made = gauge(name, help);
    made.remove();
    return made;
  };
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers: [registry] });
  gauge('sluice_build_info', 'Always 1; the labels say what is running.', ['version', 'commit', 'component']).set({ version, commit, component }, 1);
  const lags = Object.entries(LAGS).map(([end, { of, read }]) => {
    const lag = gauge(nameOfLag(end), `How late the event loop came to what was due, ${of} since the last scrape.`);
    return (seen: IntervalHistogram): void => lag.set(seen.count === 0 ? 0 : read(seen));
  });
  const seen = monitorEventLoopDelay({ resolution: LAG_SEEN_EVERY_MS });
  seen.enable();
  const before: (() => void | Promise<void>)[] = [
    () => {
      for (const tell of lags) tell(seen);
      seen.reset();
    },
  ];
  const scrape = async (): Promise<Scrape> => {
    await Promise.all(before.map((each) => each()));
    return { contentType: registry.contentType, body: await registry.metrics() };
  };
  /** Has `work` bring gauges up to date whenever somebody looks, who waits for it. */
  const onScrape = (work: () => void | Promise<void>): void => void before.push(work);
  return { counter, gauge, absentGauge, histogram, scrape, onScrape };
}

/** Starts a counter at 0 for labels that an alert watches, so that the first increment is one. */
export function fromZero<L extends string>(counter: Counter<L>, labels: readonly Record<L, string>[]): Counter<L> {
  for (const each of labels) counter.inc(each, 0);
  return counter;
}

/** The same for a gauge whose age an alert goes by: one that was never set is missed by nobody. */
export function shownFromZero<L extends string>(gauge: Gauge<L>, labels: readonly Record<L, string>[]): Gauge<L> {
  for (const each of labels) gauge.set(each, 0);
  return gauge;
}

/** The same for a histogram, whose count an alert may watch. */
export function zeroed<L extends string>(histogram: Histogram<L>, labels: readonly Record<L, string>[]): Histogram<L> {
  for (const each of labels) histogram.zero(each);
  return histogram;
}

/** Every combination of these values, as labels. */
export function combinations<L extends string>(values: Readonly<Record<L, readonly string[]>>): Record<L, string>[] {
  return (Object.entries(values) as [L, readonly string[]][]).reduce<Record<string, string>[]>(
    (all, [name, each]) => all.flatMap((labels) => each.map((value) => ({ ...labels, [name]: value }))),
    [{}],
  ) as Record<L, string>[];
}

const nameOfLag = (end: string): string => `nodejs_eventloop_lag_${end}_seconds`;

/** What was waited beyond the interval, nanoseconds as seconds. */
function late(waitedNs: number): number {
  return Math.max(0, waitedNs / 1e9 - LAG_SEEN_EVERY_MS / 1_000);
}
