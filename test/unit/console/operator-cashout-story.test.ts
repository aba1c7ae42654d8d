import { describe, expect, it } from 'vitest';
import { depthOf, operatorCashoutStory } from '#api/console/page/ops-cashout-story.ts';
import { inEnglish } from '#test/fixtures/console-texts.ts';

const AT = (minute: number) => `2026-11-21T10:0${minute}:00.000Z`;
type Told = Parameters<typeof operatorCashoutStory>[0];
const item = (more: object) =>
  ({ status: 'REQUESTED', amount: '25', assetSymbol: 'USDT', createdAt: AT(0), waitReason: null, holdReason: null, ...more }) as Told['item'];
const event = (name: string, from: string | null, to: string, minute: number, facts = {}) => ({ event: name, from, to, facts, actor: 'anna', at: AT(minute) });
const payout = (more: object) => ({
  id: 'p',
  purpose: 'settlement',
  family: 1,
  status: 'INCLUDED',
  txHash: '0xab',
  height: 95,
  failure: null,
  createdAt: AT(1),
  finalAt: null,
  attempts: [
    { number: 1, kind: 'transfer', txHash: '0xaa', signedAt: AT(2), expiresAt: null },
    { number: 2, kind: 'transfer', txHash: '0xab', signedAt: AT(3), expiresAt: null },
  ],
  ...more,
});
const told = (more: Partial<Told>) => operatorCashoutStory({ item: item({}), events: [], payouts: [], chain: { tip: 100, final: 90 }, ...more }, inEnglish);

describe('the story of a cashout for operators', () => {
  it('goes from the request over every signature to the block that bears it, and how deep that is', () => {
    const story = told({
      item: item({ status: 'PROCESSING' }),
      events: [
        event('CREATED', null, 'PENDING_APPROVAL', 0),
        event('APPROVED', 'PENDING_APPROVAL', 'REQUESTED', 1),
        event('DISPATCHED', 'REQUESTED', 'PROCESSING', 2),
      ],
      payouts: [payout({})],
    });
    expect(story.map(({ title }) => title)).toEqual([
      'Asked for',
      'Approved',
      'Handed over to be sent',
      'Signed: cashout',
      'Signed again: cashout',
      'In a block: cashout, 6 of 11 blocks',
    ]);
    expect(story.at(-1)).toMatchObject({ state: 'next', txHash: '0xab', detail: 'block 95' });
  });

  it('ends with what came of it, and waits for nothing then', () => {
    const story = told({
      item: item({ status: 'SETTLED' }),
      events: [event('COMPLETED', 'PROCESSING', 'SETTLED', 5)],
      payouts: [payout({ status: 'CONFIRMED', finalAt: AT(4) })],
    });
    expect(story.slice(-2).map(({ title, state }) => [title, state])).toEqual([
      ['Final: cashout', 'done'],
      ['Settled', 'done'],
    ]);
    const failed = told({ item: item({ status: 'REJECTED' }), events: [event('OPERATOR_REJECTED', 'REQUESTED', 'REJECTED', 5, { reason: 'a test' })] });
    expect(failed.at(-1)).toMatchObject({ title: 'Rejected by an operator', detail: 'anna · a test', state: 'wrong' });
  });

  it.each([
    ['PENDING_APPROVAL', { holdReason: 'approval_cap' }, 'Waits for somebody to approve it', 'Its value is above what may be sent without approval.'],
    ['UNDERFUNDED', {}, 'Waits until the balance covers it', null],
    ['WAITING_AML_CREDIT', {}, 'Waits for screening credit', null],
    ['REQUESTED', { waitReason: 'daily_cap' }, 'Claimed, and waits to be sent', 'daily cap'],
    ['PROCESSING', {}, 'Signed, and waits for its block', null],
  ])('says of one that is %s what it waits for and why', (status, more, title, detail) => {
    expect(told({ item: item({ status, ...more }) }).at(-1)).toMatchObject({ title, detail, state: 'next' });
  });

  it('counts the blocks that bear a transaction against those that make one final', () => {
    expect(depthOf(100, { tip: 100, final: 90 })).toEqual({ blocks: 1, of: 11 });
    expect(depthOf(101, { tip: 100, final: 90 })).toEqual({ blocks: 0, of: 11 });
    expect(depthOf(1, { tip: 5, final: 5 })).toEqual({ blocks: 5, of: 1 });
    expect(depthOf(1, null)).toEqual({ blocks: 0, of: 1 });
  });
});
