import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FOLDER = 'test/playbook';
const section = readFileSync('SECURITY.md', 'utf8').split("## The attacker's playbook")[1]?.split('\n## ')[0] ?? '';
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Who'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const ticked = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);

describe("the attacker's playbook in SECURITY.md", () => {
  it('names for every attacker what they get, what not, who notices, what to do, and a test that is there', () => {
    expect(rows.length).toBeGreaterThan(10);
    for (const cells of rows) {
      expect(cells).toHaveLength(8);
      expect(cells.slice(1, -1).every((cell) => cell !== '')).toBe(true);
      const tests = ticked(cells[6]);
      expect([cells[1], tests.length > 0 && tests.every((name) => existsSync(join(FOLDER, name)))]).toEqual([cells[1], true]);
    }
  });

  it('leaves no test out', () => {
    const named = new Set(rows.flatMap((cells) => ticked(cells[6])));
    expect(readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts') && !named.has(name))).toEqual([]);
  });

  it('names alerts that exist', () => {
    const alerts = readFileSync('ops/prometheus/alerts.rules.yml', 'utf8');
    const told = rows.flatMap((cells) => ticked(cells[4]));
    expect(told.length).toBeGreaterThan(3);
    expect(told.filter((name) => !alerts.includes(`alert: ${name}\n`))).toEqual([]);
  });
});
