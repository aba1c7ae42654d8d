import { describe, expect, it } from 'vitest';
import { translator } from '#api/checkout/page/messages.ts';
import type { Catalogue, PageLanguage } from '#api/page/catalogue.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';

const catalogues = readCatalogues();
const language = (tag: string): PageLanguage => {
  const messages = catalogues.get(tag) as Catalogue;
  return { tag, direction: messages['language.direction'] as PageLanguage['direction'], messages };
};
const arabic = translator(language('ar'));
const english = translator(language('en'));

describe('a text', () => {
  it('has its placeholders filled in', () => {
    expect(english('title.short', { amount: '20.14 USDT', usd: '$20.13' })).toBe('Short by 20.14 USDT (≈ $20.13)');
  });

  it('counts as its language does, in Latin digits', () => {
    expect([1, 2].map((count) => english('say.minutes-open', { count }))).toEqual(['1 minute left', '2 minutes left']);
    expect([1, 2, 3, 11, 100].map((count) => arabic('say.minutes-open', { count }))).toEqual([
      'بقيت دقيقة واحدة',
      'بقيت دقيقتان',
      'بقيت 3 دقائق',
      'بقيت 11 دقيقة',
      'بقيت 100 دقيقة',
    ]);
  });

  it('keeps the order of an amount in a language that runs from right to left', () => {
    expect(arabic('title.pay', { amount: '$49.90' })).toBe('ادفع \u2068$49.90\u2069');
  });

  it('keeps the order of what begins with a ticker but is told in such a language', () => {
    const asset = arabic('asset.coin', { symbol: 'ETH', network: 'Base' });
    expect(arabic('pay.warning', { asset })).toContain(`أرسل \u2067${asset}\u2069 فقط`);
  });

  it('keeps the order of a sentence around a name that runs the other way, and leaves other names as they are', () => {
    expect(english('return.to', { merchant: 'متجر' })).toBe('Return to \u2068متجر\u2069');
    expect(english('return.to', { merchant: 'Acme' })).toBe('Return to Acme');
  });

  it('takes a name for what it is, not for a message or markup', () => {
    expect(english('return.to', { merchant: "{amount} <b>'#'</b>" })).toBe("Return to {amount} <b>'#'</b>");
  });

  it('is read once however often it is asked for', () => {
    expect(translator(language('en'))).toBe(english);
    expect(translator({ ...language('en'), messages: { ...catalogues.get('en') } })).not.toBe(english);
  });
});
