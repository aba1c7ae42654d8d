import type { Deps } from '#api/deps.ts';
import { readClock } from '#api/store/clock.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type LaneLimits, openLanes } from './lanes.ts';
import type { Job } from './work.ts';

/** A job whose places are shared. */
export interface SharedJob extends Pick<Job, 'topic' | 'run'> {
  /** Whose place a run takes; undefined where there is nothing to run for. */
  placeOf(sql: Reads, refId: string): Promise<string | undefined>;
  places: LaneLimits;
  /** A run that takes so many milliseconds waited for somebody who does not answer. */
  slowMs: number;
}

/**
 * A job of whose places everybody has a share, and whoever does not get answers a single one, so that what is for others goes on; a run that finds no
 * place asks again a little later.
 */
export function sharedJob({ topic, places, slowMs, placeOf, run }: SharedJob): Job {
  const clock = (): number => performance.now();
  const lanes = openLanes(places, clock);
  return {
    topic,
    concurrency: places.places,
    run: async (deps: Deps, refId, begun) => {
      const whose = await placeOf(deps.db.sql, refId);
      if (whose === undefined) return run(deps, refId, begun);
      const lane = await lanes.enter({ target: whose, tenant: whose });
      if ('pauseMs' in lane) return { again: new Date((await readClock(deps.db.sql)).now.getTime() + Math.ceil(lane.pauseMs)) };
      const began = clock();
      lane.sent();
      try {
        return await run(deps, refId, begun);
      } finally {
        const tookMs = clock() - began;
        lane.leave({ tookMs, timedOut: tookMs >= slowMs });
      }
    },
  };
}
