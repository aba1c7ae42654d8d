import { describe, expect, it } from 'vitest';
import { isZero, minimumInAsset } from '#api/checkout/page/amounts.ts';
import { formatFiat } from '#api/page/fiat.ts';

/** Without the marks that set the direction, which are there but not seen. */
const seen = (text: string) => text.replace(/[\u200e\u200f\u061c]/g, '').replace(/[\u00a0\u202f]/g, ' ');

describe('an amount of a display currency', () => {
  it.each([
    ['49.90', 'USD', 'en', '$49.90'],
    ['49.9', 'USD', 'en', '$49.90'],
    ['49', 'USD', 'en', '$49.00'],
    ['1234567.5', 'EUR', 'es', '1.234.567,50 €'],
    ['49.90', 'TRY', 'tr', '₺49,90'],
    ['49.90', 'USD', 'zh-CN', 'US$49.90'],
    ['49.90', 'USD', 'ar', '49.90 US$'],
    ['1000.00', 'JPY', 'en', '¥1,000'],
    ['1.2345', 'KWD', 'en', 'KWD 1.2345'],
  ])('%s %s is written in %s as %s', (amount, currency, tag, text) => {
    expect(seen(formatFiat(amount, currency, tag))).toBe(text);
  });

  it('keeps digits that a float would lose', () => {
    expect(formatFiat('123456789.123456789012345678', 'USD', 'en')).toBe('$123,456,789.123456789012345678');
  });

  it('keeps Latin digits in languages and regions that have their own', () => {
    for (const tag of ['ar', 'ar-EG', 'fa', 'mr']) expect(formatFiat('49.90', 'EUR', tag)).toMatch(/49.90/);
  });

  it('keeps the letters of a currency before its sign in a language that runs from right to left', () => {
    expect(formatFiat('49.90', 'USD', 'ar')).toMatch(/US\$\u200e$/);
    expect(formatFiat('49.90', 'USD', 'es')).toMatch(/US\$$/);
  });

  it('is shown as it came when nothing is known of its currency', () => {
    expect(formatFiat('5.00', 'POINTS', 'en')).toBe('5.00 POINTS');
    expect(formatFiat('?', 'USD', 'en')).toBe('? USD');
  });
});

describe('a fee', () => {
  it.each([
    ['0', true],
    ['0.000000', true],
    ['0.000001', false],
    ['10', false],
  ])('of %s is nothing: %s', (amount, nothing) => {
    expect(isZero(amount)).toBe(nothing);
  });
});

describe('the minimum of an open amount', () => {
  it.each([
    ['1', '1', 6, '1'],
    ['5', '0.9998', 6, '5.001001'],
    ['1', '61234.12345678', 8, '0.00001634'],
    ['1', '3', 18, '0.33333334'],
  ])('of %s USD at %s with %d decimals is rounded up: %s', (minimum, price, decimals, coins) => {
    expect(minimumInAsset(minimum, price, decimals)).toBe(coins);
  });
});
