import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { type BookEntry, listBook } from '#api/store/address-book.ts';
import { isUuid } from '#shared/core/ids.ts';
import { badCursor, follow, type Following, type PageQuery, readFollowing } from '#shared/platform/page.ts';

type Address = components['schemas']['BookAddress'];

/**
 * The gateway's address book, the last stored first (console 5). @throws validation_error for a limit below 1 or a cursor this gateway was never given
 */
export async function listAddresses(
  deps: Deps,
  query: { gateway: Gateway } & Pick<PageQuery, 'limit' | 'after'>,
): Promise<{ items: Address[]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  if (after !== null && !isUuid(after)) throw badCursor();
  const rows = await listBook(deps.db.sql, { gatewayId: query.gateway.id, limit, after });
  if (rows === undefined) throw badCursor();
  const { shown, pagination } = follow(rows, limit, ({ id }) => id);
  return { items: shown.map((entry) => addressView(deps, entry)), pagination };
}

/** An entry as the contract shows it. Pure. */
export function addressView(
  deps: Pick<Deps, 'chains'>,
  { id, address, network, createdAt, changedAt, hiddenAt, firstUsedAt, lastUsedAt, ...rest }: BookEntry,
): Address {
  return {
    addressId: id,
    network,
    address: deps.chains.get(network)?.codec.display(address) ?? address,
    ...rest,
    createdAt: createdAt.toISOString(),
    changedAt: changedAt?.toISOString() ?? null,
    hiddenAt: hiddenAt?.toISOString() ?? null,
    firstUsedAt: firstUsedAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}
