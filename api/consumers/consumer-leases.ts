import { acquireConsumerLeases, releaseConsumerLease } from '#api/store/leases.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/**
 * How long a worker that says nothing keeps others out while its sessions at Postgres live on: one that hangs, or whose host is cut off. One whose process
 * ended has no session any more, and keeps nobody out. Nothing rests on it: the fencing number is asked about in each transaction that applies a block.
 */
const LEASE_SECONDS = 15;
/** Leaves room for one renewal that fails. */
const RENEWED_EVERY_MS = 5_000;
/** How often a worker that holds nothing looks whether somebody gave a lease up, or died. */
const LOOKS_EVERY_MS = 2_000;

/** The right of one process to apply streams, of all of its networks by one statement. */
export interface ConsumerLeases {
  /** The fencing number under which this process may apply a network's stream now; undefined while somebody else does. @throws when Postgres cannot be asked */
  fence(networkId: string): Promise<number | undefined>;
  /** Gives one up at once, until it is asked for again. */
  release(networkId: string): Promise<void>;
}

/** Leases of none of these networks yet. `holder` must be unique per process, and is `api:` and its id where its sessions bear that. */
export function openConsumerLeases(sql: Reads, networkIds: readonly string[], holder: string): ConsumerLeases {
  const wanted = new Set(networkIds);
  const held = new Map<string, { fence: number; untilMs: number }>();
  let askedMs = Number.NEGATIVE_INFINITY;
  let absent: readonly string[] = [];
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    askedMs = performance.now();
    const terms = await acquireConsumerLeases(sql, { networkIds: [...wanted], holder, seconds: LEASE_SECONDS, gone: absent });
    for (const { networkId, fence } of terms.held) held.set(networkId, { fence, untilMs: askedMs + LEASE_SECONDS * 1_000 });
    // One that is missing twice in a row is gone.
    absent = terms.absent;
  };
  const current = (networkId: string): number | undefined => {
    const lease = held.get(networkId);
    return lease !== undefined && performance.now() < lease.untilMs ? lease.fence : undefined;
  };
  return {
    async fence(networkId) {
      wanted.add(networkId);
      const patience = current(networkId) === undefined ? LOOKS_EVERY_MS : RENEWED_EVERY_MS;
      if (performance.now() - askedMs >= patience)
        asking ??= ask().finally(() => {
          asking = undefined;
        });
      await asking;
      return current(networkId);
    },
    async release(networkId) {
      wanted.delete(networkId);
      // What is on its way may take it once more.
      await asking?.catch(() => undefined);
      held.delete(networkId);
      await releaseConsumerLease(sql, { networkId, holder });
    },
  };
}
