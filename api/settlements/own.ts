import type { Deps, Gateway } from '#api/deps.ts';
import { findSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';

/** One cashout of this gateway; locks nothing. @throws not_found for an unknown id, a malformed one and another gateway's alike (contract 5.3) */
export async function ownSettlement(deps: Deps, gateway: Gateway, id: string): Promise<StoredSettlement> {
  const row = isUuid(id) ? await findSettlement(deps.db.sql, id) : undefined;
  if (row === undefined || row.gatewayId !== gateway.id) throw new ServiceError('not_found');
  return row;
}
