import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { activate } from './activate.ts';
import { ownSettlement } from './own.ts';
import { prepareActivation } from './prepare-activation.ts';
import { settlementView } from './view.ts';

export interface ParkedCall {
  gateway: Gateway;
  id: string;
  commit: Commit;
}

/**
 * Tries an UNDERFUNDED cashout now instead of in the next round (contract 4.3). A refusal is never stored under the Idempotency-Key; a duplicate of
 * a call that activated the cashout gets that call's reply.
 * @throws not_found; conflict when the balance is still short, it waits for screening credit, or it is no longer parked; fee_estimation_unavailable
 */
export async function retrySettlement(deps: Deps, { gateway, id, commit }: ParkedCall): Promise<Reply> {
  const row = await ownSettlement(deps, gateway, id);
  const waits = row.status === 'WAITING_AML_CREDIT' ? { stays: 'it waits for screening credit, not for funds' } : null;
  const prepared = row.status === 'UNDERFUNDED' ? await prepareActivation(deps, gateway, row) : waits;
  const reply = await commit(async (tx) => {
    if (prepared === null) throw notParked();
    const outcome = 'stays' in prepared ? prepared : await activate(tx, deps, { gateway, id: row.id, ...prepared, actor: 'merchant' });
    if ('gone' in outcome) throw notParked();
    if ('stays' in outcome) throw new ServiceError('conflict', { message: `The cashout stays parked: ${outcome.stays}.` });
    return { status: 200, data: settlementView(deps, outcome.moved), resourceId: row.id };
  });
  deps.wake();
  return reply;
}

/** The refusal of a call about a cashout that is no longer parked, even if it was a moment ago. */
export function notParked(): ServiceError {
  return new ServiceError('conflict', { message: 'The cashout is no longer parked.' });
}
