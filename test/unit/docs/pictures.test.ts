import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const FOLDER = 'ops/docs/pictures';
const pictures = readdirSync(FOLDER);
const shown = readdirSync('ops/docs')
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => [...readFileSync(join('ops/docs', name), 'utf8').matchAll(/!\[([^\]]*)\]\(pictures\/([^)]+)\)/g)])
  .map(([, says, name]) => ({ says, name }));

it('every picture is shown by a page that says what is on it, and every page has the pictures it shows', () => {
  expect([...new Set(shown.map(({ name }) => name))].sort()).toEqual([...pictures].sort());
  expect(shown.filter(({ says }) => (says ?? '').length < 20)).toEqual([]);
});

it('pictures are few and small: everybody who fetches the sources fetches them', () => {
  expect(pictures.length).toBeLessThanOrEqual(16);
  expect(pictures.filter((name) => statSync(join(FOLDER, name)).size > 160_000)).toEqual([]);
});
