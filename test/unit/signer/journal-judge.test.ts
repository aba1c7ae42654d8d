import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '#api/signer/journal/judge.ts';
import { anEntry } from '#test/fixtures/journal-entry.ts';

const ORDER = { shrinks: false };

describe('what the journal makes of the next bytes of an order', () => {
  it('lets the first bytes of an order pass, and any further ones in their slot', () => {
    expect(judge([], anEntry(), ORDER)).toEqual({ allow: true });
    expect(judge([anEntry({ txid: 'a' }), anEntry({ txid: 'b', rawFee: 9n })], anEntry({ txid: 'c' }), ORDER)).toEqual({ allow: true });
  });

  it('asks for the proof that every other slot is dead before anything pays the order again', () => {
    const [first, bump, second] = [anEntry({ slot: 'nonce:w:1' }), anEntry({ slot: 'nonce:w:1', txid: 'b' }), anEntry({ slot: 'nonce:w:2', txid: 'c' })];
    const closed = anEntry({ slot: 'nonce:w:7', kind: 'close', recipient: 'w', rawAmount: 0n });
    expect(judge([first, bump, closed, second], anEntry({ slot: 'nonce:w:3' }), ORDER)).toEqual({ prove: [[first, bump], [second]] });
    expect(judge([first, bump, closed, second], anEntry({ slot: 'nonce:w:2' }), ORDER)).toEqual({ prove: [[first, bump]] });
  });

  it.each([
    ['another recipient', { recipient: 'thief' }, 'to recipient'],
    ['another asset', { contract: '0xother' }, 'another asset'],
    ['another amount', { rawAmount: 101n }, 'for 100 units'],
    ['another network', { network: 'tron' }, 'on ethereum'],
  ])('refuses %s, in the same slot or another, however dead the first is', (_what, change, why) => {
    for (const slot of ['nonce:w:1', 'nonce:w:2'])
      expect(judge([anEntry({ slot: 'nonce:w:1' })], anEntry({ slot, ...change }), ORDER)).toEqual({ refuse: expect.stringContaining(why) });
  });

  it('lets what changes its place among us lose its fee, and nothing else', () => {
    const before = [anEntry({ slot: 'nonce:w:1' })];
    expect(judge(before, anEntry({ slot: 'nonce:w:1', rawAmount: 90n }), { shrinks: true })).toEqual({ allow: true });
    expect(judge(before, anEntry({ slot: 'nonce:w:1', rawAmount: 90n, recipient: 'thief' }), { shrinks: true })).toHaveProperty('refuse');
  });

  it('always lets a slot be closed: that pays nobody', () => {
    expect(judge([anEntry()], anEntry({ slot: 'nonce:w:1', kind: 'close', recipient: 'w', contract: null, rawAmount: 0n }), ORDER)).toEqual({ allow: true });
  });

  it('never lets two slots of an order be paid without a proof, whatever is asked for in whatever order', () => {
    const asked = fc.record({
      slot: fc.constantFrom('nonce:w:1', 'nonce:w:2', 'nonce:w:3', 'nonce:v:1'),
      recipient: fc.constantFrom('recipient', 'thief'),
      rawAmount: fc.constantFrom(100n, 101n),
      kind: fc.constantFrom('transfer' as const, 'close' as const),
    });
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 12 }), fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (asks, proofs) => {
        const signed: ReturnType<typeof anEntry>[] = [];
        const dead = new Set<string>();
        for (const [at, ask] of asks.entries()) {
          const entry = anEntry({ ...ask, txid: String(at) });
          const judged = judge(signed, entry, ORDER);
          if ('prove' in judged && proofs[at]) for (const slot of judged.prove) dead.add((slot[0] as (typeof signed)[0]).slot);
          if ('allow' in judged || ('prove' in judged && proofs[at])) signed.push(entry);
          // What may still be mined pays one recipient one amount from one slot.
          const alive = signed.filter(({ kind, slot }) => kind === 'transfer' && !dead.has(slot));
          expect(new Set(alive.map(({ slot }) => slot)).size).toBeLessThanOrEqual(1);
          const paying = signed.filter(({ kind }) => kind === 'transfer');
          expect(new Set(paying.map(({ recipient, rawAmount }) => `${recipient} ${rawAmount}`)).size).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
