import type { Logger } from '#shared/platform/logger.ts';
import { coalesce } from './coalesce.ts';
import { contentOf, isConcerned, nextLook } from './live-rules.ts';
import type { NewsLine } from './news.ts';
import type { Snapshot } from './page/snapshot.ts';

/** How often things are looked at, in milliseconds. */
export interface Pace {
  /** A payment that may still move. */
  open: number;
  /** One that rests. */
  resting: number;
  /** Any, while no news can arrive. */
  deaf: number;
  /** How often the above are checked. */
  tick: number;
}

const PACE: Pace = { open: 20_000, resting: 60_000, deaf: 3_000, tick: 250 };
/** A fraction of the pool of transactions, so that watching pages never keeps anybody from paying. */
const READS_AT_ONCE = 8;
/** Of these for looks at many at once (whatever is due, whatever waits for a block), so that news of one payment never waits behind them. */
const ROUTINE_AT_ONCE = 4;

/** One page's view of its payment. */
export interface Following {
  /** As it was after `follow` was called. */
  snapshot: Snapshot;
  /** Service time as far as it is known here, RFC 3339. */
  serverTime(): string;
  unfollow(): void;
}

/** Keeps the pages that are connected to this process up to date. */
export interface Live {
  /**
   * Reads a payment and calls `listener` with each later snapshot that says something new, until it is unfollowed. Whatever is
   * said to the listener before this resolves is older than what it resolves with, or the same.
   * @throws what reading throws
   */
  follow(paymentId: string, listener: (snapshot: Snapshot) => void): Promise<Following>;
  /** Reads a payment anew, shows it to everybody who follows it if it changed, and answers it. @throws what reading throws */
  refresh(paymentId: string): Promise<Snapshot>;
  /** Looks again at those of these payments that are followed here. */
  look(paymentIds: readonly string[]): void;
  stop(): void;
}

interface Followed {
  listeners: Set<(snapshot: Snapshot) => void>;
  latest?: Snapshot;
  content?: string;
  /** Monotonic times: of the latest snapshot, of the last attempt to read one, and when the next one is due. */
  readAt: number;
  triedAt: number;
  dueAt: number;
}

/**
 * The hub between news of payments and the pages that show them. News only says where to look; what is shown was read. Losing
 * any or all of it costs seconds: every followed payment is read again at its deadlines, after each time news may have been
 * lost, and now and then anyway.
 */
export function openLive(parts: { read(paymentId: string): Promise<Snapshot>; log: Logger; news?: Omit<NewsLine, 'announce'>; pace?: Partial<Pace> }): Live {
  const { log, news } = parts;
  const pace = { ...PACE, ...parts.pace };
  const followed = new Map<string, Followed>();
  let failing = false;

  const readAndShow = async (paymentId: string): Promise<Snapshot> => {
    try {
      const snapshot = await parts.read(paymentId);
      failing = false;
      const one = followed.get(paymentId);
      if (one !== undefined) show(one, snapshot, nextLook(snapshot, pace));
      return snapshot;
    } catch (error) {
      const one = followed.get(paymentId);
      if (one !== undefined) {
        one.triedAt = performance.now();
        one.dueAt = one.triedAt + pace.deaf;
      }
      throw error;
    }
  };
  const read = coalesce(readAndShow, READS_AT_ONCE);

  const lookAt = async (paymentId: string, one: Followed): Promise<void> => {
    one.dueAt = Number.POSITIVE_INFINITY;
    try {
      await read(paymentId);
    } catch (error) {
      if (!failing) log.warn({ err: error, paymentId }, 'cannot read a payment that is shown; trying again');
      failing = true;
    }
  };
  const look = (paymentIds: readonly string[]): void => {
    for (const id of paymentIds) {
      const one = followed.get(id);
      if (one !== undefined) void lookAt(id, one);
    }
  };
  const overdue = new Set<string>();
  let routine = 0;
  const work = (): void => {
    for (const id of overdue) {
      if (routine >= ROUTINE_AT_ONCE) return;
      overdue.delete(id);
      const one = followed.get(id);
      if (one === undefined) continue;
      routine += 1;
      void lookAt(id, one).then(() => {
        routine -= 1;
        work();
      });
    }
  };
  const stopListening = news?.listen(
    ({ paymentIds, network }) => {
      look(paymentIds);
      if (network === undefined) return;
      for (const [id, one] of followed) if (one.latest !== undefined && isConcerned(one.latest, network)) overdue.add(id);
      work();
    },
    () => {
      for (const id of followed.keys()) overdue.add(id);
      work();
    },
  );
  const ticking = setInterval(() => {
    const now = performance.now();
    const longest = news?.deaf() === true ? pace.deaf : Number.POSITIVE_INFINITY;
    for (const [id, one] of followed) if (now >= one.dueAt || (Number.isFinite(one.dueAt) && now >= one.triedAt + longest)) overdue.add(id);
    work();
  }, pace.tick);
  ticking.unref();

  return {
    async follow(paymentId, listener) {
      const one = followed.get(paymentId) ?? newlyFollowed();
      followed.set(paymentId, one);
      one.listeners.add(listener);
      const unfollow = (): void => {
        one.listeners.delete(listener);
        if (one.listeners.size === 0 && followed.get(paymentId) === one) followed.delete(paymentId);
      };
      try {
        const snapshot = await read(paymentId);
        return { snapshot, unfollow, serverTime: () => timeOf(one) };
      } catch (error) {
        unfollow();
        throw error;
      }
    },
    refresh: read,
    look,
    stop() {
      clearInterval(ticking);
      stopListening?.();
      followed.clear();
    },
  };
}

function newlyFollowed(): Followed {
  const now = performance.now();
  return { listeners: new Set(), readAt: now, triedAt: now, dueAt: Number.POSITIVE_INFINITY };
}

/**
 * Takes over what was read last, and shows it when it says something new. Reads of a payment follow one another, so that the
 * last one is the truth whatever its time says: a database that failed over may have a clock that is behind.
 */
function show(one: Followed, snapshot: Snapshot, dueInMs: number): void {
  const now = performance.now();
  one.triedAt = now;
  one.dueAt = now + dueInMs;
  const content = contentOf(snapshot);
  const isNew = content !== one.content;
  Object.assign(one, { latest: snapshot, content, readAt: now });
  if (isNew) for (const listener of [...one.listeners]) listener(snapshot);
}

function timeOf({ latest, readAt }: Followed): string {
  const at = latest === undefined ? Date.now() : Date.parse(latest.serverTime) + (performance.now() - readAt);
  return new Date(at).toISOString();
}
