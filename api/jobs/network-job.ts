import type { Deps } from '#api/deps.ts';
import { readClock } from '#api/store/clock.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { openLanes } from './lanes.ts';
import type { Job } from './work.ts';

interface NetworkJob extends Omit<Job, 'concurrency'> {
  /** The network that a run asks; undefined where there is nothing to run for. */
  networkOf(sql: Reads, refId: string): Promise<string | undefined>;
}

/**
 * A job whose runs ask the nodes of one network each. Each network has a share of the places, and one that does not answer a single one, so that
 * what is for other networks goes on; a run that finds no place asks again a little later.
 */
export function networkJob({ topic, networkOf, run }: NetworkJob): Job {
  const clock = (): number => performance.now();
  const lanes = openLanes(POLICY.networkLanes, clock);
  return {
    topic,
    concurrency: POLICY.networkLanes.together,
    run: async (deps: Deps, refId) => {
      const network = await networkOf(deps.db.sql, refId);
      if (network === undefined) return run(deps, refId);
      const lane = await lanes.enter({ target: network, tenant: network });
      if ('pauseMs' in lane) return { again: new Date((await readClock(deps.db.sql)).now.getTime() + Math.ceil(lane.pauseMs)) };
      const began = clock();
      try {
        return await run(deps, refId);
      } finally {
        const tookMs = clock() - began;
        lane.leave({ tookMs, timedOut: tookMs >= POLICY.networkSlowMs });
      }
    },
  };
}
