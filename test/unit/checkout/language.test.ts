import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadCatalogues } from '#api/http/catalogues.ts';
import { chooseLanguage, matchLanguage } from '#api/page/language.ts';

const AVAILABLE = ['en', 'ar', 'es', 'tr', 'zh-CN'];

describe('a wish finds the catalogue that its owner can read', () => {
  it.each([
    ['es', 'es'],
    ['ES', 'es'],
    ['es-419', 'es'],
    ['es_MX', 'es'],
    ['en-GB', 'en'],
    ['ar-EG', 'ar'],
    ['zh', 'zh-CN'],
    ['zh-Hans', 'zh-CN'],
    ['zh-cn', 'zh-CN'],
    ['zh-SG', 'zh-CN'],
    ['zh-Hans-HK', 'zh-CN'],
    ['tr-TR-u-nu-latn', 'tr'],
  ])('%s → %s', (wish, found) => {
    expect(matchLanguage(AVAILABLE, wish)).toBe(found);
  });

  it.each(['zh-TW', 'zh-Hant', 'az', 'fr', 'xx', '', '-', 'e', '../en', 'en.json', 'toString', '\0', 'e'.repeat(10_000), 'es; drop table'])(
    'nobody reads %j',
    (wish) => {
      expect(matchLanguage(AVAILABLE, wish)).toBeUndefined();
    },
  );

  it('prefers the same region', () => {
    expect(matchLanguage(['pt-BR', 'pt-PT'], 'pt-PT')).toBe('pt-PT');
    expect(matchLanguage(['pt-BR', 'pt-PT'], 'pt')).toBe('pt-BR');
    expect(matchLanguage(['pt-BR'], 'pt-PT')).toBe('pt-BR');
  });
});

describe('the language of a page (ux 3)', () => {
  const nothing = { asked: null, given: [null, null], accepted: undefined };
  it.each([
    ['what is asked for', { asked: 'es', given: ['tr', 'ar'], accepted: 'zh' }, 'es'],
    ["the payment's own", { ...nothing, given: ['tr', 'ar'], accepted: 'zh' }, 'tr'],
    ["the gateway's", { ...nothing, given: [null, 'ar'], accepted: 'zh' }, 'ar'],
    ["the browser's", { ...nothing, accepted: 'zh' }, 'zh-CN'],
    ['English', nothing, 'en'],
    ['the next wish, silently, where one is unknown', { asked: 'klingon!', given: ['xx', 'fr'], accepted: 'fr, tr;q=0.1' }, 'tr'],
  ])('is %s', (_what, wishes, language) => {
    expect(chooseLanguage(AVAILABLE, wishes)).toBe(language);
  });

  it.each([
    ['fr-CH, fr;q=0.9, tr;q=0.8, es;q=0.85, *;q=0.5', 'es'],
    ['tr;q=0, es;q=0.1', 'es'],
    ['*', 'en'],
    ['tr;q=2', 'en'],
    ['tr;q=', 'en'],
    [';;;,,,', 'en'],
    [`${'xx,'.repeat(400)}tr`, 'en'],
  ])('is read from Accept-Language: %s', (accepted, language) => {
    expect(chooseLanguage(AVAILABLE, { ...nothing, accepted })).toBe(language);
  });
});

test('a language is one file: it is offered by its own name and written in its own direction', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-locales-'));
  try {
    expect(() => loadCatalogues(folder)).toThrow(/no en\.json/);
    writeFileSync(join(folder, 'en.json'), JSON.stringify({ 'language.name': 'English', 'language.direction': 'ltr' }));
    writeFileSync(join(folder, 'ar.json'), JSON.stringify({ 'language.name': 'العربية', 'language.direction': 'rtl' }));
    writeFileSync(join(folder, 'README.md'), '');
    const catalogues = loadCatalogues(folder);
    expect(catalogues.tags).toEqual(['en', 'ar']);
    expect(catalogues.choices).toEqual([
      { tag: 'en', name: 'English' },
      { tag: 'ar', name: 'العربية' },
    ]);
    expect([catalogues.language('ar').direction, catalogues.language('en').direction]).toEqual(['rtl', 'ltr']);
    expect(() => catalogues.language('fr')).toThrow(/fr/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
