import type { TestProject } from 'vitest/node';
import { findPrometheus, type PrometheusPrograms } from '#ops/dev/services/prometheus.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Prometheus and promtool to test with; null where there are none. */
    prometheus: PrometheusPrograms | null;
  }
}

/** Looks for a Prometheus once a run. Without one its tests are reported as skipped, unless `SLUICE_REQUIRE_PROMETHEUS` is set. */
export default async function setup(project: TestProject): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const programs = await findPrometheus(process.cwd(), say);
  if (programs === null && process.env.SLUICE_REQUIRE_PROMETHEUS) throw new Error('no Prometheus: install prometheus (with promtool)');
  if (programs === null) say('no Prometheus: the files of test/monitoring are skipped');
  project.provide('prometheus', programs);
}
