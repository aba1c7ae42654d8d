import type { PaymentScreen, Surroundings } from './model.ts';
import { sayStep } from './say-step.ts';
import type { Translate } from './texts.ts';
import { wordFor } from './words.ts';

type Moment = PaymentScreen['record']['timeline'][number];
type Answer = NonNullable<PaymentScreen['record']['webhooks'][number]['attempts'][number]['answer']>;
type Step = PaymentScreen['explanation']['steps'][number];

/** A request as it went out. */
interface Sent {
  url: string;
  /** By the names they were sent under; null for a value that is kept nowhere. */
  headers: { name: string; value: string | null }[];
  body: string;
}

/** One thing that happened to a payment, with the steps of the sum behind it. */
export interface StoryEntry {
  /** Null for what is still to come and has no moment. */
  at: string | null;
  title: string;
  /** What else is known of it, in one line. */
  detail: string | null;
  /** A transaction it is about. */
  txHash: string | null;
  /** What the reader should see without asking: the figures that decided. */
  why: string | null;
  steps: Step[];
  /** What a receiver was sent, for whoever unfolds it. */
  sent: Sent | null;
  /** How it answered. */
  answer: Answer | null;
  /** Whether it is over, went wrong, or is still to come. */
  state: 'done' | 'wrong' | 'next';
  /** Whether its detail is a sentence of the service, which are English on every page. */
  english: boolean;
}

/** Behind which moments a step of the explanation stands, the best first. */
const BEHIND: Readonly<Partial<Record<Step['step'], readonly Moment['what'][]>>> = {
  invoice: ['created'],
  terms: ['created'],
  offer: ['created'],
  select: ['selected'],
  address: ['selected'],
  deposit: ['seen'],
  finality: ['confirmed'],
  price: ['resolved'],
  value: ['resolved'],
  tolerance: ['resolved'],
  decision: ['resolved'],
  record: ['resolved'],
  expiry: ['resolved'],
  // The sandbox credits nothing.
  fees: ['credited', 'resolved'],
};
/** Told by the moments themselves. */
const TOLD = ['webhook', 'verify', 'next'];

/**
 * Everything that happened to a payment, each thing with the steps that explain it, and what comes next. Every step is behind exactly one of them: one that fits nowhere
 * stands by itself. Pure.
 */
export function storyOf(
  t: Translate,
  { record, explanation }: Pick<PaymentScreen, 'record' | 'explanation'>,
  networks: Surroundings['networks'] = {},
): StoryEntry[] {
  const entries = endsOf(record.timeline).map((moment): Placed => ({ moment, entry: entryOf(t, record, moment, networks) }));
  const steps = endsOf(explanation.steps).map((step) => ({ ...step, text: sayStep(t, step, { status: record.outcome.status, networks }) }));
  const verdicts = verdictsOf(steps);
  const alone: StoryEntry[] = [];
  for (const [index, step] of steps.entries()) {
    if (TOLD.includes(step.step)) continue;
    const owner = ownerOf(step, verdicts[index], entries);
    if (owner === undefined) alone.push({ ...bare, at: step.at, title: step.text, steps: [] });
    else owner.entry.steps.push(step);
  }
  for (const { moment, entry } of entries) if (moment.what === 'resolved') explainDecision(entry);
  const answered = entries.filter(({ entry }) => entry.answer !== null);
  for (const { entry } of answered.slice(0, -MOST_ANSWERS)) entry.answer = null;
  const sent = entries.filter(({ entry }) => entry.sent !== null);
  for (const { entry } of sent.slice(0, -MOST_ANSWERS)) entry.sent = null;
  const told = inOrder(
    entries.map(({ entry }) => entry),
    alone,
  );
  const left = record.timeline.length - entries.length;
  const more: StoryEntry[] = left === 0 ? [] : [{ ...bare, at: null, title: t('story.left-out', { count: left }), steps: [] }];
  return [...told.slice(0, MOST / 2), ...more, ...told.slice(MOST / 2), ...toCome(t, record, steps)];
}

/** Most that is told of anything: whoever sends a thousand coins one by one makes a page no longer, and nobody who opens it wait. */
const MOST = 200;

/** Answers that are shown, the last ones: a kilobyte each, of a page that has eighty. */
const MOST_ANSWERS = 20;

/** The beginning and the end of what is too long. Pure. */
function endsOf<T>(all: readonly T[]): T[] {
  return all.length <= MOST ? [...all] : [...all.slice(0, MOST / 2), ...all.slice(-MOST / 2)];
}

const bare = { detail: null, txHash: null, why: null, sent: null, answer: null, state: 'done', english: false } as const;

interface Placed {
  moment: Moment;
  entry: StoryEntry;
}

/** The status that each step leads to: several decisions may fall into one moment, each with its sum before it and its record behind it. */
function verdictsOf(steps: readonly Step[]): (string | undefined)[] {
  return steps.map(({ step }, index) => {
    if (step === 'record') return steps.slice(0, index).findLast((one) => one.step === 'decision')?.figures.to;
    return ['price', 'value', 'tolerance', 'decision', 'expiry'].includes(step)
      ? steps.slice(index).find((one) => one.step === (step === 'expiry' ? 'expiry' : 'decision'))?.figures.to
      : undefined;
  });
}

/** Of the moments that a step may be behind: that of the same time, else the last one before it, else the first. */
function ownerOf(step: Step, verdict: string | undefined, entries: readonly Placed[]): Placed | undefined {
  for (const what of BEHIND[step.step] ?? []) {
    const fitting = entries.filter(({ moment }) => moment.what === what && isAbout(moment, step) && (verdict === undefined || moment.to === verdict));
    const owner = fitting.findLast(({ moment }) => moment.at === step.at) ?? fitting.findLast(({ moment }) => moment.at <= step.at) ?? fitting[0];
    if (owner !== undefined) return owner;
  }
  return undefined;
}

/** A step that names a transaction belongs to that one's moments. */
function isAbout({ txHash }: Moment, { figures }: Step): boolean {
  return txHash === undefined || figures.txHash === undefined || figures.txHash === txHash;
}

function entryOf(t: Translate, record: PaymentScreen['record'], moment: Moment, networks: Surroundings['networks']): StoryEntry {
  const entry = { ...bare, at: moment.at, steps: [], txHash: moment.txHash ?? null };
  const network = networks[moment.network ?? ''] ?? moment.network ?? '';
  const amount = `${moment.amount ?? ''} ${moment.asset ?? ''}`.trim();
  switch (moment.what) {
    case 'created':
      return { ...entry, title: t('story.created'), detail: t('story.offered', { count: record.offers.length }) };
    case 'selected': {
      const offer = record.offers.find(({ assetSymbol, assetNetwork }) => assetSymbol === moment.asset && assetNetwork === moment.network);
      return {
        ...entry,
        title: t('story.chosen', { coin: moment.asset ?? '', network }),
        detail: offer === undefined ? null : t('story.asked-for', { amount: `${offer.totalValue} ${moment.asset}` }),
      };
    }
    case 'seen':
      return {
        ...entry,
        title:
          moment.blockHeight === undefined
            ? t('story.seen', { amount, network })
            : t('story.seen-in-block', { amount, network, block: grouped(moment.blockHeight) }),
      };
    case 'confirmed':
      return { ...entry, title: t('story.final', { amount }) };
    case 'lost':
      return { ...entry, title: t('story.lost', { amount }), state: 'wrong' };
    case 'resolved':
      return {
        ...entry,
        title: moment.to === 'EXPIRED' ? t('story.expired') : t('story.judged', { status: wordFor(t, 'status', moment.to ?? '') }),
        state: moment.to === 'MISMATCH' ? 'wrong' : 'done',
      };
    case 'credited':
      return { ...entry, title: t('story.credited', { amount }), detail: sumOf(t, record, moment) };
    case 'screened':
      return {
        ...entry,
        title: t('story.screened', { verdict: wordFor(t, 'status', moment.to ?? '') }),
        detail: moment.from === 'NONE' ? null : t('story.screened-before', { verdict: wordFor(t, 'status', moment.from ?? '') }),
      };
    case 'webhook':
      return { ...entry, ...webhookOf(t, record, moment) };
    case 'verified':
      return { ...entry, title: t('story.verified') };
    case 'matured':
      return { ...entry, title: t('story.matured', { amount }) };
  }
}

/** How a credit follows from what arrived. */
function sumOf(t: Translate, { credits }: PaymentScreen['record'], { at, asset, amount }: Moment): string | null {
  const credit = credits.find((one) => one.creditedAt === at && one.asset === asset && one.net === amount);
  if (credit === undefined) return null;
  const { gross, networkFee: fee, commission, net } = credit;
  return t('story.sum', { gross, fee, commission, net: `${net} ${asset}` });
}

function webhookOf(
  t: Translate,
  { webhooks }: PaymentScreen['record'],
  { at, webhookId, result }: Moment,
): Pick<StoryEntry, 'title' | 'detail' | 'state' | 'sent' | 'answer'> {
  const webhook = webhooks.find(({ id }) => id === webhookId);
  const attempt = webhook?.attempts.find(({ startedAt }) => startedAt === at);
  const status = wordFor(t, 'status', webhook?.status ?? '');
  if (result === null || result === undefined)
    return {
      title: t('story.webhook-under-way', { status }),
      detail: attempt === undefined ? null : attemptIn(t, attempt, null),
      sent: null,
      answer: null,
      state: 'next',
    };
  const arrived = result === '2xx';
  return {
    title: t(arrived ? 'story.webhook-delivered' : 'story.webhook-failed', { status }),
    detail: attempt === undefined ? wordFor(t, 'webhook-result', result) : attemptIn(t, attempt, wordFor(t, 'webhook-result', result)),
    sent: webhook === undefined || attempt === undefined ? null : sentIn(webhook, attempt),
    answer: attempt?.answer ?? null,
    state: arrived ? 'done' : 'wrong',
  };
}

type Attempt = PaymentScreen['record']['webhooks'][number]['attempts'][number];

/** The request of an attempt (decisions 6). Its signatures are as good as what they sign to whoever has them, and are not kept. */
function sentIn({ id, url, body }: PaymentScreen['record']['webhooks'][number], { timestamp }: Attempt): Sent {
  const headers = [
    { name: 'content-type', value: 'application/json' },
    { name: 'webhook-id', value: id },
    { name: 'webhook-timestamp', value: timestamp === null ? null : String(timestamp) },
    { name: 'webhook-signature', value: null },
    { name: 'x-webhook-signature', value: null },
  ];
  return { url, headers, body };
}

/** Which attempt it was, how it was answered, and after what time. */
function attemptIn(t: Translate, { number, manual, httpStatus, durationMs }: Attempt, result: string | null): string {
  const kind = manual ? 'resend' : 'attempt';
  if (result === null) return t(`story.${kind}`, { number });
  const answer = httpStatus === null ? result : String(httpStatus);
  return durationMs === null ? t(`story.${kind}-answered`, { number, answer }) : t(`story.${kind}-took`, { number, answer, milliseconds: durationMs });
}

/** The step that gives the reason of a payment's status, as a sentence; undefined where none does. Pure. */
export function reasonOf(
  t: Translate,
  { record, explanation }: Pick<PaymentScreen, 'record' | 'explanation'>,
  networks: Surroundings['networks'],
): string | undefined {
  const { status } = record.outcome;
  const reason = status === 'PENDING' ? 'next' : status === 'EXPIRED' ? 'expiry' : 'decision';
  const step = explanation.steps.findLast((one) => one.step === reason);
  return step && sayStep(t, step, { status, networks });
}

/** Puts the reason beside the verdict, where nobody has to unfold it. */
function explainDecision(entry: StoryEntry): void {
  const decision = entry.steps.find(({ step }) => step === 'decision' || step === 'expiry');
  entry.detail = decision?.text ?? null;
  entry.why = entry.steps.find(({ step }) => step === 'value')?.text ?? null;
}

/** Keeps the order of the moments, with each step that stands alone before what came later than it. */
function inOrder(entries: StoryEntry[], alone: readonly StoryEntry[]): StoryEntry[] {
  const all = [...entries];
  for (const one of alone) {
    const later = all.findIndex(({ at }) => at !== null && one.at !== null && at > one.at);
    all.splice(later === -1 ? all.length : later, 0, one);
  }
  return all;
}

function toCome(t: Translate, record: PaymentScreen['record'], steps: readonly Step[]): StoryEntry[] {
  const maturing = record.credits.filter(({ maturedAt }) => maturedAt === null);
  const waiting = record.webhooks.flatMap(({ nextAttemptAt, status }) => (nextAttemptAt === null ? [] : [{ at: nextAttemptAt, status }]));
  const next = steps.findLast(({ step }) => step === 'next');
  return [
    ...waiting.map(
      ({ at, status }): StoryEntry => ({ ...bare, steps: [], at, title: t('story.webhook-again', { status: wordFor(t, 'status', status) }), state: 'next' }),
    ),
    ...maturing.map(
      ({ maturesAt, net, asset }): StoryEntry => ({
        ...bare,
        steps: [],
        at: maturesAt,
        title: t('story.matured', { amount: `${net} ${asset}` }),
        state: 'next',
      }),
    ),
    ...(next === undefined ? [] : [{ ...bare, steps: [], at: null, title: next.text, state: 'next' } as StoryEntry]),
  ];
}

function grouped(height: number): string {
  return new Intl.NumberFormat('en').format(height);
}
