import type { Database } from '#shared/platform/postgres.ts';
import { doneTogether } from '#shared/platform/together.ts';
import { endOutbox, leaseOutbox, type OutboxLease, type Topic } from './outbox.ts';

/** Rows in one statement: as many as a worker runs of one topic at a time. */
const MOST = 64;

/** How rows of the outbox are begun and ended: those of one moment by one statement. */
export interface SharedLeases {
  /** Claims a row; undefined when it is not to be run, or whoever asked for it in the same moment has it. */
  take(row: { id: string; topic: Topic }): Promise<OutboxLease | undefined>;
  /** Closes a row, or puts it back until `again`. */
  end(run: { lease: OutboxLease; again: Date | null }): Promise<void>;
}

const ofDatabase = new WeakMap<Database, SharedLeases>();

/** The leases of one connected database, which last for `seconds`. */
export function sharedLeases(db: Database, seconds: number): SharedLeases {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const take = doneTogether(
    async (rows: readonly { id: string; topic: Topic }[]) => {
      const leases = new Map((await leaseOutbox(db.sql, rows, { seconds, wait: false })).map((lease) => [lease.id, lease]));
      return rows.map(({ id, topic }) => {
        const lease = leases.get(id);
        if (lease?.topic !== topic) return undefined;
        // Redis may bring a job twice: the first has it.
        leases.delete(id);
        return lease;
      });
    },
    { most: MOST },
  );
  const end = doneTogether(
    async (ends: readonly { lease: OutboxLease; again: Date | null }[]) => {
      await endOutbox(db.sql, ends);
      return ends.map(() => undefined);
    },
    { most: MOST },
  );
  const leases: SharedLeases = {
    // What somebody else has locked is waited for alone, so that nobody waits for another's row.
    take: async (row) => (await take(row)) ?? (await leaseOutbox(db.sql, [row], { seconds, wait: true }))[0],
    end,
  };
  ofDatabase.set(db, leases);
  return leases;
}
