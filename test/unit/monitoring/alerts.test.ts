import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BOARDS } from '#ops/grafana/dashboards.ts';
import { alertRules, groupNames, namesIn, recordingRules, ruleTests, RUNBOOKS_FOLDER } from '#test/fixtures/monitoring.ts';

/** Runbooks that no alert leads to. */
const OTHER_PAGES = ['faults.md', 'withheld.md', 'README.md'];
const SECTIONS = ['What the user sees', 'First look', 'Three checks', 'Safe actions', 'Never do', 'How to confirm recovery', 'Escalate to'];

const alerts = alertRules();
const runbookOf = (annotations: Record<string, string>): string => `${RUNBOOKS_FOLDER}/${annotations.runbook_url?.split('/').pop()}.md`;

describe('alerts', () => {
  it('have names of their own, one of three severities, and Watchdog alone has none', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, labels } of alerts) expect(['page', 'ticket', ...(alert === 'Watchdog' ? ['none'] : [])], alert).toContain(labels.severity);
  });

  it('say in words what is wrong, and lead to a runbook and a dashboard that exist', () => {
    const boards = BOARDS.map(({ name }) => name);
    for (const { alert, annotations } of alerts) {
      expect(annotations.summary, alert).toMatch(/^.{10,}[^.]$/);
      expect(annotations.description, alert).toMatch(/^.{20,}\.$/);
      expect(annotations.runbook_url, alert).toMatch(/^\{\{ \$externalLabels\.docs \}\}\/docs\/runbooks\/[a-z-]+$/);
      expect(existsSync(runbookOf(annotations)), `${alert}: ${runbookOf(annotations)}`).toBe(true);
      expect(boards, alert).toContain(/^\{\{ \$externalLabels\.grafana \}\}\/d\/sluice-([a-z]+)$/.exec(annotations.dashboard_url ?? '')?.[1]);
    }
  });

  it('match buckets in a way that both Prometheus 2 and 3 understand', () => {
    for (const { expr } of [...alerts, ...recordingRules()]) expect(expr.match(/\ble="/) ?? []).toEqual([]);
  });

  it('have a story each in which they fire, and a moment in one in which they do not', () => {
    const expectations = ruleTests().flatMap(({ tests }) => tests.flatMap((test) => test.promql_expr_test));
    for (const { alert } of alerts) {
      const about = expectations.filter(
        ({ expr, exp_samples }) => expr.includes(`"${alert}"`) || exp_samples.some(({ labels }) => labels.includes(`"${alert}"`)),
      );
      expect(
        about.some(({ exp_samples }) => exp_samples.length > 0),
        `${alert} never fires in a test`,
      ).toBe(true);
      if (alert !== 'Watchdog')
        expect(
          about.some(({ exp_samples }) => exp_samples.length === 0),
          `${alert} never rests in a test`,
        ).toBe(true);
    }
  });

  it('are judged after what they are judged by, in every story', () => {
    for (const { path, order } of ruleTests()) expect(order, path).toEqual(groupNames());
  });

  it('are all fed in the story of a healthy deployment', () => {
    const healthy = ruleTests().find(({ path }) => path.endsWith('healthy.yml'))?.tests[0];
    const fed = new Set(healthy?.input_series.map(({ series }) => series.replace(/\{.*$/s, '')));
    const recorded = new Map(recordingRules().map(({ record, expr }) => [record, expr]));
    const asked = (expr: string): string[] => namesIn(expr).flatMap((name) => (recorded.has(name) ? asked(recorded.get(name) as string) : [name]));
    for (const { alert, expr } of alerts) for (const name of asked(expr)) expect(fed, `${alert} is not fed ${name}`).toContain(name);
  });
});

describe('runbooks', () => {
  const files = readdirSync(RUNBOOKS_FOLDER).filter((name) => name.endsWith('.md') && !OTHER_PAGES.includes(name));
  const panels = new Set(BOARDS.flatMap((board) => board.panels.map(({ title }) => title)));

  it.each(files)('%s belongs to alerts, names them, and says all that a person at night needs', (name) => {
    const text = readFileSync(`${RUNBOOKS_FOLDER}/${name}`, 'utf8');
    const [, summary = ''] = text.split('\n\n');
    const leadingHere = alerts.filter(({ annotations }) => runbookOf(annotations).endsWith(`/${name}`)).map(({ alert }) => alert);
    expect(leadingHere).not.toEqual([]);
    for (const alert of leadingHere) expect(summary).toContain(alert);
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(SECTIONS);
    const checks = text.slice(text.indexOf('## Three checks'), text.indexOf('## Safe actions'));
    expect(checks.match(/^```sh$/gm)).toHaveLength(3);
  });

  it.each(files)('%s names panels that exist', (name) => {
    const text = readFileSync(`${RUNBOOKS_FOLDER}/${name}`, 'utf8');
    const named = [...text.matchAll(/[Pp]anels? ((?:"[^"]+"(?:, | and )?)+)/g)].flatMap(([, list]) =>
      [...(list as string).matchAll(/"([^"]+)"/g)].map(([, title]) => title as string),
    );
    expect(named).not.toEqual([]);
    for (const title of named) expect(panels, title).toContain(title);
  });
});
