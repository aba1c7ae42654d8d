import { expect, it } from 'vitest';
import { ranTheSame, readStatements } from '#ops/bench/statements.ts';

const line = (pid: number, text: string): string => `2026-11-27 11:00:00.000 UTC [${pid}] LOG:  duration: 0.1 ms  execute s: ${text}`;

it('tells the statements of a request without those that note requests beside it, whatever connections they were mixed on', () => {
  const log = [
    line(1, 'begin read write'),
    line(2, 'begin read write'),
    line(1, 'insert into payments (id) values ($1)'),
    "2026-11-27 11:00:00.000 UTC [1] DETAIL:  Parameters: $1 = 'a'",
    line(2, 'select pg_advisory_xact_lock($1)'),
    line(2, 'with given as (select 1)\n    insert into requests (gateway_id) select 1'),
    line(1, 'commit'),
    line(2, 'commit'),
    line(2, 'select 1 from requests'),
  ].flatMap((text) => text.split('\n'));
  expect(readStatements(log)).toEqual([
    { text: 'begin read write', values: [] },
    { text: 'insert into payments (id) values ($1)', values: ['a'] },
    { text: 'commit', values: [] },
    { text: 'select 1 from requests', values: [] },
  ]);
});

it('tells two requests that ran the same statements, in any order and with any values, from one beside which something else ran', () => {
  const ran = (...texts: string[]) => texts.map((text, i) => ({ text, values: [String(i)] }));
  expect(ranTheSame(ran('begin', 'select 1', 'commit'), ran('select 1', 'begin', 'commit'))).toBe(true);
  expect(ranTheSame(ran('begin', 'commit'), ran('begin', 'update processes', 'commit'))).toBe(false);
  expect(ranTheSame(ran('select 1', 'select 1'), ran('select 1', 'select 2'))).toBe(false);
});
