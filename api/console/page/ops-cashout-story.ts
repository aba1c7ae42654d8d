import type { OpsCashoutScreen, PayoutLine } from './operator-model.ts';
import { sayWaitReason } from './say-wait-reason.ts';
import type { StoryEntry } from './story.ts';
import type { Translate } from './texts.ts';
import { wordFor } from './words.ts';

type Told = Pick<OpsCashoutScreen, 'item' | 'events' | 'payouts' | 'chain'>;

/** What became of an open cashout's wish, by the event that says so; the others are told by their own names. */
const EVENTS = ['APPROVED', 'OPERATOR_REJECTED', 'ACTIVATED', 'SCREENED', 'CANCELLED', 'PARKING_EXPIRED', 'DISPATCHED', 'COMPLETED'] as const;
const STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING'] as const;

/**
 * Everything that happened to a cashout, in order: what was asked, which gates held it, who approved, every signed transaction and the block that took it, how deep that
 * is, and what it waits for now. Pure.
 */
export function operatorCashoutStory({ item, events, payouts, chain }: Told, t: Translate): StoryEntry[] {
  const over = item.status === 'SETTLED' || item.status === 'REJECTED';
  const past = [
    entry(item.createdAt, t('ops-story.asked'), { detail: `${item.amount} ${item.assetSymbol}` }),
    ...events.filter(({ from }) => from !== null).map((one) => eventEntry(one, t)),
    ...payouts.flatMap((payout) => payoutEntries(payout, t)),
  ].sort((a, b) => (a.at ?? '').localeCompare(b.at ?? ''));
  return [...past, ...(over ? [] : waitEntries({ item, payouts, chain }, t))];
}

function eventEntry({ event, to, actor, at, facts }: Told['events'][number], t: Translate): StoryEntry {
  const known = EVENTS.find((one) => one === event);
  const reason = typeof facts.reason === 'string' ? facts.reason : null;
  return entry(at, known === undefined ? event : t(`ops-story.${known}`), {
    detail: [actor, reason].filter((one) => one !== null).join(' · '),
    state: to === 'REJECTED' ? 'wrong' : 'done',
  });
}

function payoutEntries({ purpose: name, attempts, status, txHash, height, failure, finalAt }: PayoutLine, t: Translate): StoryEntry[] {
  const purpose = wordFor(t, 'purpose', name);
  const signed = attempts.map(({ number, txHash: hash, signedAt, kind }) =>
    entry(signedAt, t(number === 1 ? 'ops-story.signed' : 'ops-story.signed-again', { purpose }), {
      detail: kind === 'close' ? t('ops-story.close') : null,
      txHash: hash,
    }),
  );
  if (finalAt === null) return signed;
  const detail = height === null ? failure : t('ops-story.in-block', { height: String(height) });
  return [
    ...signed,
    entry(finalAt, t(status === 'FAILED' ? 'ops-story.failed' : 'ops-story.final', { purpose }), {
      detail: failure ?? detail,
      txHash,
      state: status === 'FAILED' ? 'wrong' : 'done',
    }),
  ];
}

/** What is still to come: how deep its transaction lies, or what holds it. */
function waitEntries({ item, payouts, chain }: Pick<Told, 'item' | 'payouts' | 'chain'>, t: Translate): StoryEntry[] {
  const included = payouts.filter(({ height, finalAt }) => height !== null && finalAt === null);
  const deep = included.map(({ purpose, height, txHash }) =>
    entry(null, t('ops-story.deep', { purpose: wordFor(t, 'purpose', purpose), ...depthOf(height ?? 0, chain) }), {
      txHash,
      detail: t('ops-story.in-block', { height: String(height) }),
      state: 'next',
    }),
  );
  if (deep.length > 0) return deep;
  const status = STATUSES.find((one) => one === item.status);
  const why = item.waitReason === null ? null : sayWaitReason(t, item.waitReason);
  return [
    entry(null, status === undefined ? item.status : t(`ops-waits.${status}`), {
      detail: why?.text ?? (item.holdReason === null ? null : wordFor(t, 'hold-reason', item.holdReason)),
      english: why?.english ?? false,
      state: 'next',
    }),
  ];
}

/** How many blocks bear it, of how many that make one final now. Pure. */
export function depthOf(height: number, chain: Told['chain']): { blocks: number; of: number } {
  if (chain === null) return { blocks: 0, of: 1 };
  return { blocks: Math.max(0, chain.tip - height + 1), of: Math.max(1, chain.tip - chain.final + 1) };
}

function entry(at: string | null, title: string, more: Partial<StoryEntry>): StoryEntry {
  return { at, title, detail: null, txHash: null, why: null, sent: null, answer: null, steps: [], state: 'done', english: false, ...more };
}
