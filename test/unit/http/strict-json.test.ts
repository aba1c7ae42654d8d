import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson } from '#api/http/strict-json.ts';

const parse = (text: string): unknown => parseStrictJson(new TextEncoder().encode(text));
const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
  return 'accepted';
};

describe('parseStrictJson', () => {
  it('reads every JSON value exactly as JSON.parse does, whatever its keys are called (decisions 8)', () => {
    const key = fc.oneof({ weight: 9, arbitrary: fc.string().filter((text) => !text.includes('\0')) }, fc.constantFrom('__proto__', 'constructor', 'toString'));
    const value = fc.object({
      key,
      maxDepth: 5,
      values: [
        fc.string().filter((text) => !text.includes('\0')),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      ],
    });
    fc.assert(
      fc.property(value, fc.constantFrom(0, 1, 3), (one, spaces) => {
        expect(parse(JSON.stringify(one, null, spaces))).toEqual(JSON.parse(JSON.stringify(one)));
      }),
    );
  });

  it.each([
    ['a key twice', '{"a":1,"a":2}'],
    ['a key twice under two spellings', '{"a":1,"\\u0061":2}'],
    ['a key twice far apart', `{"a":1,${' '.repeat(500)}"b":[{"a":1}],"a"${'\n'.repeat(500)}:2}`],
    ['a key twice in an inner object', '[{"x":{"k":"}","k":1}}]'],
    ['nine levels', `${'['.repeat(9)}${']'.repeat(9)}`],
    ['half a document', '{"a":'],
    ['two documents', '{}{}'],
    ['a byte order mark', '\ufeff{}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{/* */}'],
    ['NaN', '{"a":NaN}'],
  ])('refuses %s', (_what, text) => expect(codeOf(() => parse(text))).toBe('malformed_json'));

  it.each([
    ['a key again in another object', '{"a":{"a":1},"b":{"a":1}}'],
    ['a value that looks like a key', '{"a":"a","b":"a:"}'],
    ['quotes and braces in strings', '{"a":"\\"{[,:}","b":"\\\\"}'],
    ['a key that objects have already', '{"__proto__":{"admin":true},"a":[{"constructor":{}}]}'],
    ['eight levels', `${'['.repeat(8)}${']'.repeat(8)}`],
  ])('accepts %s', (_what, text) => expect(parse(text)).toEqual(JSON.parse(text)));

  it('refuses bytes that are not UTF-8', () => expect(codeOf(() => parseStrictJson(new Uint8Array([0x22, 0xc3, 0x28, 0x22])))).toBe('malformed_json'));

  it.each(['{"a":"\\u0000"}', '{"a":["\\ud800"]}', '{"\\u0000":1}'])('refuses %s, which no column can hold', (text) =>
    expect(codeOf(() => parse(text))).toBe('validation_error'),
  );

  it('names the field that holds what cannot be stored', () => expect(() => parse('{"a":{"b":[1,"\\u0000"]}}')).toThrow(/^a\.b\[1\]: /));
});
