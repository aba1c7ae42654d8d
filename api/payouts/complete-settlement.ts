import { clearDrawnPayments } from '#api/aml/clear-drawn-payments.ts';
import { bookSettlementFee } from '#api/billing/book-settlement-fee.ts';
import type { Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { advance } from '#api/store/advance.ts';
import { spendDraws } from '#api/store/credits.ts';
import { lockSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { Invariant } from '#shared/core/errors.ts';
import { type Coins, formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { settle } from '#state-machines/ledger/postings.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';

/**
 * Settles a cashout that reached its destination: SETTLED, with the amount that arrived and its claim spent (contract 3.2). Locks the settlement,
 * then its payments, then ledger accounts.
 * @throws Invariant when it has no claim, or its status does not allow this
 */
export async function completeSettlement(
  tx: Tx,
  deps: Deps,
  paid: { settlementId: string; received: Coins; txid: string; now: Date; actor: 'chain' | 'operator' },
): Promise<void> {
  const { settlementId, received, txid, now, actor } = paid;
  const settlement = await lockSettlement(tx, settlementId);
  if (settlement === undefined || settlement.feeLocked === null) throw new Invariant(`settlement ${settlementId} was paid without a claim`);
  const { feeLocked } = settlement;
  const moved = await advance(tx, 'settlement', {
    id: settlement.id,
    event: 'COMPLETED',
    actor,
    facts: () => ({
      facts: NO_SETTLEMENT_FACTS,
      columns: { received_amount: formatAmount(received), txid, settled_at: now, wait_reason: null },
      record: { txid, receivedAmount: formatAmount(received) },
    }),
    effects: { settle: () => spendClaim(tx, deps, { ...settlement, feeLocked }) },
  });
  crashPoint('settle.posted');
  deps.metrics?.settlementTransitions.inc({ from: moved.from, to: moved.to, route: settlement.pool === 'held' ? 'AML_HELD' : 'GREEN' });
}

/** Spends what the cashout reserved: updates its credits, the payments it drew the last coins of, the ledger, and what is billed for it. */
async function spendClaim(tx: Tx, deps: Deps, settlement: StoredSettlement & { feeLocked: Coins }): Promise<void> {
  await spendDraws(tx, settlement.id);
  await clearDrawnPayments(tx, settlement.id);
  await post(tx, {
    sourceKey: `settlement:${settlement.id}:settle`,
    kind: 'settle',
    postings: settle({
      gatewayId: settlement.gatewayId,
      assetId: settlement.assetId,
      settlementId: settlement.id,
      amount: settlement.amount,
      feeLocked: settlement.feeLocked,
    }),
  });
  await bookSettlementFee(tx, deps, settlement);
}
