import { acquireConsumerLeases, releaseConsumerLease } from '#api/store/leases.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/**
 * How long a worker that says nothing keeps others out while its sessions at Postgres live on: one that hangs, or whose host is cut off. One whose process
 * ended has no session any more, and keeps nobody out. Nothing rests on it: the fencing number is asked about in each transaction that applies a block.
 */
const LEASE_SECONDS = 15;
/** Leaves room for one renewal that fails. */
const RENEWED_EVERY_MS = 5_000;
/** How often a worker that lacks a lease looks whether somebody gave it up, or died. */
const LOOKS_EVERY_MS = 2_000;
/** The least between two questions that one network has reason for, however they end. */
const ASKED_AGAIN_MS = 500;

/** The right of one process to apply streams, of all of its networks by one statement. */
export interface ConsumerLeases {
  /**
   * The fencing number under which this process may apply a network's stream now; undefined while somebody else does. To be asked between transactions: a lease that
   * one leans on is not renewed. @throws when Postgres cannot be asked and the lease has run out
   */
  fence(networkId: string): Promise<number | undefined>;
  /**
   * What a transaction that leans on a network's lease and begins now renews it by, where that is soon due; then nothing is asked beside it. `kept` is to be called once it has
   * committed.
   */
  renewal(networkId: string): { seconds: number; kept(): void } | undefined;
  /** Gives one up at once, until it is asked for again. */
  release(networkId: string): Promise<void>;
}

/** Leases of none of these networks yet. `holder` must be unique per process, and is `api:` and its id where its sessions bear that. */
export function openConsumerLeases(sql: Reads, networkIds: readonly string[], holder: string): ConsumerLeases {
  const wanted = new Set(networkIds);
  const held = new Map<string, { fence: number; renewedMs: number }>();
  /** When each network last had reason to ask. */
  const askedFor = new Map<string, number>();
  let askedMs = Number.NEGATIVE_INFINITY;
  let absent: readonly string[] = [];
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    askedMs = performance.now();
    const terms = await acquireConsumerLeases(sql, { networkIds: [...wanted], holder, seconds: LEASE_SECONDS, gone: absent });
    for (const { networkId, fence } of terms.held) held.set(networkId, { fence, renewedMs: askedMs });
    // One that is missing twice in a row is gone.
    absent = terms.absent;
  };
  const current = (networkId: string): number | undefined => {
    const lease = held.get(networkId);
    return lease !== undefined && performance.now() < lease.renewedMs + LEASE_SECONDS * 1_000 ? lease.fence : undefined;
  };
  const isDue = (networkId: string): boolean => {
    const now = performance.now();
    // Each network by its own renewal: when another one asked, this one's lease may have been leaned on.
    const waited = current(networkId) === undefined ? now - askedMs >= LOOKS_EVERY_MS : now - (held.get(networkId)?.renewedMs ?? 0) >= RENEWED_EVERY_MS;
    return waited && now - (askedFor.get(networkId) ?? Number.NEGATIVE_INFINITY) >= ASKED_AGAIN_MS;
  };
  return {
    async fence(networkId) {
      wanted.add(networkId);
      if (isDue(networkId)) {
        askedFor.set(networkId, performance.now());
        asking ??= ask().finally(() => {
          asking = undefined;
        });
      }
      // Whoever has a lease that has not run out goes on under it, also where it could not be renewed this time.
      await asking?.catch((error: unknown) => {
        if (current(networkId) === undefined) throw error;
      });
      return current(networkId);
    },
    renewal(networkId) {
      const lease = held.get(networkId);
      const renewedMs = performance.now();
      if (lease === undefined || renewedMs - lease.renewedMs < RENEWED_EVERY_MS / 2) return undefined;
      const kept = (): void => {
        if (held.get(networkId) === lease) held.set(networkId, { fence: lease.fence, renewedMs });
      };
      return { seconds: LEASE_SECONDS, kept };
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
