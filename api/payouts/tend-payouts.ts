import { isDeepStrictEqual } from 'node:util';
import { failWithheld } from '#api/aml/end-withheld.ts';
import { failRefund } from '#api/aml/fail-refund.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { readClock } from '#api/store/clock.ts';
import { readFinalBlock } from '#api/store/chain-blocks.ts';
import { hastenOutbox, insertOutbox } from '#api/store/outbox.ts';
import { releaseOutputs } from '#api/store/outputs.ts';
import { type AttemptKind, listAttempts, listUndead, type StoredAttempt, listTendable } from '#api/store/payout-attempts.ts';
import { clearStuck, findPayout, lockPayout, noteStuck, replan, setPayoutFailure, type PayoutPlan, type StoredPayout } from '#api/store/payouts.ts';
import { lockSettlement, setWaitReason } from '#api/store/settlements.ts';
import { findWalletByAddress, lockWallet } from '#api/store/wallets.ts';
import { ChainUnavailable, type FeeQuote } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import { rowId } from '#shared/core/ids.ts';
import { withEachAtOnce } from '#shared/core/with-each.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { tend, type TendDecision } from '#state-machines/payout/tend.ts';
import { closeMark } from '#api/intents/close-mark.ts';
import { closedReason } from '#api/treasury/closed.ts';
import { bringGas, lackOf, type NextBytes, quoteNext } from './next-bytes.ts';
import { planOf } from '#api/treasury/plan-transfer.ts';
import { exclusionOf, gatherFacts } from './tend-facts.ts';
import { takeOutputs } from '#api/treasury/purse.ts';
import { anchorOf, purseOf, signedInputs, spendingOf } from '#api/payouts/rules/spending.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/**
 * Looks after every payout that is planned or signed and in no block: renews old quotes, raises fees, closes payouts that can no longer be sent,
 * and lets expired ones be tried again (reliability D13, D14). Returns how many it changed. Any number may run at once.
 * Networks are looked after side by side, so that none waits for the nodes of another one.
 */
export async function tendPayouts(deps: Deps): Promise<number> {
  const tendable = await listTendable(
    deps.db.sql,
    [...deps.chains.values()].map((chain) => chain.id),
  );
  const tendNetwork = ({ id }: Chain): Promise<number> =>
    tendInTurn(
      deps,
      tendable.filter(({ networkId }) => networkId === id).map((payout) => payout.id),
    );
  return withEachAtOnce(deps.chains.values(), tendNetwork, (err, chain) =>
    deps.log.error({ err, network: chain.config.name }, 'payouts of a network cannot be looked after'),
  );
}

/** Looks after payouts of one network, until its nodes do not answer. */
async function tendInTurn(deps: Deps, payoutIds: readonly string[]): Promise<number> {
  let changed = 0;
  for (const id of payoutIds) {
    const payout = await findPayout(deps.db.sql, id);
    if (payout === undefined) continue;
    try {
      let decision = await tendPayout(deps, payout);
      // Nothing prevents new bytes any more, so they are planned at once.
      if (decision === 'expire') decision = await tendPayout(deps, (await findPayout(deps.db.sql, id)) ?? payout);
      if (decision !== 'wait' && decision !== 'stuck') changed += 1;
    } catch (error) {
      deps.log.warn({ err: error, payout: id, network: payout.networkName }, 'a payout cannot be looked after');
      // A failure that one payout's token or transaction causes must not hold up the network's other payouts.
      if (error instanceof ChainUnavailable && error.trouble !== 'refused' && error.trouble !== 'untrusted') break;
    }
  }
  if (changed > 0) deps.wake();
  return changed;
}

/**
 * Decides what one payout needs and does it; returns what it did.
 * Fetches the facts with no lock held, and changes something only if the payout is unchanged under the locks of settlement, wallet and payout.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function tendPayout(deps: Deps, payout: StoredPayout): Promise<TendDecision> {
  const chain = deps.chains.get(payout.networkName);
  if (chain === undefined) throw new Invariant(`network ${payout.networkName} is not configured`);
  if ((await closedReason(deps.db.sql, payout)) !== null) return 'wait';
  const attempts = await listAttempts(deps.db.sql, payout.id);
  const facts = await gatherFacts(deps.db.sql, payout, attempts);
  const seen = { payout, attempts };
  const inABlock = async (): Promise<boolean> => {
    const known = await knowsAny(chain, attempts);
    if (known) deps.log.error({ payout: payout.id, network: payout.networkName }, 'a node has a payout in a block that our scan has not met: it waits');
    return known;
  };
  let decision = tend(facts);
  if (decision === 'askNode') decision = tend({ ...facts, inABlock: await inABlock() });
  if (decision === 'expire') return (await expire(deps, seen)) ? 'expire' : 'wait';
  if (decision !== 'askMarket') return decision;
  let kind: AttemptKind = facts.closing ? 'close' : 'transfer';
  let next = await quoteNext(deps, chain, payout, attempts, kind);
  const { refused } = next;
  decision = tend({ ...facts, market: next.market });
  if (decision === 'askNode') decision = tend({ ...facts, market: next.market, inABlock: await inABlock() });
  if (decision === 'abandon') return (await abandon(deps, seen, next.problem ?? 'the network refuses it')) ? 'abandon' : 'wait';
  if (decision === 'close') {
    kind = 'close';
    next = await quoteNext(deps, chain, payout, attempts, kind);
    if (!next.market.accepted || !next.market.covered || !next.market.allowed) decision = 'stuck';
  }
  if (decision === 'stuck') {
    // Bytes that expire are given up once the network has refused them for long. Lacking coins is not a refusal: the payout gets them.
    if (exclusionOf(payout) === 'expiry' && next.market.accepted) await clearStuck(deps.db.sql, payout.id);
    else await noteStuck(deps.db.sql, payout.id, payout.plan);
    await setPayoutFailure(deps.db.sql, payout.id, next.problem ?? 'it was offered at rising fees as often as it may be');
    await bringGas(deps, chain, payout, next);
  }
  if (decision === 'stuck' || decision === 'wait') return decision;
  const done = decision === 'giveUp' ? await giveUp(deps, seen) : await plan(deps, chain, seen, decision, kind, { ...next, refused });
  if (!done) return 'wait';
  deps.log.info(
    { payout: payout.id, purpose: payout.purpose, nonce: payout.nonce, anchor: payout.anchor, decision, rawFee: next.quote?.rawFee, problem: next.problem },
    'payout tended',
  );
  return decision;
}

/** Whether the node has any of the signed bytes in a block, whatever they did there. Bytes that only wait in its mempool can still expire. */
async function knowsAny(chain: Chain, attempts: readonly StoredAttempt[]): Promise<boolean> {
  for (const { txid } of attempts) if (((await chain.reader.transaction(txid))?.height ?? null) !== null) return true;
  return false;
}

interface Seen {
  payout: StoredPayout;
  attempts: readonly StoredAttempt[];
}

/** Runs `work` under the locks of settlement, wallet and payout, unless something was signed, planned or stopped since the payout was read. */
async function ifUnchanged(deps: Deps, { payout, attempts }: Seen, work: (tx: Tx) => Promise<boolean>): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    if (payout.purpose === 'settlement' && payout.settlementId !== null) await lockSettlement(tx, payout.settlementId);
    const wallet = await lockWallet(tx, payout.walletId);
    const locked = await lockPayout(tx, payout.id);
    if (locked === undefined || locked.status !== payout.status || !isDeepStrictEqual(locked.plan, payout.plan)) return false;
    if (wallet === undefined || wallet.haltedReason !== null || (await listAttempts(tx, payout.id)).length !== attempts.length) return false;
    return (await closedReason(tx, payout)) === null && work(tx);
  });
}

/** Plans the next bytes of a payout for the signer. */
async function plan(
  deps: Deps,
  chain: Chain,
  seen: Seen,
  decision: TendDecision,
  kind: AttemptKind,
  { quote, rawAmount, observed, refused }: NextBytes,
): Promise<boolean> {
  if (quote === null) return false;
  const { payout } = seen;
  if (decision === 'bump') crashPoint('bump.decided');
  if (decision === 'close') crashPoint('close.decided');
  const done = await ifUnchanged(deps, seen, async (tx) => {
    let { anchor } = payout;
    if (observed === null) {
      if (!(await takeNext(tx, chain, seen, quote))) return false;
      anchor = anchorOf(chain, quote.fields);
    } else {
      const lacking = await lackOf(tx, payout, observed, { kind, rawAmount, rawFee: quote.rawFee });
      if (lacking.coins > 0n || lacking.native > 0n) return false;
    }
    const { now } = await readClock(tx);
    const mark =
      kind === 'close' ? { closeMark: closeMark(masterKeys(deps.config).current, { ...payout, payoutId: payout.id }), ...(refused && { refused }) } : {};
    const { stuckSince: _, ...kept } = payout.plan;
    const planned: PayoutPlan = { ...kept, ...planOf(quote, now), ...mark };
    if (decision === 'requote') await replan(tx, payout.id, { rawAmount, anchor, plan: planned });
    else {
      // A join takes a higher fee out of the amount that arrives.
      if (payout.purpose === 'consolidation' && kind === 'transfer') await replan(tx, payout.id, { rawAmount, anchor, plan: planned });
      await decide(tx, payout, decision === 'bump' ? 'BUMPED' : 'CLOSED', planned, { rawFee: planned.rawFee, fields: planned.fields, kind });
    }
    return true;
  });
  if (done && decision !== 'requote') crashPoint(decision === 'bump' ? 'bump.committed' : 'close.committed');
  return done;
}

/** Takes the outputs that the next bytes spend beyond those taken before. False when some are gone, or the bytes do not spend the anchor of signed ones. */
async function takeNext(tx: Tx, chain: Chain, { payout, attempts }: Seen, quote: FeeQuote): Promise<boolean> {
  const wallet = await findWalletByAddress(tx, chain.id, payout.walletAddress);
  if (wallet === undefined) throw new Invariant(`payout ${payout.id} has no wallet`);
  if (attempts.length > 0 && anchorOf(chain, quote.fields) !== payout.anchor) throw new Invariant(`payout ${payout.id} was to leave its anchor`);
  return (await takeOutputs(tx, purseOf(chain, wallet), payout.id, spendingOf(chain, quote.fields).inputs, await signedInputs(chain, attempts))) === null;
}

/** Records that nothing signed so far can take effect any more, with the proof (reliability D14). */
async function expire(deps: Deps, seen: Seen): Promise<boolean> {
  const { payout, attempts } = seen;
  crashPoint('expire.decided');
  const done = await ifUnchanged(deps, seen, async (tx) => {
    if ((await listUndead(tx, payout.id)).length > 0) return false;
    const final = await readFinalBlock(tx, payout.networkId);
    const proof = { txids: attempts.map((attempt) => attempt.txid), expiresAt: attempts[0]?.expiresAt, finalHeight: final?.height, finalTime: final?.time };
    await decide(tx, payout, 'EXPIRED', payout.plan, proof);
    return true;
  });
  if (done) crashPoint('expire.committed');
  return done;
}

/** Ends a payout when none of its bytes can take effect and no further ones can be sent. No worker pays its order again; an operator decides about it. */
async function abandon(deps: Deps, seen: Seen, problem: string): Promise<boolean> {
  const { payout } = seen;
  const done = await ifUnchanged(deps, seen, async (tx) => {
    if ((await listUndead(tx, payout.id)).length > 0) return false;
    const { now } = await readClock(tx);
    const columns = { failure: problem, final_at: now, plan: tx.json({ ...payout.plan, repay: false } as Parameters<Tx['json']>[0]) };
    const facts = () => ({ facts: NO_PAYOUT_FACTS, columns, record: { txids: seen.attempts.map((attempt) => attempt.txid), problem } });
    await advance(tx, 'payout', { id: payout.id, event: 'ABANDONED', actor: 'worker', facts, effects: { free: () => releaseOutputs(tx, payout.id) } });
    if (payout.refundId !== null) await failRefund(tx, deps, { refundId: payout.refundId, reason: problem });
    if (payout.withheldId !== null) await failWithheld(tx, deps, { transferId: payout.withheldId, reason: problem });
    if (payout.settlementId !== null) {
      if (payout.purpose === 'settlement') await setWaitReason(tx, payout.settlementId, waitReason('given_up', { reason: problem }));
      else await hastenOutbox(tx, 'settlement.dispatch', [payout.settlementId]);
    }
    crashPoint('abandon.committed');
    return true;
  });
  if (done)
    deps.log.error({ payout: payout.id, purpose: payout.purpose, settlement: payout.settlementId, problem }, 'a payout was given up: an operator must decide');
  return done;
}

/** Gives up an unsigned plan that holds no nonce, and frees its outputs. The dispatcher makes a new one that fits, top-ups included. */
async function giveUp(deps: Deps, seen: Seen): Promise<boolean> {
  const { payout } = seen;
  return ifUnchanged(deps, seen, async (tx) => {
    if (payout.purpose === 'sweep') {
      const rawAmount = payout.rawAmount + (payout.contract === null ? BigInt(payout.plan.rawFee ?? 0) : 0n);
      await replan(tx, payout.id, { rawAmount, anchor: null, plan: {} });
    } else {
      const facts = () => ({ facts: NO_PAYOUT_FACTS, columns: { failure: 'it could not be sent as planned and is planned anew' } });
      await advance(tx, 'payout', { id: payout.id, event: 'CANCELLED', actor: 'worker', facts, effects: { free: () => releaseOutputs(tx, payout.id) } });
    }
    if (payout.settlementId === null) return true;
    if (payout.purpose === 'settlement') await insertOutbox(tx, { id: rowId(deps), topic: 'settlement.dispatch', refId: payout.settlementId });
    else await hastenOutbox(tx, 'settlement.dispatch', [payout.settlementId]);
    return true;
  });
}

async function decide(
  tx: Tx,
  payout: StoredPayout,
  event: 'BUMPED' | 'CLOSED' | 'EXPIRED',
  planned: PayoutPlan,
  record: Record<string, unknown>,
): Promise<void> {
  const facts = () => ({ facts: NO_PAYOUT_FACTS, columns: { plan: tx.json(planned as Parameters<Tx['json']>[0]), failure: null }, record });
  await advance(tx, 'payout', { id: payout.id, event, actor: 'worker', facts });
}
