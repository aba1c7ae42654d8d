import type { Database, Reads } from '#shared/platform/postgres.ts';
import { doneTogether } from '#shared/platform/together.ts';
import { endOutbox, leaseOutbox, type OutboxLease, type Topic } from './outbox.ts';

/** Rows in one statement: as many as a worker runs of one topic at a time. */
const MOST = 64;

/** Reads what the work of claimed rows begins with, by the ids of the rows. */
type ReadClaimed = (sql: Reads, outboxIds: readonly string[]) => Promise<ReadonlyMap<string, unknown>>;

interface Wanted {
  id: string;
  topic: Topic;
  read?: ReadClaimed | undefined;
}

interface Taken {
  lease: OutboxLease;
  /** What `read` found; undefined where it was not asked, or could not answer. */
  read: unknown;
}

/** How rows of the outbox are begun and ended: those of one moment by one statement. */
export interface SharedLeases {
  /** Claims a row, and reads what its work begins with in the same round trip; undefined when it is not to be run, or whoever asked for it in the same moment has it. */
  take(row: Wanted): Promise<Taken | undefined>;
  /** Closes a row, or puts it back until `again`. */
  end(run: { lease: OutboxLease; again: Date | null }): Promise<void>;
}

const ofDatabase = new WeakMap<Database, SharedLeases>();

/** The leases of one connected database, which last for `seconds`. */
export function sharedLeases(db: Database, seconds: number): SharedLeases {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const take = doneTogether(
    async (rows: readonly Wanted[]) => {
      const claimed = await claim(db, rows, seconds);
      return rows.map(({ id, topic }) => {
        const taken = claimed.get(id);
        if (taken?.lease.topic !== topic) return undefined;
        // Redis may bring a job twice: the first has it.
        claimed.delete(id);
        return taken;
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
    take: async (row) => (await take(row)) ?? (await claimAlone(db, row, seconds)),
    end,
  };
  ofDatabase.set(db, leases);
  return leases;
}

async function claimAlone(db: Database, row: Wanted, seconds: number): Promise<Taken | undefined> {
  const [lease] = await leaseOutbox(db.sql, [row], { seconds, wait: true });
  return lease && { lease, read: undefined };
}

/** Claims rows and has what their work begins with read behind that, on the same connection: nothing of it is older than the claim. */
async function claim(db: Database, rows: readonly Wanted[], seconds: number): Promise<Map<string, Taken>> {
  const reserved = await db.sql.reserve();
  try {
    const claiming = leaseOutbox(reserved, rows, { seconds, wait: false });
    const readers = [...new Set(rows.map(({ read }) => read))].filter((read) => read !== undefined);
    const idsFor = (read: ReadClaimed): string[] => rows.filter((row) => row.read === read).map(({ id }) => id);
    // The connection is given back once nothing is on its way any more. Whose read failed asks itself, and says what is wrong.
    const [claimed, ...found] = await Promise.allSettled([claiming, ...readers.map((read) => read(reserved, idsFor(read)))]);
    if (claimed.status === 'rejected') throw claimed.reason;
    const reads = new Map(found.flatMap((part) => (part.status === 'fulfilled' ? [...part.value] : [])));
    return new Map(claimed.value.map((lease) => [lease.id, { lease, read: reads.get(lease.id) }]));
  } finally {
    reserved.release();
  }
}
