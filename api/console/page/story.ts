import type { PaymentScreen, Surroundings } from './model.ts';

type Moment = PaymentScreen['record']['timeline'][number];
type Answer = NonNullable<PaymentScreen['record']['webhooks'][number]['attempts'][number]['answer']>;
type Step = PaymentScreen['explanation']['steps'][number];

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
  /** How a receiver answered, for whoever unfolds it. */
  answer: Answer | null;
  /** Whether it is over, went wrong, or is still to come. */
  state: 'done' | 'wrong' | 'next';
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
export function storyOf({ record, explanation }: Pick<PaymentScreen, 'record' | 'explanation'>, networks: Surroundings['networks'] = {}): StoryEntry[] {
  const entries = endsOf(record.timeline).map((moment): Placed => ({ moment, entry: entryOf(record, moment, networks) }));
  const steps = endsOf(explanation.steps);
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
  const told = inOrder(
    entries.map(({ entry }) => entry),
    alone,
  );
  const left = record.timeline.length - entries.length;
  const more: StoryEntry[] =
    left === 0 ? [] : [{ ...bare, at: null, title: `${left} more like these are left out here; the API tells all of them`, steps: [] }];
  return [...told.slice(0, MOST / 2), ...more, ...told.slice(MOST / 2), ...toCome({ record, explanation })];
}

/** Most that is told of anything: whoever sends a thousand coins one by one makes a page no longer, and nobody who opens it wait. */
const MOST = 200;

/** Answers that are shown, the last ones: a kilobyte each, of a page that has eighty. */
const MOST_ANSWERS = 20;

/** The beginning and the end of what is too long. Pure. */
function endsOf<T>(all: readonly T[]): T[] {
  return all.length <= MOST ? [...all] : [...all.slice(0, MOST / 2), ...all.slice(-MOST / 2)];
}

const bare = { detail: null, txHash: null, why: null, answer: null, state: 'done' } as const;

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

function entryOf(record: PaymentScreen['record'], moment: Moment, networks: Surroundings['networks']): StoryEntry {
  const entry = { ...bare, at: moment.at, steps: [], txHash: moment.txHash ?? null };
  const coins = `${moment.amount ?? ''} ${moment.asset ?? ''}`.trim();
  switch (moment.what) {
    case 'created':
      return { ...entry, title: 'Created', detail: `${record.offers.length} ${record.offers.length === 1 ? 'coin' : 'coins'} offered` };
    case 'selected': {
      const offer = record.offers.find(({ assetSymbol, assetNetwork }) => assetSymbol === moment.asset && assetNetwork === moment.network);
      return {
        ...entry,
        title: `The payer chose ${moment.asset} on ${networks[moment.network ?? ''] ?? moment.network}`,
        detail: offer === undefined ? null : `${offer.totalValue} ${moment.asset} asked for`,
      };
    }
    case 'seen':
      return {
        ...entry,
        title: `${coins} seen${moment.blockHeight === undefined ? '' : ` in block ${grouped(moment.blockHeight)}`} on ${networks[moment.network ?? ''] ?? moment.network}`,
      };
    case 'confirmed':
      return { ...entry, title: `${coins} is final` };
    case 'lost':
      return { ...entry, title: `The block with ${coins} is gone`, state: 'wrong' };
    case 'resolved':
      return { ...entry, title: moment.to === 'EXPIRED' ? 'Expired' : `Judged ${moment.to}`, state: moment.to === 'MISMATCH' ? 'wrong' : 'done' };
    case 'credited':
      return { ...entry, title: `Credited ${coins}`, detail: sumOf(record, moment) };
    case 'screened':
      return { ...entry, title: `Screening: ${moment.to}`, detail: moment.from === 'NONE' ? null : `before: ${moment.from}` };
    case 'webhook':
      return { ...entry, ...webhookOf(record, moment) };
    case 'verified':
      return { ...entry, title: 'Verified by your server' };
    case 'matured':
      return { ...entry, title: `${coins} can be cashed out` };
  }
}

/** How a credit follows from what arrived. */
function sumOf({ credits }: PaymentScreen['record'], { at, asset, amount }: Moment): string | null {
  const credit = credits.find((one) => one.creditedAt === at && one.asset === asset && one.net === amount);
  return credit === undefined ? null : `${credit.gross} − ${credit.networkFee} network fee − ${credit.commission} commission = ${credit.net} ${credit.asset}`;
}

function webhookOf({ webhooks }: PaymentScreen['record'], { at, webhookId, result }: Moment): Pick<StoryEntry, 'title' | 'detail' | 'state' | 'answer'> {
  const webhook = webhooks.find(({ id }) => id === webhookId);
  const attempt = webhook?.attempts.find(({ startedAt }) => startedAt === at);
  const answer = attempt?.httpStatus === null || attempt?.httpStatus === undefined ? result : String(attempt.httpStatus);
  const which = attempt === undefined ? '' : attempt.manual ? `resend ${attempt.number}` : `attempt ${attempt.number}`;
  const took = attempt?.durationMs === null || attempt?.durationMs === undefined ? '' : ` after ${attempt.durationMs} ms`;
  const what = `Webhook ${webhook?.status ?? ''}`.trim();
  if (result === null || result === undefined) return { title: `${what} is on its way`, detail: which || null, answer: null, state: 'next' };
  const arrived = result === '2xx';
  return {
    title: `${what} ${arrived ? 'delivered' : 'not delivered'}`,
    detail: [which, `${answer}${took}`].filter(Boolean).join(': '),
    answer: attempt?.answer ?? null,
    state: arrived ? 'done' : 'wrong',
  };
}

/** A reason without the statuses before it, as a sentence. Pure. */
export function reasonIn(text: string): string {
  const reason = text.replace(/^[A-Z]+ → [A-Z]+: /, '');
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}`;
}

/** Puts the reason beside the verdict, where nobody has to unfold it. */
function explainDecision(entry: StoryEntry): void {
  const decision = entry.steps.find(({ step }) => step === 'decision' || step === 'expiry');
  entry.detail = decision === undefined ? null : reasonIn(decision.text);
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

function toCome({ record, explanation }: Pick<PaymentScreen, 'record' | 'explanation'>): StoryEntry[] {
  const maturing = record.credits.filter(({ maturedAt }) => maturedAt === null);
  const waiting = record.webhooks.flatMap(({ nextAttemptAt, status }) => (nextAttemptAt === null ? [] : [{ at: nextAttemptAt, status }]));
  const next = explanation.steps.findLast(({ step }) => step === 'next');
  return [
    ...waiting.map(({ at, status }): StoryEntry => ({ ...bare, steps: [], at, title: `Webhook ${status} is tried again`, state: 'next' })),
    ...maturing.map(
      ({ maturesAt, net, asset }): StoryEntry => ({ ...bare, steps: [], at: maturesAt, title: `${net} ${asset} can be cashed out`, state: 'next' }),
    ),
    ...(next === undefined ? [] : [{ ...bare, steps: [], at: null, title: next.text, state: 'next' } as StoryEntry]),
  ];
}

function grouped(height: number): string {
  return new Intl.NumberFormat('en').format(height);
}
