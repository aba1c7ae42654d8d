import type { Reads } from '#shared/platform/postgres.ts';

/**
 * Takes on the canary payment of this minute; false when somebody has since so many `seconds`, by the wall clock. Locks its row
 * for the statement.
 */
export async function claimCanary(sql: Reads, seconds: number): Promise<boolean> {
  const rows = await sql`
    insert into canary as c (attempted_at) values (now())
    on conflict (singleton) do update set attempted_at = excluded.attempted_at where c.attempted_at <= now() - make_interval(secs => ${seconds})
    returning 1`;
  return rows.length === 1;
}

/** Writes how the payment that this caller claimed went; `problem` is null when it succeeded. Locks its row for the statement. */
export async function recordCanary(sql: Reads, problem: string | null): Promise<void> {
  await sql`
    update canary set problem = ${problem?.slice(0, 500) ?? null},
      succeeded_at = case when ${problem === null} then attempted_at else succeeded_at end`;
}

/** When a canary payment last succeeded; null for never, undefined before the first was tried. Locks nothing. */
export async function readCanary(sql: Reads): Promise<Date | null | undefined> {
  const [row] = await sql<{ at: Date | null }[]>`select succeeded_at as at from canary`;
  return row?.at;
}
