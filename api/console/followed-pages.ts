import type { Deps } from '#api/deps.ts';
import { type ChangeMark, type Marked, readChangeMarks } from '#api/store/change-marks.ts';
import { listLiveSessions } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';

/** A page that somebody has open. */
export interface FollowedPage {
  what: Marked;
  id: string;
  sessionId: string;
  personId: string;
  /** The gateway, or the deployment, whose page it is. */
  place: string;
  /** Asked now and then. @throws where whoever reads may do so no more */
  admit(): Promise<void>;
  /** Told the mark at first, and every other one from then on. */
  told(mark: string): void;
  /** Told when there is no more to come: whoever reads may not, or this process stops. */
  ended(why: 'refused' | 'closing'): void;
}

/** The pages of this process that follow what they show. */
export interface FollowedPages {
  /**
   * Follows until the returned function is called, or `ended` was. It reads the database alone, so that nothing is later while Redis is away.
   * @throws rate_limit_exceeded when the person or the place has its share, service_unavailable when all places are taken
   */
  follow(page: FollowedPage): () => void;
  stop(): void;
}

interface Limits {
  perPerson: number;
  perPlace: number;
  together: number;
  lookMs: number;
  admitMs: number;
}

const LIMITS: Limits = {
  perPerson: POLICY.streamsPerPerson,
  perPlace: POLICY.streamsPerPlace,
  together: POLICY.streams,
  lookMs: POLICY.streamLookMs,
  admitMs: POLICY.streamAdmitSeconds * 1_000,
};
/** Whoever is refused may come again after this. */
const RETRY_SECONDS = 30;

interface Open {
  page: FollowedPage;
  mark?: string;
  admittedAt: number;
}

/** Opens the one of a process: every look is one query for each kind of page and one for all sessions, however many pages there are. */
export function openFollowedPages({ db, log }: Pick<Deps, 'db' | 'log'>, limits: Partial<Limits> = {}): FollowedPages {
  const { perPerson, perPlace, together, lookMs, admitMs } = { ...LIMITS, ...limits };
  const open = new Set<Open>();
  let failing = false;
  let stopped = false;

  const end = (one: Open, why: 'refused' | 'closing'): void => {
    if (open.delete(one)) one.page.ended(why);
  };
  const dismiss = async (): Promise<void> => {
    const asked = [...open];
    const live = new Set(await listLiveSessions(db.sql, [...new Set(asked.map(({ page }) => page.sessionId))]));
    for (const one of asked) if (!live.has(one.page.sessionId)) end(one, 'refused');
    const due = [...open].filter(({ admittedAt }) => performance.now() - admittedAt >= admitMs);
    for (const one of due) {
      try {
        await one.page.admit();
        one.admittedAt = performance.now();
      } catch (error) {
        // Of a database that is away nothing follows about anybody.
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        end(one, 'refused');
      }
    }
  };
  const look = async (): Promise<void> => {
    if (open.size === 0) return;
    await dismiss();
    const marks = new Map<string, ChangeMark>();
    for (const what of ['payment', 'cashout'] as const) {
      const ids = new Set([...open].filter(({ page }) => page.what === what).map(({ page }) => page.id));
      if (ids.size > 0) for (const mark of await readChangeMarks(db.sql, what, [...ids])) marks.set(mark.id, mark);
    }
    for (const one of open) {
      const mark = marks.get(one.page.id)?.mark;
      if (mark === undefined || mark === one.mark) continue;
      one.mark = mark;
      one.page.told(mark);
    }
  };
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void again(), lookMs);
    timer.unref();
  };
  const again = async (): Promise<void> => {
    try {
      await look();
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'cannot look at what pages show; trying again');
      failing = true;
    }
    next();
  };
  let timer: NodeJS.Timeout | undefined;
  next();

  return {
    follow(page) {
      const taken = (of: 'personId' | 'place'): number => [...open].filter((one) => one.page[of] === page[of]).length;
      if (taken('personId') >= perPerson || taken('place') >= perPlace)
        throw new ServiceError('rate_limit_exceeded', { message: 'Too many pages are followed.', retryAfterSeconds: RETRY_SECONDS });
      if (stopped || open.size >= together) throw new ServiceError('service_unavailable', { retryAfterSeconds: RETRY_SECONDS });
      const one: Open = { page, admittedAt: performance.now() };
      open.add(one);
      return () => void open.delete(one);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const one of [...open]) end(one, 'closing');
    },
  };
}
