import type { Head } from '#shared/chains/chain.ts';
import type { Trail } from './trail.ts';

/** Fewer final blocks than this are read one by one, by hash, like the head. */
const SHORTEST_RANGE = 4;

/** What to read next, given the chain's head and what was published. */
export type Plan =
  /** Nothing was ever published: begin with this block. */
  | { step: 'begin'; height: number }
  /** The head is published. */
  | { step: 'caught-up' }
  /** The node is behind what it told before: it lags, or the chain was rolled back and has no new block yet. */
  | { step: 'behind' }
  /** Blocks nobody will take back: read them together. */
  | { step: 'range'; from: number; to: number }
  /** One block near the head; its hash when the head itself told it. */
  | { step: 'block'; height: number; hash: string | undefined }
  /** The node's chain does not contain the last published block. */
  | { step: 'fork' };

/** Reconciles the head with what was published; pure. `rangeSize` is the most blocks one range may cover. */
export function planNext(trail: Pick<Trail, 'last' | 'hashAt'>, head: Head, finalHeight: number, rangeSize: number): Plan {
  const last = trail.last();
  const { latest } = head;
  if (last === undefined) return { step: 'begin', height: Math.max(0, Math.min(finalHeight, latest.height)) };
  if (latest.hash === last.hash) return { step: 'caught-up' };
  if (latest.height <= last.height) {
    const published = trail.hashAt(latest.height);
    return published !== undefined && published !== latest.hash ? { step: 'fork' } : { step: 'behind' };
  }
  const next = last.height + 1;
  if (finalHeight - next + 1 >= SHORTEST_RANGE) return { step: 'range', from: next, to: Math.min(finalHeight, next + rangeSize - 1) };
  if (next === latest.height) return latest.parentHash === last.hash ? { step: 'block', height: next, hash: latest.hash } : { step: 'fork' };
  return { step: 'block', height: next, hash: undefined };
}
