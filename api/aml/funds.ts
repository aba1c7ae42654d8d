import { lockBalances } from '#api/ledger/post.ts';
import { listPaymentCredits, lockCredits, lockMaturingCredits, type PaymentCredit } from '#api/store/credits.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { AmlFacts } from '#state-machines/aml/machine.ts';
import { type Account, type GatewayAccountKind, gatewayAccount, type SystemAccountKind, systemAccount } from '#state-machines/ledger/accounts.ts';

/** Both pools, in both of their states: locked whenever a payment's place in them is decided about. */
const POOLS = ['pending', 'available', 'heldPending', 'held'] as const;

/** The accounts beside the pools that an effect posts to. */
export interface MoreAccounts {
  gateway?: readonly Exclude<GatewayAccountKind, 'reserved'>[];
  system?: readonly SystemAccountKind[];
}

/**
 * Reads all that a payment has credited and locks it until commit: no part of it matures, is drawn, or is given back by a
 * cashout meanwhile. The caller holds the payment's lock, so no credit is added either. Locks the maturing credits, then the
 * ledger accounts of both pools and those of `more`, then the other credits.
 */
export async function lockFunds(tx: Tx, payment: { id: string; gatewayId: string }, more: MoreAccounts = {}): Promise<PaymentCredit[]> {
  await lockMaturingCredits(tx, payment.id);
  const assetIds = [...new Set((await listPaymentCredits(tx, payment.id)).map((credit) => credit.assetId))];
  const accounts: Account[] = [
    ...[...POOLS, ...(more.gateway ?? [])].map((kind) => gatewayAccount(kind, payment.gatewayId)),
    ...(more.system ?? []).map(systemAccount),
  ];
  await lockBalances(
    tx,
    assetIds.flatMap((assetId) => accounts.map((account) => ({ ...account, assetId }))),
  );
  await lockCredits(tx, payment.id);
  return listPaymentCredits(tx, payment.id);
}

/** What the guards of the machine ask about a payment's credits. Pure. */
export function factsOf(credits: readonly PaymentCredit[]): AmlFacts {
  const pooled = credits.filter((credit) => credit.taken === null);
  return {
    unscreened: pooled.some((credit) => credit.screening === 'waiting'),
    refunding: credits.some((credit) => credit.taken === 'refunding'),
    touched: credits.some((credit) => credit.reserved > 0n || credit.spent > 0n),
    somethingHeld: pooled.some((credit) => credit.remaining > 0n || credit.screening === 'waiting'),
    // A maturing credit has nothing left only where fees took all of it: no cashout will ever draw it.
    spent: pooled.every((credit) => credit.screening !== 'waiting' && credit.remaining === 0n && credit.reserved === 0n),
  };
}
