import { createHash } from 'node:crypto';
import type { Chain, Deps, Reply } from '#api/deps.ts';
import { FOUND, type Sought } from '#api/store/operator-seeks.ts';
import type { Place, Placed, Walk } from '#api/store/operator-walks.ts';
import { invalid } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { readTime } from '#shared/core/read-time.ts';
import { badCursor, follow, readFollowing } from '#shared/platform/page.ts';
import type { OperatorCall } from './deps.ts';
import { type Page, readFilter, readTextFilter } from './input.ts';

type Query = OperatorCall['query'];

/** What makes a list one that is gone through instead of one that is counted, beside what it is narrowed to. */
const SEEKS = ['q', 'txHash', 'address'] as const;
const WALKS = [...SEEKS, 'from', 'to', 'sort', 'after'] as const;
/** What a simulated transaction is called; no chain has one like it. */
const SANDBOX_TXID = /^sandbox-[0-9a-f]{64}$/;
/** Postgres has no year 0. */
const MOMENT = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** A question to a list without its gateway and status, and what is looked for. */
export interface AskedWalk extends Omit<Walk, 'gatewayId' | 'status' | 'ids'> {
  sought: Sought | null;
}

/**
 * Reads what a list is gone through by; undefined where nothing of it is there, and the list is counted as before. `more` are further filters that only a list that
 * is gone through has, `oldestFirst` its own direction.
 * @throws validation_error naming q, txHash, address, from, to, sort, after, limit or page
 */
export function readWalk(
  deps: Pick<Deps, 'chains'>,
  query: Query,
  { more = [], oldestFirst = false, places = isUuid }: { more?: readonly string[]; oldestFirst?: boolean; places?: (id: string) => boolean } = {},
): AskedWalk | undefined {
  if (![...WALKS, ...more].some((name) => query[name] !== undefined)) return undefined;
  if (query.page !== undefined) throw invalid('page', 'goes with no other filter than those of a counted list; go on with after');
  const { limit, after } = readFollowing({ limit: readWhole(query), after: readTextFilter(query, 'after') });
  const sort = readFilter(query, 'sort', ['newest', 'oldest']);
  return {
    limit,
    oldest: sort === undefined ? oldestFirst : sort === 'oldest',
    after: after === null ? null : readPlace(after, places),
    from: readTime('from', readTextFilter(query, 'from')),
    to: readTime('to', readTextFilter(query, 'to')),
    sought: readSought(deps, query),
  };
}

/** What was found, cut to the page, with what follows it. `lastLooked` is where one goes on although fewer were found. */
export function walkReply<T extends { id: string }>(rows: readonly Placed<T>[], { limit }: Pick<Walk, 'limit'>, lastLooked: Place | null): Reply {
  const { shown, pagination } = follow(rows, limit, cursorText);
  const goesOn = pagination.hasMore || lastLooked === null ? {} : { hasMore: true, nextCursor: cursorOf(lastLooked) };
  return { status: 200, data: { items: shown.map(unplaced), pagination: { total: null, page: 1, ...pagination, ...goesOn } } };
}

/** A counted list as the operator API answers it; its cursor goes on behind the page. */
export function countedReply<T extends { id: string }>(rows: readonly Placed<T>[], total: number, page: Page): Reply {
  const hasMore = page.offset + rows.length < total;
  const last = rows.at(-1);
  const nextCursor = hasMore && last !== undefined ? cursorOf({ at: last.place, id: last.id }) : null;
  return { status: 200, data: { items: rows.map(unplaced), pagination: { total, limit: page.limit, page: page.page, hasMore, nextCursor } } };
}

/** The last of what was found, where more may be behind it. */
export function lastFound(found: readonly Place[]): Place | null {
  return found.length < FOUND ? null : (found.at(-1) ?? null);
}

/** Every form in which a text of an operator may be written down here. @throws validation_error naming `field` when it holds what no text here does */
export function soughtBy(deps: Pick<Deps, 'chains'>, field: string, q: string): Sought {
  if (/\p{Cc}/u.test(q)) throw invalid(field, 'must be one line of text');
  const codecs = [...deps.chains.values()].map(({ codec }) => codec);
  const txids = readable(codecs.map((codec) => codec.parseTxid(q)));
  return {
    id: isUuid(q) ? q.toLowerCase() : null,
    digest: createHash('sha256').update(q, 'utf8').digest('hex').slice(0, 32),
    text: q,
    txids: SANDBOX_TXID.test(q) ? [...txids, q] : txids,
    addresses: readable(codecs.map((codec) => codec.parse(q))),
    shownAddresses: shownBy(codecs, q),
  };
}

function readSought(deps: Pick<Deps, 'chains'>, query: Query): Sought | null {
  const given = SEEKS.filter((name) => query[name] !== undefined);
  const [by, another] = given;
  if (by === undefined) return null;
  if (another !== undefined) throw invalid(another, `goes not with ${by}: a list is looked through for one thing at a time`);
  const text = readTextFilter(query, by) ?? '';
  const sought = soughtBy(deps, by, text);
  if (by === 'q') return sought;
  const only = { id: null, digest: null, text: null, txids: [], addresses: [], shownAddresses: [] };
  if (by === 'txHash') {
    if (sought.txids.length === 0) throw invalid('txHash', 'is no transaction hash of any network here');
    return { ...only, txids: sought.txids };
  }
  if (sought.addresses.length === 0) throw invalid('address', 'is no address of any network here');
  return { ...only, addresses: sought.addresses, shownAddresses: sought.shownAddresses };
}

function shownBy(codecs: readonly Chain['codec'][], q: string): string[] {
  return [
    ...new Set(
      codecs.flatMap((codec) => {
        const parsed = codec.parse(q);
        return parsed.ok ? [codec.display(parsed.canonical)] : [];
      }),
    ),
  ];
}

function readable(parsed: readonly ({ ok: true; canonical: string } | { ok: false; problem: string })[]): string[] {
  return [...new Set(parsed.flatMap((one) => (one.ok ? [one.canonical] : [])))];
}

function readWhole({ limit }: Query): number | undefined {
  if (limit === undefined) return undefined;
  const whole = typeof limit === 'number' ? limit : typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? Number(limit) : Number.NaN;
  if (!Number.isSafeInteger(whole)) throw invalid('limit', 'must be a whole number of at least 1');
  return whole;
}

function readPlace(text: string, isId: (id: string) => boolean): Place {
  const [at = '', id = '', ...rest] = text.split('|');
  // A day that no month has is refused here, and not by the database.
  const time = MOMENT.test(at) ? Date.parse(at) : Number.NaN;
  if (rest.length > 0 || !isId(id) || Number.isNaN(time) || new Date(time).toISOString().slice(0, 19) !== at.slice(0, 19)) throw badCursor();
  return { at, id };
}

function cursorText<T extends { id: string }>({ place, id }: Placed<T>): string {
  return `${place}|${id}`;
}

function cursorOf({ at, id }: Place): string {
  return Buffer.from(`${at}|${id}`, 'latin1').toString('base64url');
}

function unplaced<T extends object>({ place: _, ...row }: Placed<T>): object {
  return row;
}
