import { expect, it } from 'vitest';
import { csvHead, csvLine, jsonLine } from '#api/exports/csv.ts';
import { SentJson } from '#shared/core/sent-json.ts';

it.each([
  ['=1+1', "'=1+1"],
  ['+1+1', "'+1+1"],
  ['-1+1', "'-1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', `"'\t'=1"`],
  ['\r=1', `"'\r'=1"`],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['-12.50', '-12.50'],
  ['12.50', '12.50'],
  [-3, '-3'],
  [true, 'true'],
  [null, ''],
  // A spreadsheet whose separator is another one splits where it is not quoted for it, and reads quotes in the middle as they are.
  ['x;=1+1', `"x;'=1+1"`],
  ['x\t@SUM(A1)', `"x\t'@SUM(A1)"`],
  ['x\n=1+1;|+2', `"x\n'=1+1;|'+2"`],
  ['x; -5 a;b', '"x; -5 a;b"'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\r\nb', '"a\r\nb"'],
  [' a', '" a"'],
  ['café 支付 \u202e', 'café 支付 \u202e'],
])('%j is a cell that no spreadsheet runs, and a number stays one', (value, cell) => {
  expect(csvLine(['a', 'b'], { a: value })).toBe(`${cell},\r\n`);
});

it('names columns in their order, and writes what was sent as it was sent', () => {
  expect(csvHead(['b', 'a'])).toBe('b,a\r\n');
  const row = { a: new SentJson('{"n":12345678901234567890}'), b: undefined };
  expect(jsonLine(['b', 'a'], row)).toBe('{"b":null,"a":{"n":12345678901234567890}}\n');
  expect(csvLine(['a'], row)).toBe('"{""n"":12345678901234567890}"\r\n');
});
