import { describe, expect, it } from 'vitest';
import { createApiMetrics, createIndexerMetrics } from '#shared/platform/metrics.ts';
import { alertRules, namesIn, namesServed, recordingRules, ruleTests } from '#test/fixtures/monitoring.ts';

/** What somebody is woken by when every process of a kind is gone; `any` is what each process says of itself. */
const WOKEN_BY = { indexer: 'ChainUnattended', worker: 'RoleMissing', http: 'RoleMissing', signer: 'SignerSilent', any: 'TargetMissing' } as const;
type Kind = keyof typeof WOKEN_BY;

const storyOf = (kind: Kind): string => `every ${kind === 'any' ? 'process' : kind} is gone`;

/** Alerts that go by nothing a process says, with what they go by. */
const BY_NO_PROCESS: Record<string, string> = {
  Watchdog: 'by nothing at all: it always fires',
  TargetMissing: 'by what Prometheus notes of each scrape',
  TargetDown: 'by what Prometheus notes of each scrape',
  TargetsFewer: 'by what Prometheus notes of each scrape',
};

/** What the http and the signer role alone count; the rest of an api's own metrics is the worker's. */
const HTTP = /^sluice_(http_|auth_failures|totp_checks)/;
const SIGNER = /^sluice_signer_journal_/;

const api = namesServed((await createApiMetrics('0').scrape()).body);
const indexer = namesServed((await createIndexerMetrics('0').scrape()).body);

function kindOf(name: string): Kind {
  if (api.has(name) && indexer.has(name)) return 'any';
  if (indexer.has(name)) return 'indexer';
  if (!api.has(name)) throw new Error(`no process shows ${name}`);
  return HTTP.test(name) ? 'http' : SIGNER.test(name) ? 'signer' : 'worker';
}

const recorded = new Map(recordingRules().map(({ record, expr }) => [record, expr]));

function sources(expr: string): string[] {
  return namesIn(expr).flatMap((name) => (recorded.has(name) ? sources(recorded.get(name) as string) : [name]));
}

const stories = ruleTests().find(({ path }) => path.endsWith('/blind.yml'))?.tests ?? [];

describe('an alert whose series are gone with the process that showed them', () => {
  it.each(alertRules())('does not leave everybody asleep: $alert', ({ alert, expr }) => {
    const kinds = new Set(sources(expr).map(kindOf));
    expect(kinds.size === 0, `${alert}: either its series have a process, or it is said here what it goes by`).toBe(alert in BY_NO_PROCESS);
    for (const kind of kinds) {
      const story = stories.find(({ name }) => name === storyOf(kind));
      const woken = story?.promql_expr_test.some(({ expr, exp_samples }) => expr.includes(`"${WOKEN_BY[kind]}"`) && exp_samples.length > 0);
      expect(woken, `${alert}: nothing in blind.yml says who is woken when ${storyOf(kind)}`).toBe(true);
    }
  });

  it.each(Object.keys(WOKEN_BY) as Kind[])('is told of by what remains and by nothing else: %s', (kind) => {
    const fed = stories.find(({ name }) => name === storyOf(kind))?.input_series.map(({ series }) => series) ?? [];
    expect(fed).not.toEqual([]);
    const names = fed.map((series) => series.replace(/\{.*$/s, '')).filter((name) => name !== 'up' && name !== 'sluice_process_role');
    expect(kind === 'any' ? names : names.filter((name) => kindOf(name) === kind)).toEqual([]);
    // Whoever wakes may not go by the word of those that are gone.
    const expr = alertRules().find(({ alert }) => alert === WOKEN_BY[kind])?.expr ?? '';
    const needed = expr.includes('absent(') ? [] : sources(expr).filter((name) => kindOf(name) === kind);
    expect(needed).toEqual([]);
  });
});
