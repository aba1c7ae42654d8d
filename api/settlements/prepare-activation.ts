import type { Deps, Gateway } from '#api/deps.ts';
import { poolBalance } from '#api/ledger/balances.ts';
import { findAsset } from '#api/store/assets.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { ERRORS, Invariant, ServiceError } from '#shared/core/errors.ts';
import { toUnits } from '#shared/core/money.ts';
import { networkFeePayer } from '#state-machines/settlement/network-fee.ts';
import type { Decision, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { askAbout, type Cashout, type Gathered, gatherFacts, screenDestination } from './gather-facts.ts';

/** What is known before a parked cashout is locked: everything the gates ask for, or why it cannot be activated now. */
export type Prepared = { facts: SettlementRequest; quote: Gathered['quote']; feePayer: 'MERCHANT' | 'PLATFORM' } | { stays: string };

/** Why a cashout whose pool is short is not activated. */
export const SHORT = 'its balance is still short';

/**
 * Fetches what activating a parked cashout takes, with no transaction open: a fresh fee, and a screen as at its creation.
 * Asks no node and no provider while the pool is short or screening cannot answer, so that looking every minute costs nothing.
 * @throws fee_estimation_unavailable when the chain or a price cannot be reached
 */
export async function prepareActivation(deps: Deps, gateway: Gateway, row: StoredSettlement): Promise<Prepared> {
  if (gateway.status !== 'VERIFIED') return { stays: 'its gateway is not verified' };
  // A merchant who closes the cashout API, for example because its secret leaked, must not have to cancel what is parked as well.
  if (!gateway.settings.cashout.enabled) return { stays: 'its gateway may not cash out' };
  const cashout = await cashoutOf(deps, gateway, row);
  const waiting = row.status === 'WAITING_AML_CREDIT';
  const asked = askAbout(cashout, { parkedAs: waiting ? 'WAITING_AML_CREDIT' : 'UNDERFUNDED', ...(row.pool !== null && { parkedPool: row.pool }) });
  if (!waiting && row.pool !== null && (await poolBalance(deps.db.sql, gateway.id, row.assetId, row.pool)) < row.amount) return { stays: SHORT };
  // A verdict is all that one of these waits for; without it nothing else is worth asking.
  const screen = waiting && asked.screening.enabled ? await screenDestination(deps, cashout, undefined) : undefined;
  if (screen === 'out_of_credit') return { stays: 'its screening credit is used up' };
  if (screen === 'unavailable') return { stays: 'the screening provider gives no verdict' };
  try {
    const { facts, decision, quote } = await gatherFacts(deps, cashout, { ...asked, screen });
    return decision.outcome === 'refuse' ? { stays: reasonOf(decision) } : { facts, quote, feePayer: networkFeePayer(gateway.billing, cashout.asset.type) };
  } catch (error) {
    // The network refuses the transfer as it is now; that may pass, and has until the parking time is over to do so.
    if (error instanceof ServiceError && error.code === 'validation_error') return { stays: error.message };
    throw error;
  }
}

/** What a gate that would refuse a new cashout says about one that is parked: it waits, for that reason. */
export function reasonOf({ code, message }: Extract<Decision, { outcome: 'refuse' }>): string {
  return message ?? ERRORS[code].message;
}

async function cashoutOf(deps: Deps, gateway: Gateway, row: StoredSettlement): Promise<Cashout> {
  const [asset, chain] = [await findAsset(deps.db.sql, row.assetId), deps.chains.get(row.networkName)];
  if (asset === undefined || chain === undefined) throw new Invariant(`settlement ${row.id} is in an asset or on a network that is not configured`);
  const rawAmount = toUnits(row.amount, asset.decimals);
  if (rawAmount === undefined) throw new Invariant(`settlement ${row.id} has more decimals than its asset`);
  return { gateway, asset, chain, recipient: row.canonicalAddress, amount: row.amount, rawAmount, route: row.requestedRoute };
}
