import type { CashoutScreen } from './model.ts';
import type { StoryEntry } from './story.ts';
import type { Translate } from './texts.ts';

type Item = CashoutScreen['item'];

/** What a status means for whoever waits for the money. Pure. */
export function meaningOf(t: Translate, status: Item['status']): string {
  return t(`cashout.status-${status}`);
}

/** What happened to a cashout so far, and what it waits for. Pure. */
export function cashoutStoryOf(t: Translate, item: Item): StoryEntry[] {
  const { createdAt = null, holdReason, dispatchAt, settledAt, rejectedAt, rejectReason } = item;
  const coins = (amount: string): string => `${amount} ${item.assetName}`;
  return [
    entry(createdAt, t('cashout.asked-for'), { detail: coins(item.amount) }),
    ...(holdReason === undefined ? [] : [entry(createdAt, t('cashout.held'), { detail: t(`cashout.hold-${holdReason}`) })]),
    ...(dispatchAt === undefined
      ? []
      : [entry(dispatchAt, t('cashout.may-be-sent'), { detail: item.feeLocked === '' ? null : t('cashout.reserved', { amount: coins(item.feeLocked) }) })]),
    ...(settledAt === undefined
      ? []
      : [
          entry(settledAt, t('cashout.settled'), {
            detail: t('cashout.settled-amount', { amount: coins(item.receivedAmount) }),
            txHash: item.txHash === '' ? null : item.txHash,
          }),
        ]),
    ...(rejectedAt === undefined
      ? []
      : [entry(rejectedAt, t('cashout.rejected'), { detail: rejectReason === undefined ? null : t(`cashout.reject-${rejectReason}`), state: 'wrong' })]),
    ...next(t, item),
  ];
}

function next(t: Translate, { status, expiresAt, shortfall, assetName }: Item): StoryEntry[] {
  if (status === 'SETTLED' || status === 'REJECTED') return [];
  const title = shortfall === undefined ? meaningOf(t, status) : t('cashout.waits-for', { amount: `${shortfall} ${assetName}` });
  return [entry(null, title, { state: 'next' }), ...(expiresAt === undefined ? [] : [entry(expiresAt, t('cashout.lapses'), { state: 'next' })])];
}

function entry(at: string | null, title: string, more: Partial<StoryEntry>): StoryEntry {
  return { at, title, detail: null, txHash: null, why: null, sent: null, answer: null, steps: [], state: 'done', english: false, ...more };
}
