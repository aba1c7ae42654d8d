import { POLICY } from '#shared/core/policy.ts';
import { type SharedJob, sharedJob } from './shared-job.ts';
import type { Job } from './work.ts';

interface NetworkJob extends Omit<SharedJob, 'placeOf' | 'places' | 'slowMs'> {
  /** The network that a run asks; undefined where there is nothing to run for. */
  networkOf: SharedJob['placeOf'];
}

/** A job whose runs ask the nodes of one network each, of which each has a share of the places. */
export function networkJob({ networkOf, ...job }: NetworkJob): Job {
  return sharedJob({ ...job, placeOf: networkOf, places: POLICY.networkLanes, slowMs: POLICY.networkSlowMs });
}
