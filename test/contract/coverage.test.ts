import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CATALOGUE, NOT_YET } from './catalogue.ts';

/** Operations without a file of their own, and why; not-yet.test.ts proves what can be proven about them. */
const WITHOUT_FILE: Record<string, string> = {
  openPaymentSocket: 'answers 501 until the hosted checkout is there; a socket is not an HTTP response',
};

const fileOf = (id: string): string => `test/contract/${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`;
const covered = CATALOGUE.filter(({ id }) => WITHOUT_FILE[id] === undefined);
/** The source of an operation's file, without its comments. */
const sourceOf = (id: string): string => (existsSync(fileOf(id)) ? readFileSync(fileOf(id), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '') : '');

describe('every operation of the contract', () => {
  it.each(covered.map(({ id }) => [id, fileOf(id)]))('%s is described, status by status, in %s', (id) => {
    expect(sourceOf(id)).toMatch(new RegExp(`describeOperation\\(\\s*'${id}',`));
  });

  it('is either described or named here with the reason', () => {
    expect(Object.keys(WITHOUT_FILE).sort()).toEqual([...NOT_YET].sort());
  });

  it('has a case for every listed status, none of them left for later', () => {
    for (const { id } of covered) expect([id, ...(sourceOf(id).match(/\b(?:it|describe)\.(?:skip|only|todo)/g) ?? [])]).toEqual([id]);
  });
});
