import { describe, expect, it } from 'vitest';
import { readReply, readUnread } from '#shared/chains/bitcoin/http.ts';
import { parseExact } from '#shared/chains/bitcoin/json.ts';
import { bytesOf, cutAnswers, inputsOf, putBack, readAnswer, UnreadHex } from '#shared/chains/bitcoin/unread-hex.ts';
import type { Reply } from '#shared/chains/post.ts';
import { answersById } from '#shared/chains/rpc-answers.ts';
import { Unread } from '#shared/chains/unread.ts';
import { chanceOf, mutated } from '#test/fixtures/mutated-replies.ts';
import { recorded } from '#test/fixtures/recorded-bitcoin.ts';

const LONG = 'ab'.repeat(100);

/** What comes of a reply: cut, parsed and put back. */
function read(text: string): unknown {
  const cut = cutAnswers(Buffer.from(text), 10);
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
    const [again] = read(`[{"id":4,"result":"${LONG}cd"}]`) as { result: unknown }[];
    expect(bytesOf(again?.result)).toEqual(Buffer.from(`${LONG}cd`, 'hex'));
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
  });

  it('are put into one place only, whatever marks a node writes, since whoever reads one gives its memory back', () => {
    expect(textsOf(read(`[{"result":"unread:0","id":1},{"result":"${LONG}","id":2}]`))).toEqual([LONG, undefined]);
    expect(textsOf(read(`[{"result":"${LONG}","id":1},{"result":"unread:0","id":2},{"result":"${LONG}cd","id":3}]`))).toEqual([LONG, undefined, `${LONG}cd`]);
  });

  it('are no more than there were calls, however many a node writes', () => {
    const told = Array.from({ length: 5 }, (_, id) => `{"result":"${LONG}","id":${id}}`);
    const { answers, rest } = cutAnswers(Buffer.from(`[${told.join(',')}]`), 3);
    expect(answers).toHaveLength(3);
    expect(rest.toString()).toContain(told.slice(3).join(','));
  });

  it.each([
    [null],
    [7],
    [{}],
    [['ab']],
    ['zz'],
    ['abc'],
    [new UnreadHex(new Unread(Buffer.from(`${LONG}0`)))],
    [new UnreadHex(new Unread(Buffer.from(`${LONG}zz`)))],
    [new UnreadHex(new Unread(Buffer.from('é')))],
  ])('are no bytes when they are %o', (answer) => {
    expect(bytesOf(answer)).toBeNull();
  });
});

describe('what a transaction spends, of which nothing else is read', () => {
  const told = recorded('bitcoin-core-31.99-regtest', 'getrawtransaction_2') as { vin: unknown[] };
  const replyOf = (result: string): Reply => ({ status: 200, retryAfter: null, body: Buffer.from(`[{"jsonrpc":"2.0","result":${result},"id":7}]\n`) });
  /** The inputs that a reply tells, read one way or the other; 'nothing' where it is none. */
  const inputs = (read: () => unknown): unknown => {
    let answer: unknown;
    try {
      answer = read();
    } catch {
      return 'nothing';
    }
    const found = answersById(answer).get(7);
    return found === undefined || 'error' in found ? 'nothing' : inputsOf(found.result);
  };

  it('is what parsing all of it tells, amounts as they were written', () => {
    const reply = replyOf(JSON.stringify(told).replace('"value":50', '"value":50.00000001'));
    const unread = readUnread(reply, new Set([7]), 1);
    expect(answersById(unread).get(7)).toMatchObject({ result: expect.any(Unread) });
    const found = inputs(() => unread);
    expect(found).toEqual(inputs(() => readReply(reply)));
    expect(found).toMatchObject([{ prevout: { value: '50.00000001' } }]);
  });

  it('is the same of 1,000 changed replies, whatever is told twice, left out or no JSON', () => {
    let walked = 0;
    for (let seed = 1; seed <= 1_000; seed++) {
      const chance = chanceOf(seed);
      const { text } = mutated([told], chance, { words: { names: ['vin', 'prevout', 'txid', 'vout'], values: [told.vin, 1.25] } });
      const vin = `"vin":${JSON.stringify(chance() < 0.5 ? told.vin : [])},`;
      const reply = replyOf(chance() < 0.2 ? text.slice(1, -1).replace('{', `{${vin}`) : text.slice(1, -1));
      const one = inputs(() => readUnread(reply, new Set([7]), 1));
      expect(one, `seed ${seed}`).toEqual(inputs(() => readReply(reply)));
      if (Array.isArray(one)) walked += 1;
    }
    expect(walked).toBeGreaterThan(400);
  });
});
