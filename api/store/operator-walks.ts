import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** Where a row stands in a list that is in order of time: the moment as text, because a Date would cut its microseconds. */
export interface Place {
  at: string;
  id: string;
}

/** A row with the moment of its place. */
export type Placed<T> = T & { place: string };

/** Which rows of a list in order of time are wanted: so many of a direction, behind a place. Null narrows nothing. */
export interface Walk {
  gatewayId: string | null;
  /** Status or state. */
  status: string | null;
  /** Of this moment or later, and before that. */
  from: Date | null;
  to: Date | null;
  oldest: boolean;
  after: Place | null;
  limit: number;
  /** Only these. */
  ids: readonly string[] | null;
}

/** What was found, one row more than `limit`, and the place of the last row that was looked at where there may be more behind it. */
export interface Walked<T> {
  rows: Placed<T>[];
  lastLooked: Place | null;
}

/** Rows that one question looks through for what no index has. */
export const WINDOW = POLICY.listLookedThrough;

type Part = ReturnType<Reads>;

/** The moment of a row as its place says it. */
export function placeOf(sql: Reads, at: Part): Part {
  return sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** What keeps a statement to the times and the place of a walk; the two columns are indexed in this order. */
export function stretch(sql: Reads, { from, to, oldest, after }: Pick<Walk, 'from' | 'to' | 'oldest' | 'after'>, at: Part, id: Part): Part {
  return sql`
    ${from === null ? sql`` : sql`and ${at} >= ${from}`} ${to === null ? sql`` : sql`and ${at} < ${to}`}
    ${after === null ? sql`` : oldest ? sql`and (${at}, ${id}) > (${placed(sql, after)})` : sql`and (${at}, ${id}) < (${placed(sql, after)})`}`;
}

/** The direction of a walk. */
export function inOrder(sql: Reads, { oldest }: Pick<Walk, 'oldest'>, at: Part, id: Part): Part {
  return oldest ? sql`order by ${at}, ${id}` : sql`order by ${at} desc, ${id} desc`;
}

/** The place of the last row looked at, where there were as many as are looked at; `looked` gives `at` and `id`. */
export async function lastOf(sql: Reads, looked: Part, walk: Pick<Walk, 'oldest'>, window: number = WINDOW): Promise<Place | null> {
  const [row] = await sql<Place[]>`
    select ${placeOf(sql, sql`l.at`)} as at, l.id::text as id from (${looked}) l ${inOrder(sql, walk, sql`l.at`, sql`l.id`)} limit 1 offset ${window - 1}`;
  return row ?? null;
}

function placed(sql: Reads, { at, id }: Place): Part {
  return /^\d+$/.test(id) ? sql`${at}::text::timestamptz, ${id}::text::bigint` : sql`${at}::text::timestamptz, ${id}::text::uuid`;
}
