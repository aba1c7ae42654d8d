import type { Tx } from '#shared/platform/postgres.ts';

/** Why a deposit waits: too few providers tell of it, one tells otherwise, or the other one cannot see what contracts pass on. */
export type Doubt = 'unreachable' | 'disputed' | 'unseen';

/** Notes that and why final deposits wait for a second provider to confirm them, and answers since when the first of them does; the caller holds their locks. */
export async function noteDoubted(tx: Tx, ids: readonly string[], why: Doubt): Promise<Date> {
  const rows = await tx<{ since: Date }[]>`
    update deposits set doubted_since = coalesce(doubted_since, sluice_now()), doubt = ${why} where id = any(${[...ids]}::uuid[]) returning doubted_since as since`;
  return new Date(rows.reduce((earliest, { since }) => Math.min(earliest, since.getTime()), Number.POSITIVE_INFINITY));
}
