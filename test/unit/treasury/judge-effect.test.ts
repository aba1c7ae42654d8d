import { describe, expect, it } from 'vitest';
import { judgeClose, judgeEffect, type OutgoingTransfer } from '#api/treasury/judge-effect.ts';

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
