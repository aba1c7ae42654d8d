import { describe, expect, it } from 'vitest';
import { judgeClose, judgeEffect, judgeOutputs, type OutgoingTransfer } from '#api/payouts/judge-effect.ts';

const meant = { recipient: '0xmerchant', contract: '0xtoken', rawAmount: 100n };
const exact: OutgoingTransfer = { ...meant };

describe('judging what a final transaction of ours did', () => {
  it('is done when exactly the meant transfer left the wallet, and nothing else', () => {
    expect(judgeEffect(meant, true, [exact])).toEqual({ outcome: 'done' });
  });

  it.each([
    ['failed', false, []],
    ['succeeded and moved nothing', true, []],
    ['succeeded and moved zero', true, [{ ...exact, rawAmount: 0n }]],
  ])('may be paid again when it %s', (_, succeeded, moved) => {
    expect(judgeEffect(meant, succeeded, moved)).toMatchObject({ outcome: 'nothing' });
  });

  it.each([
    ['less than was meant', [{ ...exact, rawAmount: 99n }]],
    ['more than was meant', [{ ...exact, rawAmount: 101n }]],
    ['to somebody else', [{ ...exact, recipient: '0xthief' }]],
    ['another asset', [{ ...exact, contract: null }]],
    ['the meant transfer twice', [exact, exact]],
    ['something beside it', [exact, { ...exact, recipient: '0xthief', rawAmount: 1n }]],
  ])('is never paid again by itself when it moved %s', (_, moved) => {
    expect(judgeEffect(meant, true, moved)).toMatchObject({ outcome: 'other' });
  });

  it('does not believe a failed transaction that moved something', () => {
    expect(judgeEffect(meant, false, [exact])).toMatchObject({ outcome: 'other' });
  });
});

describe('judging what a final close did', () => {
  it.each([
    ['moved nothing', []],
    ['sent zero to ourselves', [{ ...exact, recipient: '0xwallet', contract: null, rawAmount: 0n }]],
  ])('is nothing, so that the claim may be paid, when it %s', (_, moved) => {
    expect(judgeClose(moved)).toMatchObject({ outcome: 'nothing', reason: expect.stringContaining('closed') });
  });

  it('is something else when anything moved, the meant transfer included', () => {
    expect(judgeClose([exact])).toMatchObject({ outcome: 'other' });
  });
});

describe('judging what a final transaction of outputs made', () => {
  const wallet = 'bcrt1wallet';
  const payment = { recipient: 'bcrt1merchant', contract: null, rawAmount: 100n, ordinal: 0 };
  const change = { address: wallet, rawAmount: 40n };
  const back = { recipient: wallet, contract: null, rawAmount: 40n, ordinal: 1 };
  const judge = (made: (typeof payment)[], planned: typeof change | null = change) => judgeOutputs(payment, { wallet, change: planned }, made);

  it('is done when exactly the payment and the planned change were made, however they are listed', () => {
    expect(judge([payment, back])).toEqual({ outcome: 'done' });
    expect(judge([back, payment])).toEqual({ outcome: 'done' });
    expect(judge([payment], null)).toEqual({ outcome: 'done' });
  });

  it.each([
    ['nothing', []],
    ['no change', [payment]],
    ['less change', [payment, { ...back, rawAmount: 39n }]],
    ['the change to somebody', [payment, { ...back, recipient: 'bcrt1thief' }]],
    ['less than was meant', [{ ...payment, rawAmount: 99n }, back]],
    ['the payment to somebody', [{ ...payment, recipient: 'bcrt1thief' }, back]],
    ['something beside it', [payment, back, { ...payment, ordinal: 2 }]],
    [
      'both in the other order',
      [
        { ...payment, ordinal: 1 },
        { ...back, ordinal: 0 },
      ],
    ],
  ])('is never paid again by itself when it made %s', (_, made) => {
    expect(judge(made)).toMatchObject({ outcome: 'other' });
  });

  it('is a change nobody planned when there was to be none', () => {
    expect(judge([payment, back], null)).toMatchObject({ outcome: 'other' });
  });

  it('may be paid again when a close gave everything back, and never when it did not', () => {
    const close = (made: (typeof payment)[]) => judgeOutputs(null, { wallet, change: null }, made);
    expect(close([{ ...back, ordinal: 0 }])).toMatchObject({ outcome: 'nothing', reason: expect.stringContaining('closed') });
    expect(close([payment])).toMatchObject({ outcome: 'other' });
    expect(close([])).toMatchObject({ outcome: 'other' });
  });
});
