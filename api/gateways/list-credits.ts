import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { type GatewayCredit, listGatewayCredits } from '#api/store/gateway-ledger.ts';
import { isUuid } from '#shared/core/ids.ts';
import { badCursor, follow, type Following, type PageQuery, readFollowing } from '#shared/platform/page.ts';

type Credit = components['schemas']['Credit'];

/**
 * What payments credited to this gateway, newest first, with what is left of each (console 5).
 * @throws validation_error for a limit below 1 or a cursor this gateway was never given
 */
export async function listCredits(
  deps: Deps,
  query: { gateway: Gateway } & Pick<PageQuery, 'limit' | 'after'>,
): Promise<{ items: Credit[]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  if (after !== null && !isUuid(after)) throw badCursor();
  const rows = await listGatewayCredits(deps.db.sql, { gatewayId: query.gateway.id, limit, after });
  if (rows === undefined) throw badCursor();
  const { shown, pagination } = follow(rows, limit, ({ id }) => id);
  return { items: shown.map(creditView), pagination };
}

function creditView({ id, paymentId, assetSymbol, creditedAt, maturesAt, maturedAt, ...rest }: GatewayCredit): Credit {
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
