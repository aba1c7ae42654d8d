import { ChainUnavailable, type Trouble } from './chain.ts';
import {
  afterFailure,
  afterHead,
  afterSuccess,
  takeTrial,
  type Health,
  inOrder,
  paceOf,
  reportedStandingOf,
  type Standing,
  standingOf,
  UNTRIED,
} from './endpoint-health.ts';
import { printable } from './printable.ts';

/** One endpoint, and how to ask which chain it serves. */
export interface OpenEndpoint {
  /** Host and port only, because the rest of the URL may be a key. */
  provider: string;
  /** Hash of the first block. @throws ChainUnavailable, with trouble `wrong-chain` when the endpoint itself says that it serves another chain */
  identify(): Promise<string>;
}

/** The state of one endpoint, for people and metrics. */
export interface EndpointReport {
  provider: string;
  /** `untried` before its first question. */
  state: Standing | 'untried';
  height: number | null;
  latencyMs: number | null;
  failures: number;
  lastTrouble: Trouble | null;
  /** Which other chain it serves, so that it is asked for nothing else; null when it is not known to serve another. */
  foreign: string | null;
}

/** Gets changes of endpoints' states. */
export interface EndpointObserver {
  /** Called after every question, answered or not. */
  endpoint(report: EndpointReport): void;
  /** An endpoint came into or out of trouble. */
  changed(report: EndpointReport, before: EndpointReport['state']): void;
}

/** The endpoints of one network in one process, in order of preference; its reader and its payer share them. */
export interface Endpoints {
  readonly count: number;
  /** Number of different providers, whatever they serve. */
  readonly configured: number;
  /** Number of different providers that serve this chain. */
  providers(): number;
  providerOf(at: number): string;
  /** The endpoints to ask, best first. */
  inOrder(): number[];
  standing(at: number): Standing;
  /**
   * Asks one endpoint one question, after its identity was checked once, and records how it went. `untimed` is for answers whose time says nothing,
   * and `remembered` for those that may come from memory: they do not show that the endpoint works.
   * @throws ChainUnavailable
   */
  ask<T>(at: number, question: () => Promise<T>, counted?: 'untimed' | 'remembered'): Promise<T>;
  /**
   * The first trustworthy answer: the whole question goes to one endpoint, then to the next.
   * @throws ChainUnavailable when none gave one
   */
  first<T>(question: (at: number) => Promise<T>, options?: Choice<T>): Promise<{ at: number; answer: T }>;
  /** Records an endpoint's head, and the followed chain's block at that height if known. */
  sawHead(at: number, head: { height: number; hash: string }, expectedHash: string | undefined): void;
  /**
   * Asks every endpoint again which chain it serves, including those that served another one.
   * `recorded` is the hash of the first block in the books, and decides; without it all endpoints must say the same. When all of them report the
   * same other hash, that hash is returned, and the caller compares it with the books.
   * @throws ChainUnavailable when none of the right chain answers, or when they differ and nothing is recorded
   */
  identifyAll(recorded?: string): Promise<string>;
  /** From time to time asks endpoints that served another chain whether they still do, because a wrong answer may have been a gateway's mistake. */
  reconsider(): void;
  report(): EndpointReport[];
}

/** How to choose among endpoints for one question. */
export interface Choice<T> {
  /** Why an answer is not good enough, although the endpoint did not fail; null when it is. */
  doubt?: (answer: T, at: number) => string | null;
  /** Chooses one of the candidates, which are at least one, best first; by default the first. */
  choose?: (candidates: readonly number[]) => Promise<number>;
}

/** How often an endpoint of another chain is asked whether it still serves that chain. */
const RECONSIDER_MS = 60_000;

/** As much as anybody reads of what a broken reader says, which may quote the node. */
const LONGEST_COMPLAINT = 200;

/** Errors by which the language itself complains: code met what nobody thought of. */
function isBroken(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/** An answer in a form that nobody thought of must not stop a network whose other endpoints answer well. */
function unreadable(provider: string, cause: Error): ChainUnavailable {
  return new ChainUnavailable(`${provider} answered what cannot be read: ${printable(cause.message, LONGEST_COMPLAINT)}`, { cause });
}

interface Options {
  /** Milliseconds that never go back. */
  now?: (() => number) | undefined;
  observe?: EndpointObserver | undefined;
}

/** Brings the endpoints of one network together; asks nothing yet. */
export function watchEndpoints(network: { name: string; blockSeconds: number }, opened: readonly OpenEndpoint[], options: Options = {}): Endpoints {
  const now = options.now ?? (() => performance.now());
  const pace = paceOf(network.blockSeconds);
  const healths: Health[] = opened.map(() => UNTRIED);
  const identities: (Promise<string> | undefined)[] = opened.map(() => undefined);
  const tried = opened.map(() => false);
  const reconsideredMs = opened.map(() => now());
  let genesis: string | undefined;

  const one = (at: number): OpenEndpoint => opened[at] as OpenEndpoint;
  const healthOf = (at: number): Health => healths[at] ?? UNTRIED;
  const reportOf = (at: number): EndpointReport => {
    const { head, latencyMs, failures, lastTrouble, foreign } = healthOf(at);
    const state = tried[at] === true ? reportedStandingOf(healths, at, pace, now()) : 'untried';
    return { provider: one(at).provider, state, height: head?.height ?? null, latencyMs, failures, lastTrouble, foreign };
  };
  const reported = opened.map((_, at) => reportOf(at).state);
  const update = (at: number, health: Health): void => {
    healths[at] = health;
    tried[at] = true;
    const report = reportOf(at);
    const before = reported[at] ?? 'untried';
    reported[at] = report.state;
    options.observe?.endpoint(report);
    if (report.state !== before && !(before === 'untried' && report.state === 'well')) options.observe?.changed(report, before);
  };

  const exclude = (at: number, problem: string): never => {
    update(at, { ...healthOf(at), foreign: problem, lastTrouble: 'wrong-chain' });
    throw new ChainUnavailable(problem, { trouble: 'wrong-chain' });
  };

  const timed = async <T>(at: number, question: () => Promise<T>, counted?: 'untimed' | 'remembered'): Promise<T> => {
    healths[at] = takeTrial(healthOf(at), now());
    const startedMs = now();
    try {
      const answer = await question();
      if (counted !== 'remembered') update(at, afterSuccess(healthOf(at), counted === undefined ? now() - startedMs : null));
      return answer;
    } catch (error) {
      const unavailable = isBroken(error) ? unreadable(one(at).provider, error) : error;
      if (!(unavailable instanceof ChainUnavailable)) throw error;
      if (unavailable.trouble === 'wrong-chain') return exclude(at, `${one(at).provider}: ${unavailable.message}`);
      update(at, afterFailure(healthOf(at), unavailable.trouble, now(), unavailable.retryAfterMs));
      throw unavailable;
    }
  };

  /** Asks an endpoint which chain it serves. */
  const told = (at: number): Promise<string> => timed(at, () => one(at).identify());
  /** An endpoint of another chain than the other endpoints, or than the books, is asked for nothing else as long as it serves that chain. */
  const judge = (at: number, hash: string): string => {
    // A single endpoint contradicts no other. Whether its chain is that of the books is for the caller to compare.
    if (opened.length === 1) genesis = hash;
    genesis ??= hash;
    if (hash !== genesis) return exclude(at, `${one(at).provider} serves another chain than ${network.name}: its first block is ${hash}, not ${genesis}`);
    identities[at] = Promise.resolve(hash);
    if (healthOf(at).foreign !== null) update(at, { ...healthOf(at), foreign: null });
    return hash;
  };
  const identified = (at: number): Promise<string> => {
    const asking =
      identities[at] ??
      told(at)
        .then((hash) => judge(at, hash))
        .catch((error: unknown) => {
          identities[at] = undefined;
          throw error;
        });
    identities[at] = asking;
    return asking;
  };

  const ask = async <T>(at: number, question: () => Promise<T>, counted?: 'untimed' | 'remembered'): Promise<T> => {
    for (let checked = false; ; checked = true) {
      const { foreign } = healthOf(at);
      if (foreign !== null) throw new ChainUnavailable(foreign, { trouble: 'wrong-chain' });
      if (checked) return timed(at, question, counted);
      await identified(at);
    }
  };

  const quiet = (): ChainUnavailable => {
    const waits = healths.filter((health) => health.foreign === null).map((health) => health.quietUntilMs - now());
    if (waits.length === 0) return new ChainUnavailable(healths.map((health) => health.foreign).join('; '), { trouble: 'wrong-chain' });
    const retryAfterMs = Math.max(0, Math.min(...waits));
    return new ChainUnavailable(`${network.name}: every endpoint asked to be left alone, the first for ${Math.ceil(retryAfterMs / 1_000)} s`, {
      trouble: 'busy',
      retryAfterMs,
    });
  };

  return {
    count: opened.length,
    configured: new Set(opened.map(({ provider }) => provider)).size,
    providers: () => new Set(opened.filter((_, at) => healthOf(at).foreign === null).map(({ provider }) => provider)).size,
    providerOf: (at) => one(at).provider,
    inOrder: () => inOrder(healths, pace, now()),
    standing: (at) => standingOf(healths, at, pace, now()),
    ask,

    async first(question, { doubt, choose } = {}) {
      const asked = new Set<number>();
      const problems: ChainUnavailable[] = [];
      for (;;) {
        // Determined again each time, because the states may have changed meanwhile.
        const candidates = inOrder(healths, pace, now()).filter((candidate) => !asked.has(candidate));
        const [best] = candidates;
        if (best === undefined) throw problems.length === 0 ? quiet() : joined(network.name, problems);
        const at = choose === undefined || candidates.length === 1 ? best : await choose(candidates);
        asked.add(at);
        try {
          const answer = await ask(at, () => question(at));
          const problem = doubt?.(answer, at) ?? null;
          if (problem === null) return { at, answer };
          problems.push(new ChainUnavailable(`${one(at).provider} ${problem}`));
        } catch (error) {
          if (!(error instanceof ChainUnavailable)) throw error;
          problems.push(error);
        }
      }
    },

    sawHead: (at, head, expectedHash) => update(at, afterHead(healthOf(at), head, expectedHash, now())),

    async identifyAll(recorded) {
      if (recorded !== undefined && opened.length > 1) genesis = recorded;
      const answers = await Promise.allSettled(opened.map((_, at) => told(at)));
      const problems = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
      const hashes = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined));
      const different = [...new Set(hashes.filter((hash) => hash !== undefined))];
      if (genesis === undefined && different.length > 1)
        throw new ChainUnavailable(
          `${network.name}: the endpoints serve different chains, and none is recorded yet: ${hashes.flatMap((hash, at) => (hash === undefined ? [] : [`${one(at).provider} begins with ${hash}`])).join(', ')}`,
        );
      for (const [at, hash] of hashes.entries()) {
        if (hash === undefined) continue;
        try {
          judge(at, hash);
        } catch (error) {
          identities[at] = undefined;
          problems.push(error as Error);
        }
      }
      const [first] = different;
      if (genesis !== undefined && different.includes(genesis)) return genesis;
      if (first !== undefined && different.length === 1 && hashes.every((hash) => hash === first)) return first;
      const other = problems.find((problem) => !(problem instanceof ChainUnavailable));
      if (other !== undefined) throw other;
      throw joined(network.name, problems as ChainUnavailable[]);
    },

    reconsider() {
      for (const [at, { foreign }] of healths.entries()) {
        if (foreign === null || now() - (reconsideredMs[at] ?? 0) < RECONSIDER_MS) continue;
        reconsideredMs[at] = now();
        told(at)
          .then((hash) => judge(at, hash))
          .catch(() => undefined);
      }
    },

    report: () => opened.map((_, at) => reportOf(at)),
  };
}

/** Joins the errors of all endpoints into one; a single error is returned unchanged. */
function joined(network: string, problems: readonly ChainUnavailable[]): ChainUnavailable {
  const [first] = problems;
  if (first !== undefined && problems.length === 1) return first;
  const last = problems[problems.length - 1];
  return new ChainUnavailable(`${network}: no endpoint gave an answer that can be trusted: ${problems.map((one) => one.message).join('; ')}`, {
    ...(last === undefined ? {} : { trouble: last.trouble }),
    ...(last?.retryAfterMs === undefined ? {} : { retryAfterMs: last.retryAfterMs }),
    unknownFields: [...new Set(problems.flatMap((one) => one.unknownFields))],
  });
}
