import type { Deps, Reply } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { findSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import { ownSettlement } from './own.ts';
import { notParked, type ParkedCall } from './retry.ts';
import { settlementView } from './view.ts';

/**
 * Withdraws a parked cashout. It claimed nothing, so nothing is given back (contract 4.3). Locks the settlement.
 * @throws not_found; conflict when it is no longer parked, even if it was activated just now
 */
export async function cancelSettlement(deps: Deps, { gateway, id, commit }: ParkedCall): Promise<Reply> {
  const row = await ownSettlement(deps, gateway, id);
  return commit(async (tx) => {
    const advanced = await advance(tx, 'settlement', {
      id: row.id,
      event: 'CANCELLED',
      actor: 'merchant',
      facts: () => ({ facts: NO_SETTLEMENT_FACTS }),
      orConflict: () => {
        throw notParked();
      },
    });
    deps.metrics?.settlementTransitions.inc({ from: advanced.from, to: advanced.to, route: row.requestedRoute });
    crashPoint('park.cancelled');
    return { status: 200, data: settlementView(deps, (await findSettlement(tx, row.id)) as StoredSettlement), resourceId: row.id };
  });
}
