import type { Deps, Gateway } from '#api/deps.ts';
import { addRefusedRequests, listRefusedRequests, type RefusalPlace, type RefusedRequests, type StoredRefusals } from '#api/store/refused-requests.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { badCursor, follow, type Following, type PageQuery, readFollowing } from '#shared/platform/page.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** Refusals of one process that are not written yet, by gateway and operation, and then by what else they have in common. */
type Unwritten = Map<string, Map<string, Map<string, RefusedRequests>>>;

type Noter = Pick<Deps, 'db' | 'log'>;

const unwritten = new WeakMap<Database, Unwritten>();

/**
 * Notes a request that its gateway's own rules refused; other errors are nobody's to see. The request does not wait. What comes while some are being
 * written, and within a second after, is added up first: however many requests a flood has, it is one write a second and gateway in each process.
 */
export function noteRefusal(deps: Noter, error: unknown, { operation, clientIp }: { operation: string; clientIp: string }): void {
  if (!(error instanceof ServiceError) || error.refusal === undefined) return;
  const { gatewayId, reason } = error.refusal;
  const waiting = unwritten.get(deps.db);
  const all: Unwritten = waiting ?? new Map();
  addTo(all, gatewayId, { operation, reason, address: clientIp, count: 1 });
  if (waiting !== undefined) return;
  unwritten.set(deps.db, all);
  void write(deps, all);
}

function addTo(all: Unwritten, gatewayId: string, { operation, reason, address }: RefusedRequests): void {
  const ofGateway = all.get(gatewayId) ?? new Map<string, Map<string, RefusedRequests>>();
  all.set(gatewayId, ofGateway);
  const alike = ofGateway.get(operation) ?? new Map<string, RefusedRequests>();
  ofGateway.set(operation, alike);
  const name = `${reason} ${address}`;
  const fits = alike.has(name) || alike.size < POLICY.refusedRowsPerHour;
  const one = alike.get(fits ? name : '') ?? { operation, reason: fits ? reason : '', address: fits ? address : '', count: 0 };
  alike.set(fits ? name : '', { ...one, count: one.count + 1 });
}

/** Writes what there is, gateway by gateway, and then rests; whatever came meanwhile is written after. Ends when nothing came. */
async function write(deps: Noter, all: Unwritten): Promise<void> {
  const now = [...all];
  all.clear();
  for (const [gatewayId, ofGateway] of now)
    await deps.db
      .transaction((tx) =>
        addRefusedRequests(
          tx,
          gatewayId,
          [...ofGateway.values()].flatMap((alike) => [...alike.values()]),
          POLICY.refusedRowsPerHour,
        ),
      )
      .catch((error: unknown) => deps.log.debug({ error, gatewayId }, 'refused requests were not noted'));
  setTimeout(() => {
    if (all.size === 0) unwritten.delete(deps.db);
    else void write(deps, all);
  }, POLICY.refusalsPauseMs).unref();
}

/** Requests of this gateway that were refused within seven days, by hour, newest first. @throws validation_error for a limit below 1 or a cursor that is none */
export async function listRefusals(
  deps: Deps,
  query: { gateway: Gateway } & Pick<PageQuery, 'limit' | 'after'>,
): Promise<{ items: object[]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  const rows = await listRefusedRequests(deps.db.sql, {
    gatewayId: query.gateway.id,
    days: POLICY.refusalsKeptDays,
    limit,
    after: after === null ? null : placeOf(after),
  });
  const { shown, pagination } = follow(rows, limit, nameOf);
  return { items: shown.map(view), pagination };
}

function view({ hour, operation, reason, address, count, lastAt }: StoredRefusals): object {
  return { hour, operation, reason: reason || null, address: address || null, count, lastAt };
}

function nameOf({ hour, operation, reason, address }: StoredRefusals): string {
  return [hour.getTime(), operation, reason, address].join('|');
}

function placeOf(name: string): RefusalPlace {
  const [hour = '', operation, reason, address, ...rest] = name.split('|');
  if (!/^\d{1,14}$/.test(hour) || operation === undefined || reason === undefined || address === undefined || rest.length > 0) throw badCursor();
  return { hour: new Date(Number(hour)), operation, reason, address };
}
