import type { FinalityRule } from '#shared/core/assets.ts';
import { type AnnouncedBlock, type BlockRef, ChainUnavailable, type Head, type NodeAbility, type RangeContent, type Reader } from './chain.ts';
import { type ByLogs, type Doubt, openLogRanges } from './range-by-logs.ts';
import type { EndpointReport, Endpoints } from './watch-endpoints.ts';
import { paceOf } from './endpoint-health.ts';
import { askFate, type Fate, type FateQuestion } from './ask-fate.ts';
import { askingAbout, type SoughtTransfer, type SecondOpinion, type Vote, verdictOf, voteOn } from './endpoint-votes.ts';

/** The abilities that an endpoint lacks; null while it has not answered. */
export interface LackReport {
  /** Its host. */
  provider: string;
  lacks: readonly NodeAbility[] | null;
}

/** A network's reader over all of its endpoints. */
export interface JoinedReader extends Reader {
  /** Hash of the first block, as of any reader. `recorded` is the hash in the books, which decides when endpoints differ. */
  genesisHash(recorded?: string): Promise<string>;
  /**
   * Whether two providers report these transfers alike: block, success, recipient, coin and amount (reliability D9). `isFinal` says by a provider's
   * own head whether their block is final.
   * @throws ChainUnavailable when fewer than two of several providers answered
   */
  agrees(sought: readonly SoughtTransfer[], isFinal: (head: Head) => boolean): Promise<SecondOpinion>;
  /**
   * Whether two providers have this very block at its height, final by each one's head. An agreement under a `rule` is remembered, and not asked
   * for again.
   * @throws ChainUnavailable when fewer than two of several providers answered
   */
  agreesOnBlock(block: Pick<BlockRef, 'height' | 'hash'>, isFinal: (head: Head) => boolean, rule: string): Promise<SecondOpinion>;
  /**
   * Blocks by the logs of two providers (range-by-logs.ts). Absent where nodes have no index of logs.
   * @throws ChainUnavailable when it was too much to ask for at once
   */
  rangeByLogs?(from: number, to: number, how: ByLogs): Promise<RangeContent | Doubt>;
  /**
   * Asks every provider what became of bytes that exclude each other (decisions 10). Each trustworthy answer is put into `told` as soon as it
   * arrives, so that a provider that does not answer does not hide the others.
   */
  fates(question: FateQuestion, final: FinalityRule, told: Map<string, Fate>): Promise<void>;
  endpoints(): EndpointReport[];
  /** Asks every endpoint what it lacks, with `anew` also for abilities that it had. One that does not answer keeps its last report. */
  findLacks(anew?: boolean): Promise<readonly LackReport[]>;
  /** The last result of `findLacks`. */
  lacking(): readonly LackReport[];
}

interface Options {
  /** Milliseconds that never go back. */
  now?: () => number;
  blockSeconds: number;
}

/** How many hashes of heads are kept, to distinguish an endpoint that lags from one on another branch. */
const HEADS_KEPT = 256;
/** How many agreed blocks are remembered: some hours on the fastest chain, even if every block holds payments. */
const AGREED_KEPT = 10_000;
/** A head older than this no longer counts: the endpoint that reported it is gone, and the others may be right. */
const HEAD_BINDS_MS = 60_000;
/** A chain may be this many times as fast as it is said to be, for as long as only one endpoint says so. */
const MOST_TIMES_AS_FAST = 2;
/** Endpoints that are not in use are asked for their head this often: every so many blocks, within bounds. */
const PROBE_BLOCKS = 4;
const SHORTEST_PROBE_MS = 2_000;
const LONGEST_PROBE_MS = 15_000;

/**
 * Makes one reader of several. Each call runs on one endpoint only, so that a block is never put together from two, and on the next one when the
 * answer cannot be trusted (chains 4).
 */
export function joinReaders(endpoints: Endpoints, readers: readonly Reader[], options: Options): JoinedReader {
  const now = options.now ?? (() => performance.now());
  const probeMs = Math.min(LONGEST_PROBE_MS, Math.max(SHORTEST_PROBE_MS, options.blockSeconds * PROBE_BLOCKS * 1_000));
  const { lagBlocks } = paceOf(options.blockSeconds);
  const followed = new Map<number, string>();
  /** Endpoints on another branch than the followed one, each with the block that shows it. */
  const apart = new Map<number, number>();
  const probedMs = readers.map(() => Number.NEGATIVE_INFINITY);
  const agreed = new Set<string>();
  const lacks: (readonly NodeAbility[] | null)[] = readers.map(() => null);
  let served: { height: number; at: number; atMs: number } | undefined;
  /** The last head that each endpoint told, believed or not. */
  const told = new Map<number, { height: number; atMs: number }>();
  /** The last one that was believed, and since when it told no higher one. */
  const believed = new Map<number, { height: number; sinceMs: number }>();
  /** Endpoints whose last head was beyond all others. */
  const beyond = new Set<number>();

  const reader = (at: number): Reader => readers[at] as Reader;
  const read = async <T>(question: (one: Reader) => Promise<T>): Promise<T> => (await endpoints.first((at) => question(reader(at)))).answer;

  /** An endpoint that shows internal transfers is preferred to one that does not, but one that does not is better than none. */
  const choose = async (candidates: readonly number[]): Promise<number> => {
    for (const at of candidates) {
      if (endpoints.standing(at) === 'failing') continue;
      const sees = await endpoints.ask(at, () => reader(at).seesInternal(), 'remembered').catch(() => false);
      if (sees) return at;
    }
    return candidates[0] as number;
  };
  const readMoves = async <T>(question: (one: Reader) => Promise<T>): Promise<T> => (await endpoints.first((at) => question(reader(at)), { choose })).answer;

  /** Passes the announced block to the endpoint that would be asked for it now. If another one is asked in the end, this costs one request. */
  const foresee = (announced: AnnouncedBlock): void => {
    const tell = async (): Promise<void> => {
      const candidates = endpoints.inOrder();
      const [best] = candidates;
      if (best !== undefined) reader(candidates.length === 1 ? best : await choose(candidates)).foresee?.(announced);
    };
    tell().catch(() => undefined);
  };

  /**
   * The followed block that another endpoint than the one in use must have below its head, where that was in use lately: further down than the last blocks,
   * about which honest nodes differ for a while. Undefined where there is none to compare.
   */
  const followedBelow = (at: number, height: number): [number, string] | undefined => {
    if (served === undefined || served.at === at || now() - served.atMs >= HEAD_BINDS_MS) return undefined;
    const most = Math.min(height, served.height) - lagBlocks;
    return [...followed].findLast(([known]) => known <= most);
  };

  /** As many blocks as there may be since a moment, with the lag that is allowed. */
  const mostSince = (ms: number): number => lagBlocks + (MOST_TIMES_AS_FAST * (now() - ms)) / 1_000 / options.blockSeconds;

  /**
   * Whether a head is further than the chain can have come since its endpoint told another one, and no other endpoint that answers is near it: it is a mistake, and would make all
   * others lag. The first one that an endpoint tells is believed.
   */
  const isBeyond = (at: number, height: number): boolean => {
    const before = believed.get(at);
    if (before === undefined || height - before.height <= mostSince(before.sinceMs)) return false;
    const others = [...told].filter(([other, { atMs }]) => other !== at && endpoints.standing(other) !== 'foreign' && now() - atMs < HEAD_BINDS_MS);
    return others.length > 0 && others.every(([, theirs]) => height - theirs.height > mostSince(theirs.atMs));
  };

  const headOf = async (at: number): Promise<Head> => {
    probedMs[at] = now();
    const head = await reader(at).head();
    const wasBeyond = isBeyond(at, head.latest.height);
    told.set(at, { height: head.latest.height, atMs: now() });
    if (wasBeyond) {
      beyond.add(at);
      // Nobody is measured by it, and it counts as lagging itself.
      if (served !== undefined) endpoints.sawHead(at, { height: served.height, hash: head.latest.hash }, followed.get(served.height));
      return head;
    }
    beyond.delete(at);
    const before = believed.get(at);
    believed.set(at, { height: head.latest.height, sinceMs: before === undefined || head.latest.height > before.height ? now() : before.sinceMs });
    const [below, expected] = followedBelow(at, head.latest.height) ?? [];
    // An endpoint may come back on the wrong side of a fork, as high as the others: its next blocks would look like a reorganisation.
    const isApart = below !== undefined && (await reader(at).blockAt(below)).hash !== expected;
    if (isApart) apart.set(at, below);
    else apart.delete(at);
    endpoints.sawHead(at, head.latest, isApart ? expected : followed.get(head.latest.height));
    return head;
  };

  /** Asks endpoints that are not in use for their heads from time to time, to know which of them lag. */
  const probeOthers = (inUse: number): void => {
    for (const at of endpoints.inOrder()) {
      if (at === inUse || now() - (probedMs[at] ?? 0) < probeMs) continue;
      probedMs[at] = now();
      endpoints.ask(at, () => headOf(at)).catch(() => undefined);
    }
  };

  const doubtHead = ({ latest }: Head, at: number): string | null => {
    if (beyond.has(at)) return `tells of block ${latest.height}, which is further than the chain can have come, and which nobody else tells of`;
    if (apart.has(at)) return `is on another branch: block ${apart.get(at)} is not the one that was followed`;
    if (endpoints.count > 1 && endpoints.standing(at) === 'lagging') return `lags: its head is block ${latest.height}`;
    // Only the endpoint that reported the last head may go back behind it; changing the endpoint must not look like a reorganisation.
    if (served !== undefined && served.at !== at && latest.height < served.height && now() - served.atMs < HEAD_BINDS_MS)
      return `is behind: its head is block ${latest.height}, but block ${served.height} was seen`;
    return null;
  };

  const lacking = (): LackReport[] => lacks.map((found, at) => ({ provider: endpoints.providerOf(at), lacks: found }));

  /** Each endpoint has its own mempool, so all are asked, and a transaction in any one of them counts. */
  const waitingSpenders: Required<Reader>['waitingSpenders'] = async (wanted) => {
    const told = await Promise.all(readers.map((one, at) => endpoints.ask(at, () => (one.waitingSpenders as Required<Reader>['waitingSpenders'])(wanted))));
    return wanted.map((_, i) => told.map((spenders) => spenders[i] ?? null).find((spender) => spender !== null) ?? null);
  };

  /** Asks one provider after the other until two agree. */
  const poll = async (what: string, voteOf: (at: number, head: Head) => Promise<Vote>): Promise<SecondOpinion> => {
    // When several are configured, one answer is never enough, whatever happened to the others.
    if (endpoints.configured < 2) return 'alone';
    const votes = new Map<string, Vote>();
    for (const at of endpoints.inOrder()) {
      const provider = endpoints.providerOf(at);
      const before = votes.get(provider);
      if (before === 'same' || before === 'other') continue;
      try {
        const head = await endpoints.ask(at, () => headOf(at));
        // By such a head everything would be final.
        if (beyond.has(at)) continue;
        votes.set(provider, await voteOf(at, head));
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
      }
      if ([...votes.values()].filter((vote) => vote === 'same').length === 2) return 'agreed';
    }
    const verdict = verdictOf([...votes.values()]);
    if (verdict !== undefined) return verdict;
    throw new ChainUnavailable(`fewer than two providers tell of ${what} as final`);
  };

  return {
    async genesisHash(recorded) {
      const hash = await endpoints.identifyAll(recorded);
      probeOthers(-1);
      return hash;
    },

    async head() {
      endpoints.reconsider();
      const { at, answer } = await endpoints.first(headOf, { doubt: doubtHead });
      const { height, hash, parentHash } = answer.latest;
      // After a reorganisation nobody is measured by what was followed before it.
      if ((followed.get(height - 1) ?? parentHash) !== parentHash) followed.clear();
      if (served !== undefined && height < served.height) for (const known of [...followed.keys()]) if (known > height) followed.delete(known);
      followed.delete(height);
      followed.set(height, hash);
      for (const oldest of followed.keys()) {
        if (followed.size <= HEADS_KEPT) break;
        followed.delete(oldest);
      }
      served = { height, at, atMs: now() };
      if (endpoints.count > 1) probeOthers(at);
      return answer;
    },

    blockAt: (height) => read((one) => one.blockAt(height)),
    ...(readers.some((one) => one.foresee !== undefined) ? { foresee } : {}),
    block: (hash, watched, how) => readMoves((one) => one.block(hash, watched, how)),
    range: (from, to, watched, how) => readMoves((one) => one.range(from, to, watched, how)),
    ...(readers.every((one) => one.tokenPlaces !== undefined)
      ? { rangeByLogs: openLogRanges({ endpoints, readers, readBlock: (hash, watched) => readMoves((one) => one.block(hash, watched)) }) }
      : {}),

    async transaction(txid, inBlock) {
      const { at, answer } = await endpoints.first((one) => reader(one).transaction(txid, inBlock), { choose });
      if (answer !== null || endpoints.providers() < 2) return answer;
      // A lagging node says the same about a transaction that it has not seen yet, so another provider must confirm it.
      for (const other of endpoints.inOrder()) {
        if (endpoints.providerOf(other) === endpoints.providerOf(at) || endpoints.standing(other) === 'lagging') continue;
        try {
          return await endpoints.ask(other, () => reader(other).transaction(txid, inBlock));
        } catch (error) {
          if (!(error instanceof ChainUnavailable)) throw error;
        }
      }
      throw new ChainUnavailable(`only ${endpoints.providerOf(at)} says that there is no transaction ${txid}, and nobody confirms it`);
    },

    async seesInternal() {
      const at = await choose(endpoints.inOrder().length === 0 ? [0] : endpoints.inOrder());
      return endpoints.ask(at, () => reader(at).seesInternal(), 'remembered');
    },
    balance: (address, contract, height) => read((one) => one.balance(address, contract, height)),
    ...optional(readers, read),
    ...(readers.every((one) => one.waitingSpenders !== undefined) ? { waitingSpenders } : {}),

    agrees: (sought, isFinal) =>
      poll(`transaction ${sought[0]?.txid}`, (at, head) => {
        const factsOf = askingAbout(sought, reader(at));
        return voteOn(sought, head, isFinal, (txid, inBlock) => endpoints.ask(at, () => factsOf(txid, inBlock)));
      }),

    async agreesOnBlock({ height, hash }, isFinal, rule) {
      const key = `${height} ${hash} ${rule}`;
      if (agreed.has(key)) return 'agreed';
      const opinion = await poll(`block ${height}`, async (at, head) => {
        if (!isFinal(head) || height > head.latest.height) return 'behind';
        const told = head.latest.height === height ? head.latest : await endpoints.ask(at, () => reader(at).blockAt(height));
        return told.hash === hash ? 'same' : 'other';
      });
      if (opinion !== 'agreed') return opinion;
      for (const oldest of agreed) {
        if (agreed.size < AGREED_KEPT) break;
        agreed.delete(oldest);
      }
      agreed.add(key);
      return opinion;
    },

    async fates(question, final, told) {
      const asked = new Map<string, number[]>();
      for (const at of endpoints.inOrder()) asked.set(endpoints.providerOf(at), [...(asked.get(endpoints.providerOf(at)) ?? []), at]);
      const askOne = async (provider: string, own: readonly number[]): Promise<void> => {
        for (const at of own) {
          try {
            const head = await endpoints.ask(at, () => headOf(at));
            told.set(provider, await endpoints.ask(at, () => askFate(reader(at), head, final, question)));
            return;
          } catch (error) {
            if (!(error instanceof ChainUnavailable)) throw error;
          }
        }
      };
      await Promise.all([...asked].map(([provider, own]) => askOne(provider, own)));
    },

    endpoints: () => endpoints.report(),
    lacking,

    async findLacks(anew = false) {
      const findOf = async (one: Reader, at: number): Promise<void> => {
        try {
          lacks[at] = await endpoints.ask(at, () => one.lacks?.(anew) ?? Promise.resolve([]), 'remembered');
        } catch (error) {
          if (!(error instanceof ChainUnavailable)) throw error;
        }
      };
      await Promise.all(readers.map(findOf));
      return lacking();
    },

    async close() {
      await Promise.all(readers.map((one) => one.close()));
    },
  };
}

/** The methods that only some families have: present when the readers have them. */
function optional(readers: readonly Reader[], read: <T>(question: (one: Reader) => Promise<T>) => Promise<T>): Pick<Reader, OnlySome> {
  const all = <M extends OnlySome>(method: M): boolean => readers.every((one) => one[method] !== undefined);
  return {
    ...(all('hasCode') ? { hasCode: (address) => read((one) => (one.hasCode as Required<Reader>['hasCode'])(address)) } : {}),
    ...(all('mempool') ? { mempool: (watched, known) => read((one) => (one.mempool as Required<Reader>['mempool'])(watched, known)) } : {}),
    ...(all('outputs') ? { outputs: (wanted) => read((one) => (one.outputs as Required<Reader>['outputs'])(wanted)) } : {}),
    ...(all('unspentAt') ? { unspentAt: (address) => read((one) => (one.unspentAt as Required<Reader>['unspentAt'])(address)) } : {}),
  };
}

type OnlySome = 'hasCode' | 'mempool' | 'outputs' | 'unspentAt';
