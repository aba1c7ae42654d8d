import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inverse, readDecimal } from '#api/clients/prices/decimal.ts';
import { at, parseNumbersAsText } from '#api/clients/prices/http.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { decimal } from '../core/arbitraries.ts';
import { fraction, over, rational, round, text } from '../core/rational.ts';

const read = (value: unknown): string | undefined => {
  const scaled = readDecimal(value);
  return scaled === undefined ? undefined : formatAmount(scaled);
};

describe('a decimal of a source', () => {
  it.each([
    ['2500', '2500'],
    ['0.0000162', '0.0000162'],
    ['1.62e-5', '0.0000162'],
    ['1.5E+3', '1500'],
    ['007.10', '7.1'],
    ['-3', '-3'],
    ['0.1234567890123456785', '0.123456789012345679'],
    ['0.1234567890123456784', '0.123456789012345678'],
    ['1e-30', '0'],
  ])('%s is %s', (written, expected) => {
    expect(read(written)).toBe(expected);
  });

  it.each([['', 'x', '1,5', ' 1', '1.', '.5', 'NaN', 'Infinity', '1e999', '0x10', '1'.repeat(41), null, undefined, 5, {}]].flat().map((one) => [one]))(
    '%j is none',
    (written) => {
      expect(readDecimal(written)).toBeUndefined();
    },
  );

  it('keeps every digit of whatever has at most 18 decimals', () => {
    fc.assert(
      fc.property(decimal(), (written) => {
        expect(readDecimal(written)).toBe(parseTrusted(written));
      }),
    );
  });

  it('is inverted as exact fractions are, halves rounded up', () => {
    fc.assert(
      fc.property(decimal({ positive: true }), (written) => {
        const expected = round(over(fraction(1n, 1n), rational(written)), 18, 'half-up');
        expect(formatAmount(inverse(readDecimal(written)) as bigint)).toBe(text(expected));
      }),
    );
    expect(inverse(0n)).toBeUndefined();
    expect(inverse(-1n)).toBeUndefined();
    expect(inverse(undefined)).toBeUndefined();
  });
});

describe('JSON of a source', () => {
  it('keeps numbers as they are written, and digits in strings as they are', () => {
    const parsed = parseNumbersAsText('{"usd":2500.123456789012345678,"s":"id 42 \\"7\\"","list":[1e-7,-0,true,null],"n9":{"8":1}}');
    expect(parsed).toEqual({ usd: '2500.123456789012345678', s: 'id 42 "7"', list: ['1e-7', '-0', true, null], n9: { '8': '1' } });
  });

  it('reads as JSON.parse does, numbers apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const numbersAsText = JSON.parse(JSON.stringify(value), (_key, one: unknown) => (typeof one === 'number' ? JSON.stringify(one) : one)) as unknown;
        expect(parseNumbersAsText(JSON.stringify(value))).toEqual(numbersAsText);
      }),
    );
  });

  it.each(['', '<html><body>busy</body></html>', '{"a":', 'undefined'])('refuses %j', (body) => {
    expect(() => parseNumbersAsText(body)).toThrow(expect.objectContaining({ problem: 'malformed' }));
  });

  it.each([
    ['a string without an end', `["${'\\"'.repeat(1_000_000)}`],
    ['a string that ends in an escape', `["${'\\"'.repeat(1_000_000)}\\`],
    ['nothing but quotes', '"'.repeat(2_000_001)],
    ['nothing but digits', '1'.repeat(2_000_000)],
    ['nothing but brackets', '['.repeat(2_000_000)],
  ])('is refused in one pass, however long: %s', (_what, body) => {
    try {
      parseNumbersAsText(body);
    } catch (error) {
      expect(error).toMatchObject({ problem: 'malformed' });
    }
  });

  it('is followed along own properties only', () => {
    expect(at({ a: [{ b: '1' }] }, 'a', 0, 'b')).toBe('1');
    expect(at({}, 'constructor', 'name')).toBeUndefined();
    expect(at(null, 'a')).toBeUndefined();
    expect(at('text', 'length')).toBeUndefined();
  });
});
