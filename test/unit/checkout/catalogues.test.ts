import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Catalogue } from '#api/page/catalogue.ts';
import { placeholders, pluralCases, pseudoCatalogue, readCatalogues } from '#test/fixtures/catalogues.ts';

const catalogues = readCatalogues();
const reference = catalogues.get('en') as Catalogue;
const others = [...catalogues].filter(([tag]) => tag !== 'en');

const shapes = (catalogue: Catalogue) => Object.fromEntries(Object.entries(catalogue).map(([key, message]) => [key, placeholders(message)]));
/** The keys whose message `fails`, with the message. */
const failing = (catalogue: Catalogue, fails: (message: string) => boolean) => Object.entries(catalogue).filter(([, message]) => fails(message));

/** Every text of the page, and of what reads a catalogue, without the catalogues themselves. */
const source = [...readdirSync('api/checkout', { recursive: true, encoding: 'utf8' }).map((file) => join('api/checkout', file)), 'api/http/catalogues.ts']
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
/** What keys with a part that varies look like: `title.${state}`. */
const patterns = [...source.matchAll(/`([a-z-]+\.[a-z-]*\$\{[^`]+)`/g)].map(
  ([, template]) => new RegExp(`^${(template as string).replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '[a-z_-]+')}$`),
);

describe('the first set of languages', () => {
  it('is there', () => {
    expect([...catalogues.keys()]).toEqual(expect.arrayContaining(['ar', 'en', 'es', 'tr', 'zh-CN']));
  });

  it('has no text that the page does not use', () => {
    expect(Object.keys(reference).filter((key) => !source.includes(`'${key}'`) && !patterns.some((pattern) => pattern.test(key)))).toEqual([]);
  });

  it('talks to payers about payments and not about what is behind them', () => {
    expect(failing(reference, (message) => /invoice|gas\b|mempool|\bAML\b|screening|sanction|compliance/i.test(message))).toEqual([]);
  });
});

describe.each([...catalogues])('the texts in %s', (tag, catalogue) => {
  it('are named by their language, and say its name and direction', () => {
    expect(Intl.getCanonicalLocales(tag)).toEqual([tag]);
    expect(catalogue['language.name']).toMatch(/\p{L}{2,}/u);
    expect(catalogue['language.direction']).toMatch(/^(ltr|rtl)$/);
  });

  it('are messages, without markup and without anything left out', () => {
    expect(() => shapes(catalogue)).not.toThrow();
    expect(failing(catalogue, (message) => /[<>]|&#?\w+;/.test(message) || message.trim() === '' || message !== message.trim())).toEqual([]);
  });

  it('know every form of a number that the language has', () => {
    const rules = new Intl.PluralRules(tag);
    // What can be counted here: days of the longest payment, seconds of the longest wait.
    const forms = new Set(Array.from({ length: 1_001 }, (_, count) => rules.select(count)));
    const lacks = (message: string) => pluralCases(message).some((cases) => !['other', ...forms].every((form) => cases.includes(form)));
    expect(failing(catalogue, lacks)).toEqual([]);
  });
});

describe.each(others)('the translation into %s', (_tag, catalogue) => {
  it('has the keys of the English texts in their order, and the same placeholders in each', () => {
    expect(Object.keys(catalogue)).toEqual(Object.keys(reference));
    expect(shapes(catalogue)).toEqual(shapes(reference));
  });
});

describe('a language that is two fifths longer', () => {
  it('is made of every text, with its placeholders', () => {
    const pseudo = pseudoCatalogue(reference);
    expect(shapes(pseudo)).toEqual(shapes(reference));
    expect(failing(pseudo, (message) => pluralCases(message).length > 0).map(([key]) => key)).not.toEqual([]);
    expect((pseudo['pay.warning'] as string).length).toBeGreaterThan((reference['pay.warning'] as string).length * 1.3);
  });
});
