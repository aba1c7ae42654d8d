import type { CashoutScreen } from './model.ts';
import type { StoryEntry } from './story.ts';

type Item = CashoutScreen['item'];

/** What each status means for whoever waits for the money. */
export const MEANINGS: Readonly<Record<string, string>> = {
  PENDING_APPROVAL: 'It waits for somebody to approve it.',
  UNDERFUNDED: 'It waits until the balance covers it.',
  WAITING_AML_CREDIT: 'It waits for screening credit.',
  REQUESTED: 'It is claimed from the balance and waits to be sent.',
  PROCESSING: 'It is being sent.',
  SETTLED: 'It was sent, and its transaction is final.',
  REJECTED: 'It was not sent; nothing of it left the balance.',
};

const HELD: Readonly<Record<string, string>> = {
  approval_cap: 'Its value is above what may be sent without approval.',
  destination_flagged: 'Screening flagged its destination.',
  screening_unavailable: 'Its destination could not be screened.',
};
const REJECTED: Readonly<Record<string, string>> = {
  CANCELLED: 'Your server withdrew it.',
  PARKING_EXPIRED: 'It waited for too long.',
  OPERATOR: 'The operator of this deployment rejected it.',
};

/** What happened to a cashout so far, and what it waits for. Pure. */
export function cashoutStoryOf(item: Item): StoryEntry[] {
  return [
    entry(item.createdAt ?? null, 'Asked for', { detail: `${item.amount} ${item.assetName}` }),
    ...(item.holdReason === undefined ? [] : [entry(item.createdAt ?? null, 'Held for approval', { detail: HELD[item.holdReason] ?? item.holdReason })]),
    ...(item.dispatchAt === undefined
      ? []
      : [entry(item.dispatchAt, 'May be sent', { detail: item.feeLocked === '' ? null : `${item.feeLocked} ${item.assetName} reserved for the network` })]),
    ...(item.settledAt === undefined
      ? []
      : [entry(item.settledAt, 'Settled', { detail: `${item.receivedAmount} ${item.assetName} sent`, txHash: item.txHash === '' ? null : item.txHash })]),
    ...(item.rejectedAt === undefined ? [] : [entry(item.rejectedAt, 'Rejected', { detail: REJECTED[item.rejectReason ?? ''] ?? null, state: 'wrong' })]),
    ...next(item),
  ];
}

function next({ status, expiresAt, shortfall, assetName }: Item): StoryEntry[] {
  if (status === 'SETTLED' || status === 'REJECTED') return [];
  const title = shortfall === undefined ? (MEANINGS[status] ?? status) : `It waits for ${shortfall} ${assetName} more.`;
  return [entry(null, title, { state: 'next' }), ...lapses(expiresAt)];
}

function lapses(at: string | undefined): StoryEntry[] {
  return at === undefined ? [] : [entry(at, 'Rejected by itself, if nothing comes', { state: 'next' })];
}

function entry(at: string | null, title: string, more: Partial<StoryEntry>): StoryEntry {
  return { at, title, detail: null, txHash: null, why: null, answer: null, steps: [], state: 'done', ...more };
}
