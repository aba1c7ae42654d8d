import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SentJson, withSent } from '#shared/core/sent-json.ts';

const AS_SENT = '{"b":12345678901234567890,"a":1.50,"__proto__":{"x":[1e3,"\\u00e9 \\" { , ] "]},"constructor":-0.0,"c":null}';

describe('a document that is given back as it was sent (contract 2.8)', () => {
  it('stands in an answer with every digit, escape and key in its place, and no space between its tokens', () => {
    expect(withSent(JSON.stringify({ list: [{ metadata: new SentJson(AS_SENT) }], after: 'x' }))).toBe(`{"list":[{"metadata":${AS_SENT}}],"after":"x"}`);
    expect(new SentJson(' { "a" :\n [ 1 , " x " ] } ').text).toBe('{"a":[1," x "]}');
  });

  it('says of its members the key and the text, in their order', () => {
    expect(new SentJson(AS_SENT).members()).toEqual([
      ['b', '12345678901234567890'],
      ['a', '1.50'],
      ['__proto__', '{"x":[1e3,"\\u00e9 \\" { , ] "]}'],
      ['constructor', '-0.0'],
      ['c', 'null'],
    ]);
    expect(new SentJson('{}').members()).toEqual([]);
    expect(new SentJson(AS_SENT).member('c')).toBeUndefined();
    expect(new SentJson(AS_SENT).member('toString')).toBeUndefined();
  });

  it('is what JSON.parse would read of it, for any document, and so is the answer that holds it', () => {
    const text = fc.string({ unit: 'binary' }).filter((one) => !one.includes('\0') && !/\p{Surrogate}/u.test(one));
    const document = fc.dictionary(
      text,
      fc.oneof(fc.jsonValue({ maxDepth: 3 }), text).filter((one) => !JSON.stringify(one).includes('\\u0000')),
    );
    fc.assert(
      fc.property(document, text, fc.constantFrom(0, 1, '\t'), (value, other, space) => {
        const plain = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        const sent = new SentJson(JSON.stringify(value, null, space));
        expect(sent.text).toBe(JSON.stringify(plain));
        expect(sent.members().map(([key, one]) => [key, JSON.parse(one) as unknown])).toEqual(Object.entries(plain));
        expect(withSent(JSON.stringify({ other, sent, [other]: [sent, other] }))).toBe(JSON.stringify({ other, sent: plain, [other]: [plain, other] }));
      }),
    );
  });
});
