import type { Deps } from '#api/deps.ts';
import { type LedgerTransaction, postEach } from '#api/ledger/post.ts';
import { drawCredits } from '#api/store/credits.ts';
import { findAccounts, insertZeroAccounts, lockAccounts, readBalance } from '#api/store/ledger.ts';
import { noteSettlementPolicy } from '#api/store/policies.ts';
import { lockParkedCount } from '#api/store/settlements.ts';
import { Invariant } from '#shared/core/errors.ts';
import { amount, type Coins, formatAmount, zero } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type Pool, withdrawableAccount } from '#state-machines/ledger/accounts.ts';
import { reserve } from '#state-machines/ledger/postings.ts';
import { decide } from '#state-machines/settlement/decide.ts';
import { likelyPool } from '#state-machines/settlement/gates/route.ts';
import type { Decision, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { lockedPolicies } from './gather-facts.ts';
import { intentMac } from '#api/intents/order-mac.ts';

/** A final decision, which needs no further fact. */
export type LastDecision = Exclude<Decision, { outcome: 'needs' }>;

/** The cashout that claims, and what it claims. */
export interface Claimant {
  settlementId: string;
  gatewayId: string;
  assetId: string;
  networkId: string;
  /** Destination, canonical. */
  recipient: string;
  amount: Coins;
}

/** The cashout that is decided: the row that it has already, if it has one, and who asked for it. */
export interface Decided extends Pick<Claimant, 'gatewayId' | 'assetId' | 'networkId' | 'recipient'> {
  settlementId: string | null;
  initiator: 'key' | 'person';
}

/**
 * Asks the gates a last time, with facts that only a lock keeps true: the gateway's policies, the pool's balance and, for a cashout that is to be parked, the number
 * already parked. Locks the gateway's day, where a policy looks at it, then the pool's ledger account until commit, and to park also the gateway's row.
 * @throws Invariant when any other fact is still unknown, because nothing remote may be asked here
 */
export async function decideUnderLock(
  tx: Tx,
  request: SettlementRequest,
  { settlementId, gatewayId, assetId, networkId, recipient, initiator }: Decided,
): Promise<{ decision: LastDecision; facts: SettlementRequest }> {
  let facts: SettlementRequest = { ...request, policies: undefined, pools: undefined, parkedCount: undefined };
  for (;;) {
    const decision = decide(facts);
    if (decision.outcome !== 'needs') return { decision, facts };
    if (decision.fact === 'policies') {
      const subject = { gatewayId, assetId, networkId, recipient, initiator, except: settlementId };
      facts = { ...facts, policies: await lockedPolicies(tx, subject) };
    } else if (decision.fact === 'pools') {
      const pool = likelyPool(facts);
      const balance = await lockPool(tx, { gatewayId, assetId, pool });
      facts = { ...facts, pools: { green: zero, held: zero, [pool]: balance } };
    } else if (decision.fact === 'parkedCount') facts = { ...facts, parkedCount: await lockParkedCount(tx, gatewayId) };
    else throw new Invariant(`the gates still ask for ${decision.fact} under the pool's lock`);
  }
}

/**
 * Claims an amount from its pool for a cashout that is created, activated or retried; no other code claims. The caller holds the lock of the pool's
 * account (`decideUnderLock`). Locks the credits it draws.
 * @throws Invariant when the cashout has claimed before
 */
export async function claimSettlement(tx: Tx, who: Claimant, pool: Pool): Promise<void> {
  await claimSettlements(tx, who, [who], pool);
}

/** The same of several cashouts of one gateway and asset, each drawing what it would have drawn after the one before it. */
export async function claimSettlements(
  tx: Tx,
  { gatewayId, assetId }: Pick<Claimant, 'gatewayId' | 'assetId'>,
  claims: readonly Pick<Claimant, 'settlementId' | 'amount'>[],
  pool: Pool,
): Promise<void> {
  await drawCredits(tx, { gatewayId, assetId, pool, claims });
  const transactions = claims.map(({ settlementId, amount: total }) => ({
    sourceKey: `settlement:${settlementId}:reserve`,
    kind: 'reserve',
    postings: reserve({ gatewayId, assetId, settlementId, pool, amount: total }),
  }));
  const posted = await postEach(tx, transactions);
  const twice = claims.find((_, at) => !posted.has((transactions[at] as LedgerTransaction).sourceKey));
  if (twice !== undefined) throw new Invariant(`settlement ${twice.settlementId} has claimed already`);
  crashPoint('settle.reserved');
}

/** The columns that a claim writes. Signers of the previous release check the MAC. */
export interface ClaimedFields {
  feeLocked: Coins;
  netAmount: Coins;
  feePayer: 'MERCHANT' | 'PLATFORM';
  holdReason: string | null;
  intentMac: Buffer;
}

/** The columns to write for a cashout that claims. */
export function claimedFields(
  deps: Deps,
  who: Claimant,
  { decision, feePayer }: { decision: Extract<Decision, { outcome: 'claim' | 'hold' }>; feePayer: ClaimedFields['feePayer'] },
): ClaimedFields {
  const { pool, feeLocked, netAmount } = decision;
  return {
    feeLocked,
    netAmount,
    feePayer,
    holdReason: decision.outcome === 'hold' ? decision.reason : null,
    intentMac: intentMac(masterKeys(deps.config).current, { ...who, pool, feeLocked }),
  };
}

/** Keeps how many people have to approve what was decided, where it is more than one, or a policy said so. */
export async function notePolicy(tx: Tx, settlementId: string, decision: LastDecision): Promise<void> {
  if (!('people' in decision)) return;
  const { people, policy } = decision;
  if (people > 1 || (people > 0 && policy !== null)) await noteSettlementPolicy(tx, { settlementId, policy, people });
}

/** The facts behind a decision, for the history of the row. */
export function recordOf(facts: SettlementRequest, decision: LastDecision): Record<string, unknown> {
  const pool = 'pool' in decision ? decision.pool : null;
  return {
    route: facts.route,
    ...(pool !== null && { pool }),
    ...(pool !== null && facts.pools !== undefined && { available: formatAmount(facts.pools[pool]) }),
    ...((decision.outcome === 'claim' || decision.outcome === 'hold') && { feeLocked: formatAmount(decision.feeLocked) }),
    ...(decision.outcome === 'hold' && { hold: decision.reason }),
    ...('policy' in decision && decision.policy !== null && { policy: decision.policy }),
    ...('people' in decision && decision.people > 1 && { people: decision.people }),
    ...(facts.priceUsd !== undefined && { priceUsd: formatAmount(facts.priceUsd) }),
    ...(facts.screen !== undefined && { screen: typeof facts.screen === 'string' ? facts.screen : facts.screen.score }),
  };
}

/** Locks one pool of a gateway until commit and returns its balance. Claims on one pool wait for each other here. */
export async function lockPool(tx: Tx, { gatewayId, assetId, pool }: { gatewayId: string; assetId: string; pool: Pool }): Promise<Coins> {
  const key = { ...withdrawableAccount(pool, gatewayId), assetId };
  let accounts = await findAccounts(tx, [key]);
  if (accounts.length === 0) {
    await insertZeroAccounts(tx, [key]);
    accounts = await findAccounts(tx, [key]);
  }
  await lockAccounts(
    tx,
    accounts.map((account) => account.id),
  );
  return amount(await readBalance(tx, key));
}
