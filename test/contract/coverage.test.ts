import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CATALOGUE } from './catalogue.ts';

const fileOf = (id: string): string => `test/contract/${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`;
/** The source of an operation's file, without its comments. */
const sourceOf = (id: string): string => (existsSync(fileOf(id)) ? readFileSync(fileOf(id), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '') : '');

describe('every operation of the contract', () => {
  it.each(CATALOGUE.map(({ id }) => [id, fileOf(id)]))('%s is described, status by status, in %s', (id) => {
    expect(sourceOf(id)).toMatch(new RegExp(`describeOperation\\(\\s*'${id}',`));
  });

  it('has a case for every listed status, none of them left for later', () => {
    for (const { id } of CATALOGUE) expect([id, ...(sourceOf(id).match(/\b(?:it|describe)\.(?:skip|only|todo)/g) ?? [])]).toEqual([id]);
  });
});
