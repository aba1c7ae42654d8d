import type { Deps } from '#api/deps.ts';
import { releaseClaim } from '#api/ledger/release-claim.ts';
import { advance } from '#api/store/advance.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { listSettlementPayouts } from '#api/store/payouts.ts';
import { lockSettlement } from '#api/store/settlements.ts';
import { giveUpPayouts } from '#api/payouts/give-up.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_SETTLEMENT_FACTS, type SettlementStatus } from '#state-machines/settlement/machine.ts';

const CLAIMED: readonly SettlementStatus[] = ['PENDING_APPROVAL', 'REQUESTED', 'PROCESSING'];

/**
 * Ends a claimed cashout for good on an operator's word, and gives all of its claim back: before bytes are signed, or once the chain shows that no
 * signed bytes ever take effect (contract 3.2, decisions 10).
 * Approving, dispatching and signing decide under the same lock, so only the first of them succeeds. Leaves an audit row. Locks the settlement,
 * then wallets and payouts, then the ledger and the credits.
 * @throws not_found; conflict saying why it can still be paid, or which state other than claimed it is in
 */
export async function rejectSettlement(deps: Deps, call: { id: string; reason: string }): Promise<void> {
  await deps.db.transaction((tx) => rejectWithin(tx, deps, call));
  deps.wake();
}

/** What a cashout must be so that it may be rejected at all; the rest is decided under its lock. @throws conflict naming the status */
export function refuseUnclaimed(status: SettlementStatus): void {
  if (!CLAIMED.includes(status)) throw new ServiceError('conflict', { message: notClaimed(status) });
}

/** The same within a transaction, which calls `deps.wake()` after its commit. */
export async function rejectWithin(tx: Tx, deps: Deps, { id, reason }: { id: string; reason: string }): Promise<void> {
  const settlement = await lockSettlement(tx, id);
  if (settlement === undefined) throw new ServiceError('not_found');
  refuseUnclaimed(settlement.status);
  const problem = await giveUpPayouts(tx, deps, deps.chains.get(settlement.networkName), id);
  if (problem !== null) throw new ServiceError('conflict', { message: `The cashout may still be paid: ${problem}.` });
  const payouts = (await listSettlementPayouts(tx, id)).map(({ status, plan }) => ({ status, closing: plan.closeMark !== undefined }));
  const moved = await advance(tx, 'settlement', {
    id,
    event: 'OPERATOR_REJECTED',
    actor: 'operator',
    facts: () => ({ facts: { ...NO_SETTLEMENT_FACTS, payouts }, columns: { wait_reason: null }, record: { reason } }),
    effects: {
      void: async () => {
        await releaseClaim(tx, settlement);
        crashPoint('fail.voided');
      },
    },
  });
  const { gatewayId, status, amountText, assetSymbol, networkName } = settlement;
  const details = { gatewayId, status, amount: amountText, asset: assetSymbol, network: networkName };
  await insertOperatorAction(tx, deps.operator, { action: 'settlement.reject', target: id, reason, details });
  deps.metrics?.settlementTransitions.inc({ from: moved.from, to: moved.to, route: settlement.pool === 'held' ? 'AML_HELD' : 'GREEN' });
}

function notClaimed(status: SettlementStatus): string {
  if (status === 'UNDERFUNDED' || status === 'WAITING_AML_CREDIT') return `The cashout is ${status}: nothing is claimed, so its merchant can cancel it.`;
  return `The cashout is ${status} already.`;
}
