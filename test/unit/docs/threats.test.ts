import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('ops/docs/threats.md', 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!Attack|-)/.test(line) && !line.startsWith('|---'));
const named = (text: string): [file: string, name: string][] =>
  [...text.matchAll(/`(test\/[^`]+)` \("([^"]+)"\)/g)].map(([, file, name]) => [file ?? '', name ?? '']);

describe('the table of threats', () => {
  it('has a row for every threat that was ever thought of, each with a test', () => {
    expect(rows.length).toBeGreaterThanOrEqual(38);
    for (const row of rows) expect(named(row).length, row.slice(0, 90)).toBeGreaterThan(0);
  });

  it.each(named(page))('%s has the test “%s”', (file, name) => {
    expect(existsSync(file), file).toBe(true);
    // A quote inside a name is written with its escape in the file.
    expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(name);
  });
});
