import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { type EntryName, findEntryPlace, type GatewayEntry, listGatewayEntries } from '#api/store/gateway-ledger.ts';
import { isUuid } from '#shared/core/ids.ts';
import { badCursor, follow, type Following, type PageQuery, readFollowing } from '#shared/platform/page.ts';

type LedgerEntry = components['schemas']['LedgerEntry'];

/**
 * What was posted to the accounts of this gateway, newest first (console 5). Its cursor names an entry, and tells nothing of how much others post.
 * @throws validation_error for a limit below 1 or a cursor this gateway was never given
 */
export async function listLedger(
  deps: Deps,
  query: { gateway: Gateway } & Pick<PageQuery, 'limit' | 'after'>,
): Promise<{ items: LedgerEntry[]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  const gatewayId = query.gateway.id;
  const place = after === null ? null : await findEntryPlace(deps.db.sql, gatewayId, nameOf(after));
  if (place === undefined) throw badCursor();
  const rows = await listGatewayEntries(deps.db.sql, { gatewayId, limit, after: place });
  const { shown, pagination } = follow(rows, limit, ({ sourceKey, account, assetId }) => [sourceKey, account, assetId].join('|'));
  return { items: shown.map(entryView), pagination };
}

function entryView({ at, kind, sourceKey, account, assetSymbol, network, amount, paymentId, settlementId }: GatewayEntry): LedgerEntry {
  return {
    at: at.toISOString(),
    kind,
    cause: sourceKey,
    account: account as LedgerEntry['account'],
    asset: assetSymbol,
    network,
    amount,
    paymentUid: paymentId,
    settlementId,
  };
}

function nameOf(cursor: string): EntryName {
  const [sourceKey, account, assetId, ...rest] = cursor.split('|');
  if (sourceKey === undefined || account === undefined || assetId === undefined || !isUuid(assetId) || rest.length > 0) throw badCursor();
  return { sourceKey, account, assetId };
}
