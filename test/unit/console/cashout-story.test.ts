import { describe, expect, it } from 'vitest';
import { cashoutStoryOf } from '#api/console/page/cashout-story.ts';
import type { CashoutScreen } from '#api/console/page/model.ts';
import { inEnglish } from '#test/fixtures/console-texts.ts';

type Item = CashoutScreen['item'];
const AT = (minute: number) => `2026-11-21T10:0${minute}:00.000Z`;
const item = (more: Partial<Item>): Item => ({
  id: '9f8a7b6c-5d4e-4f2a-9b0c-9d8e7f6a5b4c',
  address: 'T',
  assetName: 'USDT',
  network: 'tron',
  source: 'API',
  status: 'REQUESTED',
  route: 'GREEN',
  amount: '25',
  feeLocked: '',
  netAmount: '',
  receivedAmount: '',
  txHash: '',
  blockchainUrl: '',
  createdAt: AT(0),
  ...more,
});
const told = (more: Partial<Item>) => cashoutStoryOf(inEnglish, item(more)).map(({ at, title, state }) => [at, title, state]);

describe('the story of a cashout', () => {
  it('goes from the request to the transaction that paid it', () => {
    const settled = { status: 'SETTLED', feeLocked: '1', receivedAmount: '24', txHash: '0xab', dispatchAt: AT(1), settledAt: AT(2) } as const;
    expect(told(settled)).toEqual([
      [AT(0), 'Asked for', 'done'],
      [AT(1), 'May be sent', 'done'],
      [AT(2), 'Settled', 'done'],
    ]);
    expect(cashoutStoryOf(inEnglish, item(settled)).at(-1)).toMatchObject({ txHash: '0xab', detail: '24 USDT sent' });
  });

  it.each([
    ['PENDING_APPROVAL', { holdReason: 'approval_cap' }, ['Asked for', 'Held for approval', 'It waits for somebody to approve it.']],
    ['UNDERFUNDED', { shortfall: '3', expiresAt: AT(9) }, ['Asked for', 'It waits for 3 USDT more.', 'Rejected by itself, if nothing comes']],
    ['UNDERFUNDED', { expiresAt: AT(9) }, ['Asked for', 'It waits until the balance covers it.', 'Rejected by itself, if nothing comes']],
    ['WAITING_AML_CREDIT', { expiresAt: AT(9) }, ['Asked for', 'It waits for screening credit.', 'Rejected by itself, if nothing comes']],
    ['REQUESTED', { dispatchAt: AT(1) }, ['Asked for', 'May be sent', 'It is claimed from the balance and waits to be sent.']],
    ['PROCESSING', { dispatchAt: AT(1) }, ['Asked for', 'May be sent', 'It is being sent.']],
  ] as const)('says of one that is %s what it waits for', (status, more, titles) => {
    const story = cashoutStoryOf(inEnglish, item({ status, ...more }));
    expect(story.map(({ title }) => title)).toEqual(titles);
    expect(story.at(-1)?.state).toBe('next');
  });

  it.each([
    ['CANCELLED', 'Your server withdrew it.'],
    ['PARKING_EXPIRED', 'It waited for too long.'],
    ['OPERATOR', 'The operator of this deployment rejected it.'],
  ] as const)('says of one that was rejected by %s why', (rejectReason, detail) => {
    expect(cashoutStoryOf(inEnglish, item({ status: 'REJECTED', rejectedAt: AT(3), rejectReason })).at(-1)).toMatchObject({
      at: AT(3),
      title: 'Rejected',
      detail,
      state: 'wrong',
    });
  });
});
