import type { Deps, OwnWork, Reply, SharedWork } from '#api/deps.ts';
import { type AddressBookEntry, storeAddress } from '#api/store/address-book.ts';
import { firstOfEachKey, KeyInUse, nameOfScope, storeReplies, takeKeys } from '#api/store/idempotency.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { amount, zero } from '#shared/core/money.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';
import { gather } from '#shared/platform/together.ts';
import { isTracing } from '#shared/platform/tracing.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { decide } from '#state-machines/settlement/decide.ts';
import { claimSettlements, lockPool } from './claim.ts';
import { lockedPolicies } from './gather-facts.ts';
import { type AcceptedCashout, addressOf, type Asked, countCreated, insertAccepted } from './insert-accepted.ts';

/** Claims in one transaction: the lock of the pool is held for all of them. */
const MOST_CLAIMS = 32;
/** How long many wait for the key of one that is being worked on elsewhere, milliseconds; then each waits by itself. */
const KEY_WAIT_MS = 250;
/** How long the claims of a pool go alone after one of them was refused or a duplicate, milliseconds. */
const APART_MS = 60_000;

/** A claim that every gate let pass as far as can be known without the lock. */
interface ReadyClaim extends Asked, Pick<OwnWork, 'key' | 'written'> {
  deps: Deps;
}

type Answer = ReturnType<OwnWork['written']>;
type Claim = (claim: ReadyClaim) => Promise<ReadonlyMap<ReadyClaim, Answer> | undefined>;

/** One pool of a gateway whose claims go together, or apart until a moment of `performance.now()`. */
interface SharedPool {
  claim: Claim;
  waiting: number;
  apartUntil: number;
}

const ofDatabase = new WeakMap<Database, Map<string, SharedPool>>();

/** One of them cannot be decided about beside others. */
class Apart extends Error {}

/**
 * How a claim shares a transaction with others on its pool, which they would only wait for one after the other: each is decided about with what those before it
 * leave, and is there with its key or not at all, as when it is alone. Undefined for what looks at more than its pool, or may not claim: that goes alone. So does each of those that a transaction
 * fails for, and for a minute each of their pool when one of them is refused then, or is a duplicate. It fails for all of them only where the database is
 * away or busy, or nobody knows whether COMMIT was done.
 */
export function sharedClaim(deps: Deps, asked: Asked): SharedWork | undefined {
  const { decision, facts } = asked.gathered;
  // What is traced belongs to one request's trace.
  if (decision.outcome !== 'claim' || (facts.policies?.policies ?? []).length > 0 || isTracing()) return undefined;
  const pools = ofDatabase.get(deps.db) ?? new Map<string, SharedPool>();
  ofDatabase.set(deps.db, pools);
  const name = `${asked.gateway.id} ${asked.order.asset.id} ${decision.pool}`;
  return async ({ key, written, alone, isReplay }) => {
    const pool = pools.get(name) ?? {
      claim: gather((claims: ReadyClaim[]) => claimTogether(claims, decision.pool), { atOnce: 1, most: MOST_CLAIMS }),
      waiting: 0,
      apartUntil: 0,
    };
    pools.set(name, pool);
    pool.waiting += 1;
    try {
      if (pool.apartUntil > performance.now()) return await alone();
      const claim = { ...asked, deps, key, written };
      return (await pool.claim(claim))?.get(claim) ?? (await goAlone(pool, alone, isReplay));
    } finally {
      pool.waiting -= 1;
      if (pool.waiting === 0 && pool.apartUntil <= performance.now()) pools.delete(name);
    }
  };
}

async function goAlone(pool: SharedPool, alone: OwnWork['alone'], isReplay: OwnWork['isReplay']): Promise<Reply> {
  let refused = false;
  try {
    const reply = await alone();
    refused = isReplay();
    return reply;
  } catch (error) {
    refused = !isPassing(error);
    throw error;
  } finally {
    if (refused) pool.apartUntil = performance.now() + APART_MS;
  }
}

/**
 * Claims for all in one transaction and returns their replies, those left out whose key is taken; undefined when nothing was written.
 * @throws what says that the database is away or busy, or was lost while COMMIT was answered
 */
async function claimTogether(claims: readonly ReadyClaim[], pool: Pool): Promise<ReadonlyMap<ReadyClaim, Answer> | undefined> {
  const [{ deps }] = claims as [ReadyClaim];
  try {
    const answers = await deps.db.transaction((tx) => claimInOrder(tx, deps, firstOfEachKey(claims), pool));
    for (const [{ order }, reply] of answers) countCreated(deps, reply, order);
    return answers;
  } catch (error) {
    if (isPassing(error)) throw error;
    if (!(error instanceof KeyInUse || error instanceof Apart))
      deps.log.warn({ err: error, claims: claims.length }, 'claims of one moment could not be written together, and are one by one');
    return undefined;
  }
}

/** Locks the keys, then the pool, then the credits that are drawn. @throws Apart when not all of them may claim */
async function claimInOrder(tx: Tx, deps: Deps, given: readonly ReadyClaim[], pool: Pool): Promise<Map<ReadyClaim, Answer>> {
  const keys = given.flatMap(({ key }) => (key === undefined ? [] : [key]));
  const taken = keys.length === 0 ? new Set<string>() : await takeKeys(tx, keys, KEY_WAIT_MS);
  const claims = given.filter(({ key }) => key === undefined || taken.has(nameOfScope(key.scope)));
  const [first] = claims;
  if (first === undefined) return new Map();
  const { gateway, order } = first;
  const at = { gatewayId: gateway.id, assetId: order.asset.id };
  const subject = { ...at, networkId: order.asset.networkId, recipient: order.destination.canonical, initiator: order.initiator, except: null };
  const policies = await lockedPolicies(tx, subject);
  // They look at destinations and days, and not only at the pool.
  if (policies.policies.length > 0) throw new Apart();
  let left = await lockPool(tx, { ...at, pool });
  const decided = claims.map((claim) => {
    const pools = { green: zero, held: zero, [pool]: left };
    const facts = { ...claim.gathered.facts, policies: { ...policies, initiator: claim.order.initiator }, pools, parkedCount: undefined };
    const decision = decide(facts);
    if (decision.outcome !== 'claim' || decision.pool !== pool) throw new Apart();
    left = amount(left - claim.order.amount);
    return { claim, id: uuidFrom(deps.randomBytes(16)), decision, facts };
  });
  const addressIds = await storeAddresses(tx, deps, claims);
  await claimSettlements(
    tx,
    at,
    decided.map(({ claim, id }) => ({ settlementId: id, amount: claim.order.amount })),
    pool,
  );
  const accepted = decided.map(({ claim, ...one }): AcceptedCashout => {
    const addressId = addressIds.get(claim.order.destination.canonical) as string;
    return { ...one, addressId, gateway: claim.gateway, order: claim.order, quote: claim.gathered.quote };
  });
  const replies = await insertAccepted(tx, deps, accepted);
  const answers = new Map(claims.map((claim, place) => [claim, claim.written(replies[place] as Reply)]));
  const kept = [...answers].flatMap(([{ key }, reply]) => (key === undefined ? [] : [{ scope: key.scope, ...reply }]));
  if (kept.length > 0) await storeReplies(tx, kept);
  return answers;
}

/** Ids of the address-book entries by canonical address; new ones are stored in the order of their addresses, so that two who store several never wait in a circle. */
async function storeAddresses(tx: Tx, deps: Deps, claims: readonly ReadyClaim[]): Promise<Map<string, string>> {
  const entries = new Map(claims.map(({ gateway, order }) => [order.destination.canonical, addressOf(deps, gateway, order)] as const).toReversed());
  const ids = new Map<string, string>();
  for (const address of [...entries.keys()].sort()) ids.set(address, await storeAddress(tx, entries.get(address) as AddressBookEntry));
  return ids;
}
