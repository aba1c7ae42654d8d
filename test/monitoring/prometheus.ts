import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { plainEnvironment, startService } from '#ops/dev/services/child.ts';
import type { PrometheusPrograms } from '#ops/dev/services/prometheus.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { PROMETHEUS_FOLDER } from '#test/fixtures/monitoring.ts';

/** Processes by the job they are scraped as: origins of their metrics. */
export type Targets = Readonly<Record<string, readonly string[]>>;

interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

/** A Prometheus with the configuration and the rules that ship, scraping every second. */
export interface RunningPrometheus {
  /** Scrapes these from now on. */
  lookAt(targets: Targets): Promise<void>;
  /** @throws with Prometheus's own words when the query is wrong */
  query(expr: string): Promise<Sample[]>;
  /** Trouble of rules, by name; empty when all work. */
  rulesInTrouble(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts a Prometheus whose data are in `directory`. */
export async function startPrometheus(programs: PrometheusPrograms, directory: string, targets: Targets): Promise<RunningPrometheus> {
  await mkdir(directory, { recursive: true });
  const shipped = parse(await readFile(join(PROMETHEUS_FOLDER, 'prometheus.yml'), 'utf8')) as Record<string, unknown> & {
    global: object;
    rule_files: string[];
    scrape_configs: { job_name: string }[];
  };
  const jobs = shipped.scrape_configs.map(({ job_name }) => job_name).filter((name) => name.startsWith('sluice-'));
  const targetsOf = (job: string): string => join(directory, `${job}.json`);
  const lookAt = async (now: Targets): Promise<void> => {
    for (const job of jobs) await writeFile(targetsOf(job), JSON.stringify([{ targets: (now[job] ?? []).map((url) => new URL(url).host) }]));
  };
  await lookAt(targets);
  const configuration = {
    ...shipped,
    global: { ...shipped.global, scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: shipped.rule_files.map((name) => resolve(PROMETHEUS_FOLDER, name)),
    scrape_configs: jobs.map((job_name) => ({ job_name, file_sd_configs: [{ files: [targetsOf(job_name)], refresh_interval: '1s' }] })),
    alerting: undefined,
  };
  const file = join(directory, 'prometheus.yml');
  await writeFile(file, stringify(configuration));
  const port = await freePort();
  const lines: string[] = [];
  const service = await startService({
    name: 'prometheus',
    command: programs.prometheus,
    args: [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, 'data')}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
    cwd: directory,
    env: plainEnvironment(),
    onLine: (line) => lines.push(line),
  });
  const ask = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok, { what: `Prometheus to be ready: ${lines.join('\n')}` });
  return {
    lookAt,
    query: async (expr) => (await ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result,
    async rulesInTrouble() {
      const { groups } = await ask<{ groups: { rules: { name: string; health: string; lastError?: string }[] }[] }>('rules');
      return groups.flatMap(({ rules }) =>
        rules.filter(({ health }) => health !== 'ok').map(({ name, health, lastError }) => `${name}: ${health} ${lastError ?? ''}`),
      );
    },
    stop: () => service.stop(),
  };
}
