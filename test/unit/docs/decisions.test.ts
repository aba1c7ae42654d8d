import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { textOf } from '#test/fixtures/repository.ts';

// The index of ops/decisions tells what its files tell: no decision is missing there, and none reads as if it still stood.

const FOLDER = 'ops/decisions';
const index = textOf(`${FOLDER}/README.md`);
const decisions = readdirSync(FOLDER)
  .filter((name) => /^\d{4}-.+\.md$/.test(name))
  .sort()
  .map((name) => ({ name, number: name.slice(0, 4), lines: textOf(`${FOLDER}/${name}`).split('\n') }));
const STATUS = /^Status: (accepted|(?:accepted, amended by|superseded by) \[(\d{4})\]\(\2-[^)]+\.md\)(?:, \[(\d{4})\]\(\3-[^)]+\.md\))*)$/;

describe('decisions', () => {
  it('begin with their number and title, and say whether they stand', () => {
    const wrong = decisions.filter(({ number, lines }) => !(lines[0] ?? '').startsWith(`# ${Number(number)}. `) || !STATUS.test(lines[2] ?? ''));
    expect(wrong.map(({ name, lines }) => `${name}: ${lines[0]} / ${lines[2]}`)).toEqual([]);
  });

  it('are each in the index, in order, with the title and the status they have themselves', () => {
    const rows = index.split('\n').filter((line) => /^\| \[\d{4}\]/.test(line));
    const expected = decisions.map(({ name, number, lines }) => ({
      link: `[${number}](${name})`,
      title: (lines[0] ?? '').replace(/^# \d+\. /, ''),
      status: (lines[2] ?? '').replace('Status: ', ''),
    }));
    expect(
      rows.map((row) => {
        const [, link, title, gist, status] = row.split(' | ').length === 4 ? ['', ...row.replace(/^\| | \|$/g, '').split(' | ')] : [];
        return gist === undefined || gist.length < 20 ? row : { link, title, status };
      }),
    ).toEqual(expected);
  });

  it('are amended or superseded by later ones only, which exist', () => {
    const known = new Set(decisions.map(({ name }) => name));
    const wrong = decisions.flatMap(({ name, number, lines }) =>
      [...(lines[2] ?? '').matchAll(/\]\(([^)]+)\)/g)]
        .filter(([, later = '']) => !known.has(later) || later.slice(0, 4) <= number)
        .map(([, later]) => `${name}: ${later}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have numbers of their own', () => {
    expect(new Set(decisions.map(({ number }) => number)).size).toBe(decisions.length);
  });
});
