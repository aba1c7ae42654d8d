import type { Deps, Gateway } from '#api/deps.ts';
import { poolBalance } from '#api/ledger/balances.ts';
import { findAsset } from '#api/store/assets.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { ERRORS, Invariant, ServiceError } from '#shared/core/errors.ts';
import { toUnits } from '#shared/core/money.ts';
import { networkFeePayer } from '#state-machines/settlement/network-fee.ts';
import type { Decision, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { askAbout, type Cashout, type Gathered, gatherFacts, screenDestination } from './gather-facts.ts';

/** What is known about a parked cashout before it is locked: every fact that the gates ask for, or why it cannot be activated now. */
export type Prepared = { facts: SettlementRequest; quote: Gathered['quote']; feePayer: 'MERCHANT' | 'PLATFORM' } | { stays: string };

/** The reason stored for a cashout whose pool does not cover it. */
export const SHORT = waitReason('balance_short');

/**
 * Fetches the facts to activate a parked cashout, with no transaction open: a fresh fee, and a screen as at its creation.
 * While the pool is short or screening cannot answer, no node or provider is asked, so looking every minute costs nothing.
 * @throws fee_estimation_unavailable when the chain or a price cannot be reached
 */
export async function prepareActivation(deps: Deps, gateway: Gateway, row: StoredSettlement): Promise<Prepared> {
  if (gateway.status !== 'VERIFIED') return { stays: waitReason('gateway_not_verified') };
  // A merchant who disables the cashout API, for example because its secret leaked, must not have to cancel parked cashouts as well.
  if (!gateway.settings.cashout.enabled) return { stays: waitReason('gateway_may_not') };
  const cashout = await cashoutOf(deps, gateway, row);
  const waiting = row.status === 'WAITING_AML_CREDIT';
  const asked = askAbout(cashout, { parkedAs: waiting ? 'WAITING_AML_CREDIT' : 'UNDERFUNDED', ...(row.pool !== null && { parkedPool: row.pool }) });
  if (!waiting && row.pool !== null && (await poolBalance(deps.db.sql, gateway.id, row.assetId, row.pool)) < row.amount) return { stays: SHORT };
  // A cashout that waits for a verdict needs the verdict first; without it, asking for anything else is pointless.
  const screen = waiting && asked.screening.enabled ? await screenDestination(deps, cashout, undefined) : undefined;
  if (screen === 'out_of_credit') return { stays: waitReason('credit_used_up') };
  if (screen === 'unavailable') return { stays: waitReason('no_verdict') };
  try {
    const { facts, decision, quote } = await gatherFacts(deps, cashout, { ...asked, screen });
    return decision.outcome === 'refuse' ? { stays: reasonOf(decision) } : { facts, quote, feePayer: networkFeePayer(gateway.billing, cashout.asset.type) };
  } catch (error) {
    // The network refuses the transfer now. That may change until the parking time is over.
    if (error instanceof ServiceError && error.code === 'validation_error') return { stays: error.message };
    throw error;
  }
}

/** The reason why a parked cashout waits, from a gate that would refuse a new one. */
export function reasonOf({ code, message }: Extract<Decision, { outcome: 'refuse' }>): string {
  return message ?? ERRORS[code].message;
}

/** Who asked for a cashout. Pure. */
export function initiatorOf({ createdBy }: Pick<StoredSettlement, 'createdBy'>): 'key' | 'person' {
  return createdBy === null ? 'key' : 'person';
}

async function cashoutOf(deps: Deps, gateway: Gateway, row: StoredSettlement): Promise<Cashout> {
  const [asset, chain] = [await findAsset(deps.db.sql, row.assetId), deps.chains.get(row.networkName)];
  if (asset === undefined || chain === undefined) throw new Invariant(`settlement ${row.id} is in an asset or on a network that is not configured`);
  const rawAmount = toUnits(row.amount, asset.decimals);
  if (rawAmount === undefined) throw new Invariant(`settlement ${row.id} has more decimals than its asset`);
  return { gateway, asset, chain, recipient: row.canonicalAddress, amount: row.amount, rawAmount, route: row.requestedRoute, initiator: initiatorOf(row) };
}
