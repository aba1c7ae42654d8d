import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertRules, PROMETHEUS_FOLDER } from '#test/fixtures/monitoring.ts';

interface Route {
  receiver: string;
  matchers?: string[];
  routes?: Route[];
}

interface Routing {
  route: Route;
  inhibit_rules: { source_matchers: string[]; target_matchers: string[]; equal?: string[] }[];
  receivers: { name: string }[];
}

const routing = parse(readFileSync('ops/alertmanager/alertmanager.yml', 'utf8')) as Routing;
const routes = [routing.route, ...(routing.route.routes ?? [])];

/** Whether labels fit a matcher, anchored as Alertmanager does it. @throws Error for what is none */
function fits(matcher: string, labels: Record<string, string>): boolean {
  const [, name, kind, value] = /^(\w+) (=|=~) "(.*)"$/.exec(matcher) ?? [];
  if (name === undefined || value === undefined) throw new Error(`no matcher: ${matcher}`);
  return kind === '=' ? labels[name] === value : new RegExp(`^(?:${value})$`).test(labels[name] ?? '');
}

const labelsOf = ({ alert, labels }: { alert: string; labels: { severity: string } }) => ({ alertname: alert, ...labels });

function receiverOf(labels: Record<string, string>): string {
  return (routing.route.routes?.find(({ matchers = [] }) => matchers.every((matcher) => fits(matcher, labels))) ?? routing.route).receiver;
}

describe('the example routing of alerts', () => {
  it('takes every alert to whom its severity says, and Watchdog to whoever misses it', () => {
    const expected = { page: 'on-call', ticket: 'tickets', none: 'dead-mans-switch' } as Record<string, string>;
    for (const rule of alertRules()) expect([rule.alert, receiverOf(labelsOf(rule))]).toEqual([rule.alert, expected[rule.labels.severity]]);
  });

  it('names receivers that exist, each of them used, and tells nobody before an address is put in', () => {
    const named = routing.receivers.map(({ name }) => name);
    expect(new Set(routes.map(({ receiver }) => receiver))).toEqual(new Set(named));
    const urls = [...JSON.stringify(routing.receivers).matchAll(/"url":"([^"]+)"/g)].map(([, url]) => new URL(url as string).hostname);
    expect(urls).toHaveLength(named.length);
    for (const host of urls) expect(host).toMatch(/\.example\.invalid$/);
  });

  it('keeps back only alerts that exist, behind ones that exist, and never itself or what tells of money or thieves', () => {
    const names = alertRules().map(({ alert }) => alert);
    const loud = /Ledger(Imb)|Treasury|CoinsMissing|Forged|BruteForce|Guessed|Disputed|Contradicted|KnowsMore|WalletHalted|DeepReorg|Watchdog/;
    for (const { source_matchers, target_matchers } of routing.inhibit_rules) {
      const [source = '', ...others] = source_matchers;
      expect(others.every((matcher) => /^(role|by) = "/.test(matcher))).toBe(true);
      const sources = names.filter((alertname) => fits(source, { alertname }));
      expect(sources, source).toHaveLength(1);
      const kept = names.filter((alertname) => target_matchers.every((matcher) => fits(matcher, { alertname })));
      const spelled = (/"(.*)"$/.exec(target_matchers[0] ?? '')?.[1] ?? '').split('|');
      for (const one of spelled)
        expect(
          names.some((alertname) => new RegExp(`^(?:${one})$`).test(alertname)),
          one,
        ).toBe(true);
      expect(kept.filter((alertname) => sources.includes(alertname) || loud.test(alertname))).toEqual([]);
    }
  });

  it('is what the Prometheus that ships sends to', () => {
    const { alerting } = parse(readFileSync(`${PROMETHEUS_FOLDER}/prometheus.yml`, 'utf8')) as {
      alerting: { alertmanagers: { file_sd_configs: { files: string[] }[] }[] };
    };
    expect(alerting.alertmanagers[0]?.file_sd_configs[0]?.files).toEqual(['alertmanagers/*.yml']);
    const targets = readdirSync(`${PROMETHEUS_FOLDER}/alertmanagers`).flatMap(
      (name) => parse(readFileSync(`${PROMETHEUS_FOLDER}/alertmanagers/${name}`, 'utf8')) as { targets: string[] }[],
    );
    expect(targets).toEqual([{ targets: ['alertmanager:9093'] }]);
    const { services } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as { services: Record<string, { profiles?: string[] }> };
    expect(services.alertmanager?.profiles).toEqual(['observability']);
  });
});
