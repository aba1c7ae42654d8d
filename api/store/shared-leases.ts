import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Reads } from '#shared/platform/postgres.ts';
import { doneTogether } from '#shared/platform/together.ts';
import { endOutbox, leaseOutbox, type OutboxLease, type Topic } from './outbox.ts';

/** Rows in one statement, at most. */
const MOST = 64;
/** How long claims are kept from their runs for what is read behind them: mostly it is there at once, and what is asked for until then is the next statement together. */
const READ_MS = 50;

/** Reads what the work of claimed rows begins with, by the ids of the rows. */
type ReadClaimed = (sql: Reads, outboxIds: readonly string[]) => Promise<ReadonlyMap<string, unknown>>;

interface Wanted {
  id: string;
  topic: Topic;
  read?: ReadClaimed | undefined;
}

/** A row that was claimed. */
export interface Taken {
  lease: OutboxLease;
  /** What `read` finds; undefined where it was not asked, or cannot answer. Never rejects. */
  reading: Promise<unknown>;
}

/** How rows of the outbox are begun and ended: those of one moment by one statement. */
export interface SharedLeases {
  /**
   * Claims a row, and has what its work begins with read in the same round trip; undefined when it is not to be run, or whoever asked for it in the same moment has it. Waits for no
   * read that takes long: the lease runs from now, and others of the moment have none.
   */
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
  return lease && { lease, reading: Promise.resolve(undefined) };
}

/** Claims rows and has what their work begins with read behind that, on the same connection: nothing of it is older than the claim. */
async function claim(db: Database, rows: readonly Wanted[], seconds: number): Promise<Map<string, Taken>> {
  const reserved = await db.sql.reserve();
  const claiming = leaseOutbox(reserved, rows, { seconds, wait: false });
  const readers = [...new Set(rows.map(({ read }) => read))].filter((read) => read !== undefined);
  const idsFor = (read: ReadClaimed): string[] => rows.filter((row) => row.read === read).map(({ id }) => id);
  // Whose read failed asks itself, and says what is wrong.
  const readings = new Map(readers.map((read) => [read, read(reserved, idsFor(read)).catch(() => undefined)]));
  // Nothing is on its way any more then.
  void Promise.allSettled([claiming, ...readings.values()]).then(() => reserved.release());
  const leases = await claiming;
  await Promise.race([Promise.all(readings.values()), pause(READ_MS)]);
  const readOf = new Map(rows.map(({ id, read }) => [id, read && readings.get(read)]));
  return new Map(leases.map((lease) => [lease.id, { lease, reading: Promise.resolve(readOf.get(lease.id)).then((found) => found?.get(lease.id)) }]));
}
