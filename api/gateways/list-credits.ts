import type { components, operations } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { type CreditState, findCreditPlace, findLastLookedCredit, type GatewayCredit, listGatewayCredits } from '#api/store/gateway-ledger.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readTime } from '#shared/core/read-time.ts';
import { badCursor, followLooked, type Following, readFollowing } from '#shared/platform/page.ts';

type Credit = components['schemas']['Credit'];

/** What a credit may be. */
export const CREDIT_STATES = ['maturing', 'available', 'drawn', 'held', 'withheld', 'refunding', 'refunded'] as const satisfies readonly CreditState[];

/** The query as the contract file lets it through. */
type ListCredits = { gateway: Gateway } & NonNullable<operations['listCredits']['parameters']['query']>;

/**
 * What payments credited to this gateway, newest first, with what is left of each (console 5). Narrowed by what no index has, a page looks through so many
 * credits and no more (decision 0065).
 * @throws validation_error for an unreadable time, a limit below 1 or a cursor this gateway was never given
 */
export async function listCredits(deps: Deps, query: ListCredits): Promise<{ items: Credit[]; pagination: Following }> {
  const { sql } = deps.db;
  const gatewayId = query.gateway.id;
  const { limit, after } = readFollowing(query);
  const place = after === null ? null : isUuid(after) ? await findCreditPlace(sql, gatewayId, after) : undefined;
  if (place === undefined) throw badCursor();
  const page = {
    gatewayId,
    paymentId: query.payment ?? null,
    asset: query.asset ?? null,
    network: query.network ?? null,
    state: query.state ?? null,
    from: readTime('from', query.from),
    to: readTime('to', query.to),
    after: place,
    window: POLICY.listLookedThrough,
  };
  const rows = await listGatewayCredits(sql, { ...page, limit });
  const { shown, pagination } = await followLooked(rows, {
    limit,
    idOf: ({ id }: { id: string }) => id,
    lastLooked: () => findLastLookedCredit(sql, page),
  });
  return { items: shown.map(creditView), pagination };
}

/** A credit as the contract shows it. Pure. */
export function creditView({ id, paymentId, assetSymbol, creditedAt, maturesAt, maturedAt, ...rest }: GatewayCredit): Credit {
  return {
    creditId: id,
    paymentUid: paymentId,
    asset: assetSymbol,
    ...rest,
    creditedAt: creditedAt.toISOString(),
    maturesAt: maturesAt.toISOString(),
    maturedAt: maturedAt?.toISOString() ?? null,
  };
}
