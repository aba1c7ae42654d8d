import type { Deps } from '#api/deps.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { type Coins, formatAmount, parseTrusted, zero } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Said } from '#shared/platform/statements.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { mayDraw } from '#state-machines/settlement/acceptance.ts';
import type { Route } from '#state-machines/settlement/settlement.ts';
import { isApproved } from './approval.ts';
import { differing, heard, say, type Unproven, unheard } from './say.ts';

/** A cashout as its row, its asset and its network have it. */
export type CashoutRow = Pick<
  StoredSettlement,
  'id' | 'gatewayId' | 'assetId' | 'networkId' | 'networkName' | 'contract' | 'decimals' | 'canonicalAddress' | 'amount' | 'requestedRoute' | 'pool'
>;

/** What the http role decides about a cashout when it accepts it. */
export interface Acceptance {
  /** The highest network fee it may lock; a claim that is made at once locks just this. */
  feeCeiling: Coins;
  /** How many people have to approve it before anything is signed for it; 0 when nobody has to. */
  people: number;
  /** Whether it claims nothing yet. */
  parked: boolean;
  /** What it was accepted by, where not by the request that made it: said for people, and never asked for. */
  by?: string;
}

/** What was accepted, as a claim of it is held against. */
export interface Accepted extends Acceptance {
  route: Route;
  pool: Pool | null;
}

/** Says that a cashout was accepted as its row has it, in the transaction that makes or claims it. @throws Invariant outside of the http role */
export async function acceptCashout(tx: Tx, deps: Pick<Deps, 'config'>, row: CashoutRow, acceptance: Acceptance): Promise<void> {
  await acceptCashouts(tx, deps, [{ row, acceptance }]);
}

/** The same of several. */
export async function acceptCashouts(tx: Tx, deps: Pick<Deps, 'config'>, accepted: readonly { row: CashoutRow; acceptance: Acceptance }[]): Promise<void> {
  const statements = accepted.map(({ row, acceptance: { feeCeiling, people, parked, by = 'request' } }) => {
    const said = { ...wordsOf(row), pool: row.pool, feeCeiling: formatAmount(feeCeiling), ...approvalWords(people), parked: parked ? 'yes' : 'no', by };
    return { kind: 'cashout' as const, subject: row.id, said };
  });
  await say(tx, deps, ...statements);
}

/**
 * What was accepted about a cashout that its row still says, whatever fee it locks, newest last; or why there is nothing: nobody accepted it, or
 * somebody changed its row. Locks nothing.
 */
export async function acceptancesOf(sql: Reads, deps: Pick<Deps, 'config'>, row: CashoutRow & { createdAt: Date }): Promise<Accepted[] | Unproven> {
  const said = await heard(sql, deps, { kind: 'cashout', subject: row.id });
  if (said.length === 0) return unheard(deps, row.createdAt, 'the http role did not accept the cashout');
  const judged = said.map((one) => ({ one, wrong: mismatchOf(one, row) }));
  const same = judged.filter(({ wrong }) => wrong === null).map(({ one }) => accepted(one));
  return same.length > 0 ? same : { refuse: `the settlement’s ${judged.at(-1)?.wrong} is not what was accepted` };
}

/**
 * Why a claimed cashout may not be paid, or null when the http role accepted it as its row has it, at no lower fee, and whoever has to approve it
 * did. Any one acceptance is enough, because each was made by that role. Locks nothing.
 */
export async function cashoutProblem(sql: Reads, deps: Pick<Deps, 'config'>, row: StoredSettlement): Promise<Unproven | null> {
  const found = await acceptancesOf(sql, deps, row);
  if (!Array.isArray(found)) return found;
  const { pool, feeLocked } = row;
  if (pool === null || feeLocked === null) return { refuse: 'the settlement claimed nothing' };
  const fitting = found.filter(({ feeCeiling }) => feeLocked <= feeCeiling);
  if (fitting.length === 0)
    return { refuse: `the settlement locks a fee of ${formatAmount(feeLocked)}, and ${formatAmount(ceilingOf(found))} was accepted at most` };
  // What the worker held is held by its row; what the http role wanted approved is wanted whatever the row says.
  const asked = Math.min(...fitting.map(({ people }) => people));
  if (row.holdReason === null && asked === 0) return null;
  const people = Math.max(asked, row.people);
  if (await isApproved(sql, deps, row, people)) return null;
  return unheard(deps, row.createdAt, people > 1 ? `fewer than ${people} people approved the cashout` : 'nobody approved the cashout');
}

/** The highest fee that any of these allows. Pure. */
export function ceilingOf(found: readonly Accepted[]): Coins {
  return found.reduce<Coins>((most, { feeCeiling }) => (feeCeiling > most ? feeCeiling : most), zero);
}

/** What the release before this one reads too, and how many people there have to be where it is not one. */
function approvalWords(people: number): Said {
  return { approval: people > 0 ? 'required' : 'none', ...(people > 1 && { people: String(people) }) };
}

/** Words that a row repeats: if one differs, the row was changed. */
function wordsOf(row: CashoutRow): Said {
  return {
    gatewayId: row.gatewayId,
    assetId: row.assetId,
    networkId: row.networkId,
    network: row.networkName,
    contract: row.contract,
    decimals: String(row.decimals),
    recipient: row.canonicalAddress,
    amount: formatAmount(row.amount),
    route: row.requestedRoute,
  };
}

/** What of a row is not what was accepted; null when all of it is. A verdict may settle the pool of a SMART one later. */
function mismatchOf(said: Said, row: CashoutRow): string | null {
  const wrong = differing(said, wordsOf(row));
  if (wrong !== null) return wrong;
  const { route, pool } = accepted(said);
  const fits = row.pool === null ? pool === null : mayDraw({ route, pool }, row.pool);
  return fits ? null : 'pool';
}

function accepted(said: Said): Accepted {
  return {
    route: said.route as Route,
    pool: said.pool as Pool | null,
    feeCeiling: parseTrusted(String(said.feeCeiling)),
    people: said.approval === 'none' ? 0 : Number(said.people ?? 1),
    parked: said.parked === 'yes',
  };
}
