import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BOARDS, dashboardFiles } from '#ops/grafana/dashboards.ts';
import { definedNames, namesIn, panelQueries, recordingRules, alertRules, RUNBOOKS_FOLDER } from '#test/fixtures/monitoring.ts';

describe('the dashboards', () => {
  it('are eight, and their files are what the program writes now', () => {
    expect(BOARDS).toHaveLength(8);
    for (const { path, content } of dashboardFiles()) expect(readFileSync(path, 'utf8'), `${path} is stale: npm run dashboards`).toBe(content);
  });

  it('lead to the docs of the deployment they are written for', () => {
    const [first] = dashboardFiles('https://pay.example.com');
    expect(first?.content).toContain('"query": "https://pay.example.com"');
  });

  it('say of each panel what is good, under a title of its own, and which runbook helps', () => {
    for (const { name, description, panels } of BOARDS) {
      expect(description).toMatch(/\.$/);
      expect(new Set(panels.map(({ title }) => title)).size, name).toBe(panels.length);
      for (const panel of panels) {
        expect(panel.description, panel.title).toMatch(/^.{12,}[.]$/);
        expect(existsSync(`${RUNBOOKS_FOLDER}/${panel.runbook}.md`), `${panel.title}: ${panel.runbook}`).toBe(true);
      }
    }
  });

  it('can be narrowed to chosen chains wherever a panel is about chains', () => {
    for (const { panels } of BOARDS)
      for (const { title, queries } of panels)
        for (const expr of Object.values(queries)) {
          const aboutChains = /by \([^)]*chain/.test(expr) && !expr.includes('ALERTS');
          if (aboutChains) expect(expr, title).toContain('$chain');
        }
  });

  it('and the rules name only metrics that a process has, or that a rule records', async () => {
    const known = new Set([...(await definedNames()), ...recordingRules().map(({ record }) => record)]);
    const asked = [...panelQueries(), ...[...recordingRules(), ...alertRules()].map((rule) => ({ panel: 'a rule', expr: rule.expr }))];
    const absent = asked.flatMap(({ panel, expr }) => namesIn(expr).flatMap((name) => (known.has(name) ? [] : [`${panel}: ${name}`])));
    expect(absent).toEqual([]);
  });

  it('and the rules leave out no metric of ours', async () => {
    const asked = new Set([...panelQueries(), ...recordingRules(), ...alertRules()].flatMap(({ expr }) => namesIn(expr)).map(withoutSuffix));
    const unseen = [...(await definedNames())].filter((name) => name.startsWith('sluice_')).map(withoutSuffix);
    expect([...new Set(unseen)].filter((name) => !asked.has(name))).toEqual([]);
  });
});

function withoutSuffix(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, '');
}
