import { describe, expect, it } from 'vitest';
import type { Catalogue } from '#api/page/catalogue.ts';
import { describeCatalogues, failing, shapes } from '#test/fixtures/catalogue-checks.ts';
import { pluralCases, pseudoCatalogue, readCatalogues } from '#test/fixtures/catalogues.ts';

const catalogues = readCatalogues();
const reference = catalogues.get('en') as Catalogue;

describe('the hosted page', () => {
  describeCatalogues(catalogues, ['api/checkout', 'api/http/catalogues.ts']);
});

describe('the set of languages', () => {
  it('is there', () => {
    expect([...catalogues.keys()].sort()).toEqual(['ar', 'de', 'en', 'es', 'fr', 'ja', 'pt-BR', 'ru', 'tr', 'zh-CN']);
  });

  it('talks to payers about payments and not about what is behind them', () => {
    expect(failing(reference, (message) => /invoice|gas\b|mempool|\bAML\b|screening|sanction|compliance/i.test(message))).toEqual([]);
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
