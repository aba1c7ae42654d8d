import type { Reads } from '#shared/platform/postgres.ts';

/**
 * A condition on the id that stands before it: that it is one of these. A single one is compared by itself, because Postgres plans a question about an array anew each time it is
 * asked (it takes an array that it knows for shorter than one that it does not know yet), and to plan takes several times as long as to answer.
 */
export function isOneOf(sql: Reads, ids: readonly string[]): ReturnType<Reads> {
  const [only] = ids;
  return only === undefined || ids.length > 1 ? sql`= any(${[...ids]})` : sql`= ${only}`;
}
