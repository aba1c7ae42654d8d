import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXCEPTIONS, type Lock, licenceProblems } from '#ops/licences/check.ts';

const locked = (packages: Lock['packages']): string[] => licenceProblems({ packages: { '': { license: 'MIT' }, ...packages } }, {});

describe('licences', () => {
  it('of everything that ships are agreed to, and no exception is left over', () => {
    expect(licenceProblems(JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock)).toEqual([]);
    for (const { reason } of Object.values(EXCEPTIONS)) expect(reason.length).toBeGreaterThan(20);
  });

  it.each(['MIT', '(MIT OR GPL-3.0-only)', 'Apache-2.0', '(BSD-3-Clause AND Apache-2.0)'])('may be %s', (license) => {
    expect(locked({ 'node_modules/a': { license } })).toEqual([]);
  });

  it.each(['GPL-3.0-only', '(MIT AND AGPL-3.0-only)', 'UNLICENSED', 'SEE LICENSE IN LICENSE.md', ''])('may not be %j', (license) => {
    expect(locked({ 'node_modules/@scope/a': { license } })).toEqual([expect.stringContaining('@scope/a: ')]);
  });

  it('must be told, also by a package inside another one', () => {
    expect(locked({ 'node_modules/a/node_modules/b': {} })).toEqual(['b: its licence is not told']);
  });

  it('of what only development uses are its own affair', () => {
    expect(locked({ 'node_modules/a': { license: 'GPL-3.0-only', dev: true } })).toEqual([]);
  });

  it('are excepted by name and terms together, for as long as they are there', () => {
    const exception = { a: { licence: 'PSF-2.0', reason: 'test' } };
    const of = (license: string): string[] => licenceProblems({ packages: { 'node_modules/a': { license } } }, exception);
    expect(of('PSF-2.0')).toEqual([]);
    expect(of('GPL-3.0-only')).toHaveLength(2);
    expect(licenceProblems({ packages: {} }, exception)).toEqual(['a: is excepted, but not installed under those terms']);
  });
});
