import { describe, expect, it } from 'vitest';
import { parseExact } from '#shared/chains/bitcoin/json.ts';
import { bytesOf, cutAnswers, putBack, readAnswer, UnreadHex } from '#shared/chains/bitcoin/unread-hex.ts';

const LONG = 'ab'.repeat(100);

/** What comes of a reply: cut, parsed and put back. */
function read(text: string): unknown {
  const cut = cutAnswers(Buffer.from(text));
  return putBack(parseExact(cut.rest.toString()), cut);
}

const textsOf = (reply: unknown): unknown => (reply as { result: unknown }[]).map(({ result }) => readAnswer(result));

describe('long answers of a reply', () => {
  it('are left unread among others, of either version of JSON-RPC', () => {
    const reply = read(
      `[{"result":"${LONG}","error":null,"id":1},{"jsonrpc":"2.0","result":"00ff","id":2},{"jsonrpc":"2.0","result":{"value":0.1},"id":3},{"id":4,"result":"${LONG}cd"}]`,
    ) as { id: number; result: unknown }[];
    expect(reply.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(reply.map(({ result }) => result instanceof UnreadHex)).toEqual([true, false, false, true]);
    expect(textsOf(reply)).toEqual([LONG, '00ff', { value: '0.1' }, `${LONG}cd`]);
    expect(bytesOf(reply[3]?.result)).toEqual(Buffer.from(`${LONG}cd`, 'hex'));
  });

  it('stand for the same in capital letters', () => {
    expect(bytesOf(LONG.toUpperCase())).toEqual(Buffer.from(LONG, 'hex'));
    expect([bytesOf(`${LONG}x`), bytesOf('abc'), bytesOf('ABCG')]).toEqual([null, null, null]);
  });

  it('are read of a reply that is no list, and from a node that puts spaces', () => {
    expect(readAnswer((read(`{"result":"${LONG}","error":null,"id":1}\n`) as { result: unknown }).result)).toBe(LONG);
    expect(textsOf(read(`[{"result" : "${LONG}", "id": 1}]`))).toEqual([LONG]);
  });

  it('leave what is no JSON without any', () => {
    for (const text of [`{"result":"${LONG}`, `{"result":"${LONG}"`, `{"result":"${LONG}\\""}`, `["result":"${LONG}"]`])
      expect(() => read(text), text).toThrow(SyntaxError);
  });

  it('cannot be named by a node: it gets what it sent, or nothing', () => {
    expect(textsOf(read(`[{"result":"unread:1","id":1},{"result":"unread:0","id":2},{"result":"unread:x","id":3}]`))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(textsOf(read(`[{"result":"unread:0","id":1},{"result":"${LONG}","id":2}]`))).toEqual([LONG, LONG]);
  });

  it.each([
    [null],
    [7],
    [{}],
    [['ab']],
    ['zz'],
    ['abc'],
    [new UnreadHex(Buffer.from(`${LONG}0`))],
    [new UnreadHex(Buffer.from(`${LONG}zz`))],
    [new UnreadHex(Buffer.from('é'))],
  ])('are no bytes when they are %o', (answer) => {
    expect(bytesOf(answer)).toBeNull();
  });
});
