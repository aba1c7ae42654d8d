import type { Reads } from '#shared/platform/postgres.ts';

/** A backup that was completed; what is older than its snapshot is in it. */
export interface StoredBackup {
  takenAt: Date;
  completedAt: Date;
  rows: number;
  /** When it was last read and found to be as it was written; null while nobody did. */
  verifiedAt: Date | null;
  /** Age of its snapshot by the database's own clock, which nobody moves. */
  ageSeconds: number;
}

/** The newest backups that were noted, newest first, at most `limit`. Locks nothing. */
export async function listBackups(sql: Reads, limit: number): Promise<StoredBackup[]> {
  return sql<StoredBackup[]>`
    select taken_at as "takenAt", completed_at as "completedAt", rows, verified_at as "verifiedAt",
      greatest(0, extract(epoch from clock_timestamp() - taken_at))::float8 as "ageSeconds"
    from backups order by taken_at desc limit ${limit}`;
}
