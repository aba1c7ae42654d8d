import type { components, operations } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { addRequests, type AnsweredRequest, findLastLookedRequest, listRequests as listStored, type RequestPlace } from '#api/store/requests.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { badCursor, follow, type Following, readFollowing } from '#shared/platform/page.ts';
import type { Database } from '#shared/platform/postgres.ts';

type Noter = Pick<Deps, 'db' | 'log'>;

/** Requests of one process that are not written yet: of each gateway those that failed, and those that did not. */
type Unwritten = Map<string, AnsweredRequest[]>;

const unwritten = new WeakMap<Database, Unwritten>();

/**
 * Notes a request that was made with a key, once it is answered. Nothing waits for it: what comes within a quarter of a second, while some are being written, and within a second after, is written together, so
 * that a process that dies loses a second of them. Of more than so many of one gateway and kind within that second the first are kept.
 */
export function noteRequest(deps: Noter, request: AnsweredRequest): void {
  const waiting = unwritten.get(deps.db);
  const all: Unwritten = waiting ?? new Map();
  const kind = `${request.gatewayId} ${request.status >= 400}`;
  const alike = all.get(kind) ?? [];
  all.set(kind, alike);
  if (alike.length < POLICY.requestsNotedAtOnce) alike.push(request);
  if (waiting !== undefined) return;
  unwritten.set(deps.db, all);
  setTimeout(() => void write(deps, all), POLICY.requestsGatheredMs).unref();
}

/** Writes what there is, and then rests; whatever came meanwhile is written after. Ends when nothing came. */
async function write(deps: Noter, all: Unwritten): Promise<void> {
  const now = [...all.values()].flat();
  all.clear();
  for (let from = 0; from < now.length; from += POLICY.requestsWrittenAtOnce) {
    const some = now.slice(from, from + POLICY.requestsWrittenAtOnce);
    await deps.db
      .transaction((tx) => addRequests(tx, some, POLICY.requestsKeptPerGateway))
      .catch((error: unknown) => deps.log.debug({ error, requests: some.length }, 'requests were not noted'));
  }
  setTimeout(() => {
    if (all.size === 0) unwritten.delete(deps.db);
    else void write(deps, all);
  }, POLICY.requestsPauseMs).unref();
}

/**
 * What the keys of this gateway asked for within seven days, newest first. A page looks through so many rows and no more (decision 0065).
 * @throws validation_error for a limit below 1 or a cursor that is none
 */
export async function listRequests(
  deps: Deps,
  query: { gateway: Gateway } & NonNullable<operations['listRequests']['parameters']['query']>,
): Promise<{ items: components['schemas']['Request'][]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  const page = {
    gatewayId: query.gateway.id,
    days: POLICY.requestsKeptDays,
    statusClass: query.status === undefined ? null : Number(query.status[0]),
    operation: query.operation ?? null,
    keyId: query.key ?? null,
    after: after === null ? null : placeOf(after),
    window: POLICY.listLookedThrough,
  };
  const rows = await listStored(deps.db.sql, { ...page, limit });
  const { shown, pagination } = follow(rows, limit, nameOf);
  const lastLooked = pagination.hasMore ? undefined : await findLastLookedRequest(deps.db.sql, page);
  const following =
    lastLooked === undefined ? pagination : { limit, hasMore: true, nextCursor: Buffer.from(nameOf(lastLooked), 'latin1').toString('base64url') };
  return { items: shown.map(view), pagination: following };
}

function view({
  at,
  requestId,
  method,
  operation,
  status,
  code,
  durationMs,
  keyId,
  address,
}: Omit<AnsweredRequest, 'gatewayId'>): components['schemas']['Request'] {
  return { at: at.toISOString(), requestId, method, operation, status, code, durationMs, keyId, keyPrefix: `sluice_${keyId}`, address };
}

function nameOf({ at, requestId }: RequestPlace): string {
  return `${at.getTime()}|${requestId}`;
}

function placeOf(name: string): RequestPlace {
  const [at = '', requestId = '', ...rest] = name.split('|');
  if (!/^\d{1,14}$/.test(at) || !isUuid(requestId) || rest.length > 0) throw badCursor();
  return { at: new Date(Number(at)), requestId };
}
