import { setTimeout as sleep } from 'node:timers/promises';
import type { ScreeningSources } from '#api/clients/screening/registry.ts';
import type { ScreeningAnswer, ScreeningQuestion, UnaskedQuestion } from '#api/clients/screening/provider.ts';
import type { Deps } from '#api/deps.ts';
import {
  lockScreeningCredits,
  moveScreeningCredit,
  failScreening,
  findUnfinishedScreening,
  findVerdict,
  type HeldScreening,
  insertScreening,
  recordPending,
  recordVerdict,
  releaseScreening,
  type ScreeningSubject,
  type StoredVerdict,
  takeScreening,
  type UnfinishedScreening,
} from '#api/store/screenings.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** What screening needs to work. */
export type ScreeningDeps = Pick<Deps, 'db' | 'log' | 'randomBytes' | 'metrics'> & { sources: ScreeningSources };

/** A verdict, or why there is none: the provider works on it, cannot tell, or the gateway may not ask. */
export type Bought = StoredVerdict | 'pending' | 'unavailable' | 'out_of_credit';

export interface Purchase {
  subject: ScreeningSubject;
  question: UnaskedQuestion;
  /** Whether to wait, within the deadline, for a check that is pending. */
  patient: boolean;
}

/** A question that is ours to ask. */
interface Taken {
  held: HeldScreening;
  /** Set when the provider works on it already. */
  providerRef: string | null;
}

const WAIT_MS = 200;

/**
 * Gets the verdict of a subject, once for one credit: the one that counts already, the one that somebody else is buying
 * at this moment, or a new one. The credit is taken with the question's row before anything is asked, so that neither can
 * be lost or spent twice, and is given back when no verdict came. Ends within the deadline of POLICY, and a second.
 */
export async function buyVerdict(deps: ScreeningDeps, purchase: Purchase): Promise<Bought> {
  const signal = AbortSignal.timeout(POLICY.screeningDeadlineMs);
  let seen: UnfinishedScreening | undefined;
  for (;;) {
    const { open, known } = await look(deps.db.sql, purchase.subject);
    if (known !== undefined) return known;
    // Whoever we waited for came back without a verdict: it is too early to trouble the provider again.
    if (seen !== undefined && open?.leased === false && open.state !== 'asking' && open.attempt === seen.attempt)
      return open.state === 'pending' ? 'pending' : 'unavailable';
    if (open?.leased !== true) {
      const taken = await takeQuestion(deps, purchase.subject);
      if (taken === 'out_of_credit') return taken;
      if (taken !== 'busy') return 'held' in taken ? askAndStore(deps, purchase, taken, signal) : taken;
    } else seen = open;
    if (signal.aborted) return 'unavailable';
    await sleep(WAIT_MS);
  }
}

/** Makes one question about a subject ours. Locks the gateway's credits, then the question. */
async function takeQuestion(deps: ScreeningDeps, subject: ScreeningSubject): Promise<StoredVerdict | Taken | 'busy' | 'out_of_credit'> {
  const source = deps.sources.provider.name;
  return deps.db.transaction(async (tx) => {
    const credits = await lockScreeningCredits(tx, subject.gatewayId);
    const { open, known } = await look(tx, subject);
    if (known !== undefined) return known;
    if (open?.leased === true) return 'busy';
    if (open !== undefined && open.state !== 'failed') {
      // Its credit is held since it was first asked.
      return { held: await takeScreening(tx, { id: open.id, source, fresh: open.overdue }), providerRef: open.overdue ? null : open.providerRef };
    }
    if (credits === 0) return 'out_of_credit';
    await moveScreeningCredit(tx, subject.gatewayId, -1);
    const held =
      open === undefined
        ? await insertScreening(tx, { ...subject, id: uuidFrom(deps.randomBytes(16)), source })
        : await takeScreening(tx, { id: open.id, source, fresh: true });
    return { held, providerRef: null };
  });
}

/** The question first, then the verdict: whoever finds neither in this order missed none, also while one is being stored. */
async function look(sql: Reads, subject: ScreeningSubject): Promise<{ open: UnfinishedScreening | undefined; known: StoredVerdict | undefined }> {
  const open = await findUnfinishedScreening(sql, subject);
  return { open, known: await findVerdict(sql, subject) };
}

async function askAndStore(deps: ScreeningDeps, purchase: Purchase, { held, providerRef }: Taken, signal: AbortSignal): Promise<Bought> {
  crashPoint('aml.asking');
  const question: ScreeningQuestion = { ...purchase.question, idempotencyKey: held.id };
  let answer = await ask(deps, providerRef === null ? { question } : { ref: providerRef }, signal);
  let ref = providerRef;
  while (answer.outcome === 'pending') {
    if (answer.ref !== ref) {
      ref = answer.ref;
      await recordPending(deps.db.sql, held, ref);
    }
    if (!purchase.patient || signal.aborted) break;
    await sleep(POLICY.screeningPollMs);
    if (!signal.aborted) answer = await ask(deps, { ref }, signal);
  }
  return store(deps, { gatewayId: purchase.subject.gatewayId, held, ref }, answer);
}

/** Asks the provider once and counts what came; never throws. */
export async function ask(deps: ScreeningDeps, what: { question: ScreeningQuestion } | { ref: string }, signal: AbortSignal): Promise<ScreeningAnswer> {
  const { provider } = deps.sources;
  const startedAt = performance.now();
  let answer: ScreeningAnswer;
  try {
    answer = 'question' in what ? await provider.ask(what.question, signal) : await provider.poll(what.ref, signal);
  } catch (error) {
    deps.log.error({ err: error, provider: provider.name }, 'screening provider threw');
    answer = { outcome: 'unavailable', problem: 'failed inside' };
  }
  deps.metrics?.amlScreenDuration.observe({ provider: provider.name }, (performance.now() - startedAt) / 1_000);
  deps.metrics?.amlScreens.inc({ provider: provider.name, result: resultOf(answer) });
  if (answer.outcome === 'unavailable') deps.log.warn({ provider: provider.name, problem: answer.problem }, 'screening gave no verdict');
  if (answer.outcome === 'no_credit') deps.log.error({ provider: provider.name }, 'our account with the screening provider is empty');
  return answer;
}

/**
 * Writes what came of a question that is ours. A check that the provider has accepted keeps its credit while it is only the
 * asking for it that fails; any other question without a verdict gives its credit back. Locks the gateway's credits, then the question.
 */
export async function store(
  deps: ScreeningDeps,
  asked: { gatewayId: string; held: HeldScreening; ref: string | null },
  answer: ScreeningAnswer,
): Promise<Bought> {
  const { gatewayId, held, ref } = asked;
  if (answer.outcome === 'verdict') {
    const { score, sanctioned, categories } = answer;
    if (!(await recordVerdict(deps.db.sql, { id: held.id, score, sanctioned, categories, providerRef: answer.ref }))) return 'unavailable';
    crashPoint('aml.verdict-stored');
    return { id: held.id, score, sanctioned };
  }
  const problem = answer.outcome === 'unavailable' ? answer.problem : answer.outcome;
  if (ref !== null && answer.outcome !== 'no_credit') {
    await releaseScreening(deps.db.sql, held, answer.outcome === 'pending' ? null : problem);
    return answer.outcome === 'pending' ? 'pending' : 'unavailable';
  }
  await giveUp(deps, gatewayId, held, problem);
  return 'unavailable';
}

/** Ends a question without a verdict and gives its credit back, unless somebody else holds it by now. Locks the gateway's credits, then the question. */
export async function giveUp(deps: ScreeningDeps, gatewayId: string, held: HeldScreening, problem: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await lockScreeningCredits(tx, gatewayId);
    if (await failScreening(tx, held, problem)) await moveScreeningCredit(tx, gatewayId, 1);
  });
}

function resultOf(answer: ScreeningAnswer): string {
  if (answer.outcome === 'unavailable') return 'error';
  return answer.outcome === 'verdict' && answer.sanctioned ? 'sanctioned' : answer.outcome;
}
