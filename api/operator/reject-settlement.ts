import type { Deps, Reply } from '#api/deps.ts';
import { refuseUnclaimed, rejectSettlement as reject, rejectWithin } from '#api/settlements/reject.ts';
import { findSettlement } from '#api/store/settlements.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { Act } from './act.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';
import { propose } from './propose.ts';
import { showSettlement } from './timelines.ts';

const MAX_REASON = 500;

/**
 * POST /settlements/{id}/reject: ends a claimed cashout and gives its claim back; answers it as it is then, with its history. Where the deployment wants two people for it,
 * it is proposed (decision 0032).
 */
export async function rejectSettlement(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const reason = readText(fieldsOf(call.body), 'reason', MAX_REASON);
  if (deps.config.SLUICE_TWO_PEOPLE_FOR.includes('reject')) return proposeRejection(deps, id, reason);
  await reject(deps, { id, reason });
  return showSettlement(deps, call);
}

async function proposeRejection(deps: Deps, id: string, reason: string): Promise<Reply> {
  const settlement = await findSettlement(deps.db.sql, id);
  if (settlement === undefined) throw new ServiceError('not_found');
  refuseUnclaimed(settlement.status);
  const { gatewayId, amountText: amount, assetSymbol, networkName: network, address } = settlement;
  return propose(deps, { act: 'settlement.reject', target: id, content: { settlementId: id, gatewayId, amount, assetSymbol, network, address }, reason });
}

/** Rejects the cashout that was proposed, if nothing may pay it any more. */
export const rejectProposed: Act = {
  async execute(tx, deps, { proposal }) {
    const { settlementId } = proposal.content as { settlementId: string };
    await rejectWithin(tx, deps, { id: settlementId, reason: proposal.reason });
    return { settlementId };
  },
};
