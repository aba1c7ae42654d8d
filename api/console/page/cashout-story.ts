import type { CashoutScreen } from './model.ts';
import type { StoryEntry } from './story.ts';

type Item = CashoutScreen['item'];

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
  switch (status) {
    case 'PENDING_APPROVAL':
      return [entry(null, 'Waits for somebody to approve it.', { state: 'next' })];
    case 'UNDERFUNDED':
      return [
        entry(null, shortfall === undefined ? 'Waits until the balance covers it.' : `Waits for ${shortfall} ${assetName} more.`, { state: 'next' }),
        ...lapses(expiresAt),
      ];
    case 'WAITING_AML_CREDIT':
      return [entry(null, 'Waits for screening credit.', { state: 'next' }), ...lapses(expiresAt)];
    case 'REQUESTED':
      return [entry(null, 'Waits to be sent.', { state: 'next' })];
    case 'PROCESSING':
      return [entry(null, 'Its transaction is on its way.', { state: 'next' })];
    default:
      return [];
  }
}

function lapses(at: string | undefined): StoryEntry[] {
  return at === undefined ? [] : [entry(at, 'Rejected by itself, if nothing comes', { state: 'next' })];
}

function entry(at: string | null, title: string, more: Partial<StoryEntry>): StoryEntry {
  return { at, title, detail: null, txHash: null, why: null, steps: [], state: 'done', ...more };
}
