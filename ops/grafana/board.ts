/** Units as Grafana names them. */
export type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'reqps' | 'ops' | 'none';

export interface Panel {
  title: string;
  /** What it shows and what is good, in one or two sentences. */
  description: string;
  /** Name of the runbook that helps when it looks bad. */
  runbook: string;
  /** `graph` over time unless given; `now` shows the latest value, `lights` in red, yellow and green, `table` all labels. */
  shows?: 'graph' | 'now' | 'lights' | 'table';
  unit?: Unit;
  /** Columns of 24; 8 unless given. */
  width?: number;
  /** PromQL by legend. `$chain` is the chain picked above, `$__rate_interval` a window that fits the scrapes. */
  queries: Readonly<Record<string, string>>;
}

/** One dashboard, without what is the same in all. */
export interface Board {
  /** The end of its address, `/d/sluice-<name>`, which alerts link to. */
  name: string;
  title: string;
  description: string;
  panels: readonly Panel[];
}

/** A quantile over everything but `by`, from a histogram's buckets. */
export function quantile(share: number, histogram: string, options: { by?: string; labels?: string } = {}): string {
  const { by, labels = '' } = options;
  return `histogram_quantile(${share}, sum by (le${by === undefined ? '' : `, ${by}`}) (rate(${histogram}_bucket{${labels}}[$__rate_interval])))`;
}
