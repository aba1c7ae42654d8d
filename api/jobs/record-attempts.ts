import { resultOf, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import type { Deps } from '#api/deps.ts';
import { endOutbox, hastenOutbox, mayHaveWork, type OutboxLease } from '#api/store/outbox.ts';
import {
  type AttemptAnswer,
  finishWebhookAttempts,
  keepWebhookAnswers,
  type LockedAttempt,
  readTurnsOfWork,
  type StartedAttempt,
  startWebhookAttempts,
  updateWebhookEvents,
  waitingBehind,
  type WebhookEvent,
  type WebhookTurn,
} from '#api/store/webhook-events.ts';
import { Invariant } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';
import { doneTogether, together } from '#shared/platform/together.ts';
import { type NextStep, nextStep, stepOutsideSchedule } from './webhook-schedule.ts';

/** An attempt of the schedule, or one that somebody asked for. */
export type Kind = 'scheduled' | 'resend';

/** An attempt that has ended. */
export interface Attempted {
  deps: Deps;
  id: string;
  /** The webhook as it was when the attempt began. */
  sent: WebhookTurn;
  kind: Kind;
  outcome: WebhookOutcome;
  /** The row of the outbox that it was begun from, which ends with it. */
  lease: OutboxLease;
}

/** What an attempt made of its webhook. */
export interface Recorded {
  event: WebhookEvent;
  /** Whether the schedule counted it as the first one. */
  first: boolean;
  next: NextStep;
  startedAt: Date;
  finishedAt: Date;
}

/** What is asked and written about single webhooks: for those of one moment by the same statements. */
export interface AttemptRecords {
  /** Reads the webhook of a row of the outbox, whose turn may have come; undefined when there is none. */
  turn(outboxId: string): Promise<WebhookTurn | undefined>;
  /** Records that an attempt of the schedule starts now. */
  start(attempt: StartedAttempt): Promise<void>;
  /** Records how an attempt ended and what that makes of its webhook, and closes its row of the outbox or puts it back; undefined when there is no webhook any more. */
  end(attempt: Attempted): Promise<Recorded | undefined>;
}

/** Attempts that are recorded in one transaction. */
const MOST = 64;

const ofDatabase = new WeakMap<Database, AttemptRecords>();

/** The records of one connected database. */
export function attemptRecords(db: Database): AttemptRecords {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const end = doneTogether((attempts: readonly Attempted[]) => endAll(db, attempts), { most: MOST });
  const records: AttemptRecords = {
    turn: together((outboxIds) => readTurnsOfWork(db.sql, outboxIds)),
    start: doneTogether(
      async (attempts: readonly StartedAttempt[]) => {
        await startWebhookAttempts(db.sql, attempts);
        return attempts.map(() => undefined);
      },
      { most: MOST },
    ),
    // Whose webhook somebody else has locked waits for it alone, so that nobody waits for another's.
    end: async (attempt) => (await end(attempt)) ?? (await endAlone(db, attempt)),
  };
  ofDatabase.set(db, records);
  return records;
}

/** Records attempts in one transaction, but for those that have to wait for somebody. */
async function endAll(db: Database, attempts: readonly Attempted[]): Promise<(Recorded | undefined)[]> {
  // Of two attempts of one webhook the second is judged by what the first made of it.
  const ofEvent = new Map([...attempts].reverse().map((attempt) => [attempt.sent.id, attempt]));
  const recorded = await inTransaction(db, [...ofEvent.values()], { wait: false });
  return attempts.map((attempt) => recorded.get(attempt));
}

async function endAlone(db: Database, attempt: Attempted): Promise<Recorded | undefined> {
  return (await inTransaction(db, [attempt], { wait: true })).get(attempt);
}

async function inTransaction(db: Database, attempts: readonly Attempted[], { wait }: { wait: boolean }): Promise<Map<Attempted, Recorded>> {
  let within: Tx | undefined;
  const recorded = await db.transaction((tx) => {
    within = tx;
    return record(tx, attempts, wait);
  });
  if (within !== undefined && mayHaveWork(within)) attempts[0]?.deps.wake();
  return recorded;
}

/**
 * Writes the outcome of each attempt and what it makes of its webhook. When another run has counted the same attempt meanwhile
 * (this one lost its lease), or a resend has ended the webhook, it is not counted again.
 */
async function record(tx: Tx, attempts: readonly Attempted[], wait: boolean): Promise<Map<Attempted, Recorded>> {
  const ended = attempts.map(({ id, sent, outcome }) => ({
    id,
    eventId: sent.id,
    result: resultOf(outcome),
    httpStatus: outcome.kind === 'answered' ? outcome.status : null,
    durationMs: outcome.durationMs,
  }));
  const locked = new Map((await finishWebhookAttempts(tx, ended, { wait })).map((event) => [event.id, event]));
  const recorded = new Map<Attempted, Recorded>();
  for (const attempt of attempts) {
    const event = locked.get(attempt.sent.id);
    if (event !== undefined) recorded.set(attempt, judge(attempt, event));
  }
  if (recorded.size > 0) await writeAll(tx, recorded);
  return recorded;
}

function judge({ deps, id, sent, kind, outcome }: Attempted, { startedAt, finishedAt, ...event }: LockedAttempt): Recorded {
  if (startedAt === null || finishedAt === null) throw new Invariant(`attempt ${id} of webhook ${sent.id} is gone`);
  const counts = kind === 'scheduled' && event.state === 'pending' && event.attempts === sent.attempts;
  if (!counts) return { event, first: false, next: stepOutsideSchedule(outcome, event, finishedAt), startedAt, finishedAt };
  const attempts = event.attempts + 1;
  return {
    event: { ...event, attempts },
    first: attempts === 1,
    next: nextStep(outcome, attempts, startedAt, finishedAt, jitter(deps)),
    startedAt,
    finishedAt,
  };
}

async function writeAll(tx: Tx, recorded: ReadonlyMap<Attempted, Recorded>): Promise<void> {
  const changes = [...recorded.values()].map(({ event, next, finishedAt }) => ({
    id: event.id,
    state: next.state,
    attempts: event.attempts,
    nextAttemptAt: next.state === 'pending' ? next.at : event.nextAttemptAt,
    deliveredAt: event.deliveredAt ?? (next.state === 'delivered' ? finishedAt : null),
  }));
  const answers = [...recorded].flatMap(([{ id, outcome }, { event }]) => answerOf(id, event, outcome));
  const rows = [...recorded].map(([{ lease, kind }, { next }]) => ({ lease, again: againAt(kind, next) }));
  const ended = [...recorded.values()].filter(({ event, next }) => event.state === 'pending' && next.state !== 'pending').map(({ event }) => event);
  // Sent together; they run one after the other.
  const [behind] = await Promise.all([
    ended.length === 0 ? [] : waitingBehind(tx, ended),
    updateWebhookEvents(tx, changes),
    answers.length === 0 ? undefined : keepWebhookAnswers(tx, answers, POLICY.webhookAnswersPerGateway),
    endOutbox(tx, rows),
  ]);
  // What waited behind a webhook need not wait until it looks again.
  if (behind.length > 0) await Promise.all([hastenOutbox(tx, 'webhook.deliver', behind), hastenOutbox(tx, 'webhook.resend', behind)]);
}

/** When the row of an attempt is to be run again; null when it is done with it. */
export function againAt(kind: Kind, next: NextStep): Date | null {
  return kind === 'scheduled' && next.state === 'pending' ? next.at : null;
}

function answerOf(attemptId: string, { gatewayId }: WebhookEvent, outcome: WebhookOutcome): { attemptId: string; gatewayId: string; answer: AttemptAnswer }[] {
  return outcome.kind === 'answered' && outcome.answer !== undefined ? [{ attemptId, gatewayId, answer: outcome.answer }] : [];
}

/** A random share between 0 and 1. */
export function jitter(deps: Pick<Deps, 'randomBytes'>): number {
  const [high = 0, low = 0] = deps.randomBytes(2);
  return (high * 256 + low) / 65_535;
}
