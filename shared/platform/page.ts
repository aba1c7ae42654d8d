import { invalid } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';

/** Which part of a list a client asks for, as its query says it. */
export interface PageQuery {
  limit?: number | undefined;
  page?: number | undefined;
  after?: string | undefined;
}

/** The part of a list to read: `limit` items from `offset`, or behind the item `afterId`, which wins (decisions 8). */
export interface Page {
  limit: number;
  page: number;
  offset: number;
  /** Id of the last item already seen; null starts at `offset`. */
  afterId: string | null;
}

/** The `pagination` of every list (decisions 8). */
export interface Pagination {
  total: number;
  limit: number;
  /** 1 when a cursor was used. */
  page: number;
  hasMore: boolean;
  nextCursor: string | null;
  /** Set where `total` counts a part of the list: there are at least that many. */
  atLeast?: true;
}

/** Reads a list's query: 20 items, at most 100, first page unless it says otherwise. @throws validation_error naming limit, page or after */
export function readPage(query: PageQuery): Page {
  const limit = wholeFromOne('limit', Math.min(query.limit ?? POLICY.listLimit, POLICY.listLimitMaximum));
  const page = wholeFromOne('page', query.page ?? 1);
  if (query.after === undefined) return { limit, page, offset: (page - 1) * limit, afterId: null };
  const afterId = idOfCursor(query.after);
  if (afterId === undefined) throw badCursor();
  return { limit, page: 1, offset: 0, afterId };
}

/** Cuts what was read, one row more than asked for, to the page and says what follows it. */
export function paginate<R extends { id: string }>(rows: readonly R[], { limit, page }: Page, total: number): { shown: readonly R[]; pagination: Pagination } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return { shown, pagination: { total, limit, page, hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last.id) : null } };
}

/** The same where a page looks through so many rows and no more: what follows the last of them, `lastLooked`, is the next page's, however few this one has. */
export function paginateLooked<R extends { id: string }>(
  rows: readonly R[],
  page: Page,
  { total, atLeast, lastLooked }: { total: number; atLeast: boolean; lastLooked: string | undefined },
): { shown: readonly R[]; pagination: Pagination } {
  const { shown, pagination } = paginate(rows, page, total);
  const following = pagination.hasMore || lastLooked === undefined ? pagination : { ...pagination, hasMore: true, nextCursor: cursorOf(lastLooked) };
  return { shown, pagination: { ...following, ...(atLeast && { atLeast: true as const }) } };
}

/** The refusal of a cursor that this list never gave. */
export function badCursor(): Error {
  return invalid('after', 'is not a cursor of this list');
}

/** The `pagination` of a list that is not counted. */
export interface Following {
  limit: number;
  hasMore: boolean;
  nextCursor: string | null;
}

/** Reads the query of a list that is not counted: 20 rows, at most 100, behind the one that `after` names. @throws validation_error naming limit or after */
export function readFollowing(query: Pick<PageQuery, 'limit' | 'after'>): { limit: number; after: string | null } {
  const limit = wholeFromOne('limit', Math.min(query.limit ?? POLICY.listLimit, POLICY.listLimitMaximum));
  if (query.after === undefined) return { limit, after: null };
  const after = Buffer.from(query.after, 'base64url').toString('latin1');
  // One spelling for each cursor, and nothing that no id of ours is made of.
  if (!/^[\x21-\x7e]{1,200}$/.test(after) || Buffer.from(after, 'latin1').toString('base64url') !== query.after) throw badCursor();
  return { limit, after };
}

/** Cuts what was read, one row more than asked for, to the page and says what follows it; `idOf` is how the list's own `after` names a row. */
export function follow<R>(rows: readonly R[], limit: number, idOf: (row: R) => string): { shown: readonly R[]; pagination: Following } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return { shown, pagination: { limit, hasMore, nextCursor: hasMore && last !== undefined ? followingCursor(idOf(last)) : null } };
}

/** The same where a page looks through so many rows and no more: behind the last of them, which `lastLooked` finds, is the next page's, however few this one has. */
export async function followLooked<Name, R extends Name>(
  rows: readonly R[],
  { limit, idOf, lastLooked }: { limit: number; idOf: (row: Name) => string; lastLooked: () => Promise<Name | undefined> },
): Promise<{ shown: readonly R[]; pagination: Following }> {
  const page = follow(rows, limit, idOf);
  const last = page.pagination.hasMore ? undefined : await lastLooked();
  return last === undefined ? page : { shown: page.shown, pagination: { limit, hasMore: true, nextCursor: followingCursor(idOf(last)) } };
}

function followingCursor(id: string): string {
  return Buffer.from(id, 'latin1').toString('base64url');
}

function cursorOf(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function idOfCursor(cursor: string): string | undefined {
  const hex = /^[A-Za-z0-9_-]{22}$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString('hex') : '';
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isUuid(id) ? id : undefined;
}

function wholeFromOne(field: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000_000) throw invalid(field, 'must be a whole number of at least 1');
  return value;
}
