import fc from 'fast-check';
import { Invariant } from '#shared/core/errors.ts';
import { describe, expect, it } from 'vitest';
import { DOUBT, endOfValue } from '#shared/chains/json-bytes.ts';
import { readAnswer, scanReply, Unread } from '#shared/chains/unread.ts';

const scan = (text: string | Buffer): unknown => {
  const found = scanReply(Buffer.from(text as string));
  return Array.isArray(found) ? found.map(({ id, result }) => ({ id, result: result.read() })) : found && { id: found.id, result: found.result.read() };
};

describe('a reply of the plainest form', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"result":"0x1"}',
    '[{"jsonrpc":"2.0","id":2,"result":[]},{"result":{"a":[1,-2.5,true,null,{}]},"id":1,"jsonrpc":"2.0"}]\n',
    '[{"id":0,"result":[{"logs":[{"topics":["0x"]}]}]}]',
    '{"id":1,"result":{"difficulty":4.656542373906925e-10,"work":[1E+2,-3e4,0e0]}}',
  ])('is cut into what JSON.parse makes of it: %s', (text) => {
    const answers = [JSON.parse(text) as { id: number; result: unknown }].flat().map(({ id, result }) => ({ id, result }));
    expect([scan(text)].flat()).toEqual(answers);
  });

  it.each([
    ['an error', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}'],
    ['an error beside a result', '{"id":1,"result":1,"error":null}'],
    ['a result told twice', '{"id":1,"result":1,"result":2}'],
    ['an id told twice', '{"id":1,"id":2,"result":2}'],
    ['no id', '{"jsonrpc":"2.0","result":2}'],
    ['an id that is text', '{"id":"1","result":2}'],
    ['an id with a leading zero', '{"id":01,"result":2}'],
    ['an id with an exponent', '{"id":1e0,"result":2}'],
    ['an id below zero', '{"id":-1,"result":2}'],
    ['an escaped letter', '{"id":1,"result":{"\\u0061ddress":1}}'],
    ['an escaped quote', '{"id":1,"result":"\\""}'],
    ['a letter beyond ASCII', '{"id":1,"result":"é"}'],
    ['bytes that are no UTF-8', Buffer.from([...Buffer.from('{"id":1,"result":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ['a mark of byte order', '\ufeff{"id":1,"result":1}'],
    ['a control character', '{"id":1,"result":"\u0001"}'],
    ['a space', '{"id": 1,"result":1}'],
    ['a comma too many', '{"id":1,"result":[1,]}'],
    ['a comma after the last answer', '[{"id":1,"result":1},]'],
    ['a colon too few', '{"id":1,"result":{"a"}}'],
    ['brackets that do not match', '{"id":1,"result":[}}'],
    ['half an exponent', '{"id":1,"result":[1e]}'],
    ['an exponent that is a sign', '{"id":1,"result":[1e-]}'],
    ['an exponent with a fraction', '{"id":1,"result":[1e2.5]}'],
    ['a number with a sign', '{"id":1,"result":+1}'],
    ['half a number', '{"id":1,"result":1.}'],
    ['a word that is none', '{"id":1,"result":nul}'],
    ['no end', '{"id":1,"result":["0x'],
    ['more after its end', '{"id":1,"result":1}{}'],
    ['an empty list', '[]'],
    ['nothing', ''],
    ['a key of a number', '{"id":1,"result":{1:1}}'],
  ])('is not one with %s', (_what, text) => {
    expect(scan(text)).toBeNull();
  });

  it('is nothing but JSON: whatever is walked over is what JSON.parse reads', () => {
    const pieces = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-', '0', '.5', 'null', 'true', '\\', ' ', 'e1', 'E', '+', '{"a":', '[1', '"}'),
      { maxLength: 14 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        const end = endOfValue(Buffer.from(text), 0);
        if (end !== DOUBT) JSON.parse(text.slice(0, end));
      }),
      { numRuns: 20_000, seed: 7 },
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        const end = endOfValue(Buffer.from(text), 0);
        // fc.json puts no space anywhere; what is left to doubt is what is escaped or not ASCII.
        if (!/[^ -~]|\\/.test(text)) expect(end).toBe(text.length);
      }),
      { seed: 8 },
    );
  });

  it('is left to JSON.parse below the depth that a walk keeps in mind, however deep it goes', () => {
    const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(endOfValue(Buffer.from(deep(65)), 0)).toBe(130);
    expect(endOfValue(Buffer.from(deep(66)), 0)).toBe(DOUBT);
    expect(endOfValue(Buffer.from('['.repeat(1_000_000)), 0)).toBe(DOUBT);
  });
});

it('an answer is read once somebody wants it as it always was', () => {
  expect(readAnswer(new Unread(Buffer.from('[{"a":1}]')))).toEqual([{ a: 1 }]);
  expect(readAnswer('0x1')).toBe('0x1');
});

it('an answer that was released is never read again, whoever still has it, and says so once', () => {
  let released = 0;
  const answer = new Unread(Buffer.from('[{"a":1}]'), () => {
    released += 1;
  });
  expect(answer.read(1, 8)).toEqual({ a: 1 });
  answer.release();
  answer.release();
  expect(released).toBe(1);
  for (const read of [() => answer.read(), () => answer.read(1, 8), () => answer.bytes, () => readAnswer(answer)]) expect(read).toThrow(Invariant);
});
