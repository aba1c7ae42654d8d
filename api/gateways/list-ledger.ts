import type { components, operations } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { type EntryName, findEntryPlace, findLastLookedEntry, type GatewayEntry, listGatewayEntries } from '#api/store/gateway-ledger.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readTime } from '#shared/core/read-time.ts';
import { badCursor, followLooked, type Following, readFollowing } from '#shared/platform/page.ts';

type LedgerEntry = components['schemas']['LedgerEntry'];

/** The query as the contract file lets it through. */
type ListLedger = { gateway: Gateway } & NonNullable<operations['listLedger']['parameters']['query']>;

/**
 * What was posted to the accounts of this gateway, newest first (console 5). Its cursor names an entry, and tells nothing of how much others post. Narrowed by
 * what no index has, a page looks through so many entries and no more (decision 0065).
 * @throws validation_error for an unreadable time, a limit below 1 or a cursor this gateway was never given
 */
export async function listLedger(deps: Deps, query: ListLedger): Promise<{ items: LedgerEntry[]; pagination: Following }> {
  const { sql } = deps.db;
  const gatewayId = query.gateway.id;
  const { limit, after } = readFollowing(query);
  const place = after === null ? null : await findEntryPlace(sql, gatewayId, nameOf(after));
  if (place === undefined) throw badCursor();
  const page = {
    gatewayId,
    asset: query.asset ?? null,
    network: query.network ?? null,
    kind: query.kind ?? null,
    from: readTime('from', query.from),
    to: readTime('to', query.to),
    after: place,
    window: POLICY.listLookedThrough,
  };
  const rows = await listGatewayEntries(sql, { ...page, limit });
  const { shown, pagination } = await followLooked(rows, { limit, idOf: cursorOf, lastLooked: () => findLastLookedEntry(sql, page) });
  return { items: shown.map(entryView), pagination };
}

/** Names an entry in cursors. Pure. */
export function cursorOf({ sourceKey, account, assetId }: EntryName): string {
  return [sourceKey, account, assetId].join('|');
}

/** An entry as the contract shows it. Pure. */
export function entryView({ at, kind, sourceKey, account, assetSymbol, network, amount, paymentId, settlementId }: GatewayEntry): LedgerEntry {
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

/** Reads what `cursorOf` wrote. Pure. @throws validation_error naming after */
export function nameOf(cursor: string): EntryName {
  const [sourceKey, account, assetId, ...rest] = cursor.split('|');
  if (sourceKey === undefined || account === undefined || assetId === undefined || !isUuid(assetId) || rest.length > 0) throw badCursor();
  return { sourceKey, account, assetId };
}
