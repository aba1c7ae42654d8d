import { completeRefund } from '#api/aml/complete-refund.ts';
import { completeWithheld, failWithheld } from '#api/aml/end-withheld.ts';
import { failRefund } from '#api/aml/fail-refund.ts';
import { chargeDestination } from '#api/billing/charge-destination.ts';
import type { Deps } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { findAssetByContract } from '#api/store/assets.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { readClock } from '#api/store/clock.ts';
import { hastenOutbox, insertOutbox } from '#api/store/outbox.ts';
import { finalOutgoing, listFinalOutgoing, listUnknownOutgoing, markBooked, type OutgoingSighting } from '#api/store/sightings.ts';
import { listForeignSpends, releaseOutputs } from '#api/store/outputs.ts';
import { findAttemptByTxid, type StoredAttempt, isOnChain, listDoublePayouts, listLiveAttempts } from '#api/store/payout-attempts.ts';
import { findPayout, listOpenOnChain, lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { traceOfPayout } from '#api/store/traces.ts';
import { secondsSinceSent, findNextWaiting, lockSettlement, setWaitReason } from '#api/store/settlements.ts';
import { haltWallet } from '#api/store/wallets.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { rowId } from '#shared/core/ids.ts';
import { fromUnits } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { spanWithin } from '#shared/platform/tracing.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import type { AppliedNetwork } from './applied-network.ts';
import { bookFee, bookForeignSpend, bookStored, bookStray } from './book-strays.ts';
import { completeSettlement } from './complete-settlement.ts';
import { haltUsedWallets } from './halt-used-wallets.ts';
import { type Effect, judgeClose, judgeEffect, judgeOutputs } from './judge-effect.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { type Spending, spendingOf } from '#api/payouts/rules/spending.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { OUT_OF_TURNS } from './send.ts';
import { stopDoublePayout, stopPayout } from './stop-double-payout.ts';

/**
 * Applies the chain, as stored now, to our own transactions. It moves payouts that a block holds or no longer holds, and halts wallets that moved
 * coins without a payout. At finality it books fees, paid cashouts and coins put in.
 * Called in the transaction that moved the network's tip, after its sightings are stored; calling it again changes nothing. Locks settlements, then
 * payouts, then ledger accounts.
 */
export async function applyOutgoing(tx: Tx, deps: Deps, network: AppliedNetwork): Promise<void> {
  await followPayouts(tx, deps, network);
  await haltUsedWallets(tx, deps, network);
  for (const twice of await listDoublePayouts(tx, network.networkId)) await stopDoublePayout(tx, deps, network, twice);
  const tip = await readTip(tx, network.networkId);
  if (tip !== undefined) await bookFinal(tx, deps, network, tip.finalHeight);
}

/** Whether there is anything for `applyOutgoing` to do once a network is final up to a height; a condition. Of most blocks there is not. */
export function isAnyOutgoing(tx: Tx, { networkId, finalHeight }: { networkId: string; finalHeight: number }) {
  return tx`(
    exists (${listOpenOnChain(tx, networkId)}) or exists (${listUnknownOutgoing(tx, networkId)}) or exists (${listForeignSpends(tx, networkId)})
    or exists (${listDoublePayouts(tx, networkId)}) or exists (${finalOutgoing(tx, networkId, finalHeight)}))`;
}

/** Moves payouts into the block that holds them, and back to being broadcast when that block was replaced. */
async function followPayouts(tx: Tx, deps: Deps, { networkId }: AppliedNetwork): Promise<void> {
  for (const open of await listOpenOnChain(tx, networkId)) {
    if (open.height !== null && open.status !== 'INCLUDED') {
      const { height, settlementId } = open;
      await advance(tx, 'payout', {
        id: open.id,
        event: 'SEEN',
        actor: 'chain',
        facts: () => ({ facts: NO_PAYOUT_FACTS, record: { height } }),
        effects: { resume: () => hastenWaiting(tx, settlementId) },
        orConflict: movedMeanwhile,
      });
      crashPoint('confirm.seen');
    } else if (open.height === null && open.status === 'INCLUDED') {
      await advance(tx, 'payout', {
        id: open.id,
        event: 'ORPHANED',
        actor: 'chain',
        facts: () => ({ facts: NO_PAYOUT_FACTS }),
        effects: {
          broadcast: async () => {
            for (const id of await listLiveAttempts(tx, open.id)) await insertOutbox(tx, { id: rowId(deps), topic: 'payout.broadcast', refId: id });
          },
        },
        orConflict: movedMeanwhile,
      });
    }
  }
}

/** The list was read without locks. A payout that ended since is left until the next block, because one row must not keep a block from being applied. */
function movedMeanwhile(): null {
  return null;
}

/** Hurries the cashout that waited for these coins or this gas, and the next one behind it. */
async function hastenWaiting(tx: Tx, settlementId: string | null): Promise<void> {
  if (settlementId === null) return;
  const next = await findNextWaiting(tx, settlementId, OUT_OF_TURNS);
  await hastenOutbox(tx, 'settlement.dispatch', [settlementId, ...(next === undefined ? [] : [next])]);
}

/** Books every final transaction of ours and every final transfer to a wallet, one chain transaction at a time. */
async function bookFinal(tx: Tx, deps: Deps, network: AppliedNetwork, finalHeight: number): Promise<void> {
  const byTxid = new Map<string, OutgoingSighting[]>();
  for (const row of await listFinalOutgoing(tx, network.networkId, finalHeight)) {
    const rows = byTxid.get(row.txid);
    if (rows === undefined) byTxid.set(row.txid, [row]);
    else rows.push(row);
  }
  if (byTxid.size === 0) return;
  const native = await findAssetByContract(tx, network.networkId, null);
  if (native === undefined) throw new Invariant(`network ${network.networkName} has no native asset`);
  for (const rows of await inLockOrder(tx, byTxid)) {
    const sent = rows.find((row) => row.kind === 'sent');
    const transfers = rows.filter((row) => row.kind !== 'sent');
    const foreign = sent !== undefined && sent.payoutId === null && spendsOutputsOf(deps, network);
    const { payoutId } = sent ?? { payoutId: null };
    if (sent !== undefined && payoutId !== null)
      await spanWithin(await traceOfPayout(tx, payoutId), 'payout.final', { payout: payoutId }, () => finish(tx, deps, network, sent, transfers));
    else if (foreign) await bookForeignSpend(tx, deps, network, native, sent, transfers);
    else if (transfers.every((row) => row.payoutId === null)) for (const row of transfers) await bookStray(tx, deps, network, row);
    // Last, because it locks ledger accounts.
    if (sent !== undefined && !foreign) await bookFee(tx, deps, network, native, sent);
    await markBooked(
      tx,
      rows.map((row) => row.id),
    );
  }
  crashPoint('confirm.final');
}

/** Puts transactions into the order in which their settlements are locked, by id, whatever their order on the chain. */
async function inLockOrder(tx: Tx, byTxid: ReadonlyMap<string, OutgoingSighting[]>): Promise<OutgoingSighting[][]> {
  const keyed = await Promise.all(
    [...byTxid.values()].map(async (rows) => {
      const payoutId = rows[0]?.payoutId ?? null;
      const payout = payoutId === null ? undefined : await findPayout(tx, payoutId);
      return { rows, key: payout?.purpose === 'settlement' ? (payout.settlementId ?? '') : '' };
    }),
  );
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map((one) => one.rows);
}

/** Ends a payout by the effect that its mined attempt had on the chain. */
async function finish(tx: Tx, deps: Deps, network: AppliedNetwork, sent: OutgoingSighting, transfers: OutgoingSighting[]): Promise<void> {
  const known = await findPayout(tx, sent.payoutId as string);
  const settlement = known?.purpose === 'settlement' && known.settlementId !== null ? await lockSettlement(tx, known.settlementId) : undefined;
  const rejected = settlement?.status === 'REJECTED';
  const payout = await lockPayout(tx, sent.payoutId as string);
  if (payout?.status === 'CONFIRMED' || payout?.status === 'FAILED') {
    // The block was replaced by another that holds the transaction too. Its outcome stays.
    if (payout.txid === sent.txid) return;
    // What the first transaction moved is booked already. This one comes on top, unless the first is gone from the chain. A payout that was given
    // up had no first one.
    if (payout.txid === null || (await isOnChain(tx, network.networkId, payout.txid))) for (const row of transfers) await bookStray(tx, deps, network, row);
    await stopDoublePayout(tx, deps, network, { ...payout, txids: [...(payout.txid === null ? [] : [payout.txid]), sent.txid] });
    return;
  }
  if (payout === undefined || payout.status !== 'INCLUDED')
    throw new Invariant(`payout ${sent.payoutId} is final on the chain but ${payout?.status ?? 'unknown'} in the books`);
  const attempt = await findAttemptByTxid(tx, sent.txid);
  const made = transfers.filter((row) => row.configured).map((row) => ({ ...row, rawAmount: row.rawAmount ?? 0n }));
  const moved = made.filter((row) => row.sender === payout.walletAddress);
  const spending = attempt === undefined || payout.anchor === null ? null : await spendingIn(deps, network, attempt);
  let effect: Effect;
  if (spending !== null)
    effect = judgeOutputs(attempt?.kind === 'close' ? null : meantBy(payout, spending), { wallet: payout.walletAddress, change: spending.change }, made);
  else effect = attempt?.kind === 'close' ? judgeClose(moved) : judgeEffect(payout, sent.succeeded === true, moved);
  // The mined attempt has spent its outputs for good and no other attempt can be mined, so outputs that only the others spend become free.
  if (payout.anchor !== null) await releaseOutputs(tx, payout.id, spending?.inputs ?? []);
  crashPoint('settle.effect-checked');
  // A recipient may be a contract that sends us coins of its own while it is paid.
  for (const row of transfers) if (effect.outcome === 'other' || !row.senderOurs) await bookStray(tx, deps, network, row);
  const { now } = await readClock(tx);
  const outcome = { txid: sent.txid, raw_fee: (sent.rawFee ?? 0n).toString(), final_at: now };
  const destinations = attempt?.kind === 'transfer' || payout.plan.refused === true;
  if (settlement !== undefined && destinations && effect.outcome !== 'other')
    await chargeDestination(tx, deps, settlement, {
      payout,
      units: await unitsOf(deps, network, payout, attempt),
      rawFee: sent.rawFee ?? 0n,
      failed: effect.outcome === 'nothing',
    });
  if (effect.outcome === 'done') {
    if (rejected) for (const row of transfers) await bookStray(tx, deps, network, row);
    await advance(tx, 'payout', {
      id: payout.id,
      event: 'FINAL_SUCCESS',
      actor: 'chain',
      facts: () => ({ facts: NO_PAYOUT_FACTS, columns: { ...outcome, failure: null }, record: { txid: sent.txid } }),
      effects: {
        complete: () =>
          // The claim was given back because no bytes could pay it any more. They did: something that was proven impossible happened.
          rejected
            ? stopPayout(tx, deps, network, { ...payout, reason: `payout ${payout.id} paid a cashout that was rejected: ${sent.txid}` })
            : complete(tx, deps, network, payout, sent.txid, now),
      },
    });
    return;
  }
  // Periodic work plans treasury transfers again. A payout of coins that we owe gets one new payout automatically (decisions 10).
  const repay = isOwed(payout) && !rejected && effect.outcome === 'nothing' && payout.family === 1;
  await advance(tx, 'payout', {
    id: payout.id,
    event: 'FINAL_FAILURE',
    actor: 'chain',
    facts: () => ({
      facts: NO_PAYOUT_FACTS,
      columns: { ...outcome, failure: effect.reason, plan: tx.json({ ...payout.plan, repay } as unknown as Parameters<Tx['json']>[0]) },
      record: { txid: sent.txid, reason: effect.reason, repay },
    }),
    effects: { fail: () => fail(tx, deps, network, { payout, txid: sent.txid, effect, repay, rejected }) },
  });
}

/** Handles a payout that did not do what it was for: one new payout, or an operator's decision (decisions 10). */
async function fail(
  tx: Tx,
  deps: Deps,
  network: AppliedNetwork,
  failed: { payout: StoredPayout; txid: string; effect: Exclude<Effect, { outcome: 'done' }>; repay: boolean; rejected: boolean },
): Promise<void> {
  const { payout, txid, effect, repay, rejected } = failed;
  const given = rejected && effect.outcome === 'nothing';
  deps.log[given ? 'info' : 'error'](
    { network: network.networkName, payout: payout.id, settlement: payout.settlementId, txid, reason: effect.reason, repay },
    given ? 'the nonce of a rejected cashout is used up' : 'a payout failed for good',
  );
  crashPoint('fail.final');
  if (effect.outcome === 'other') await haltWallet(tx, payout.walletId, `transaction ${txid}: ${effect.reason}`);
  // Nothing left us, and no new attempt is made automatically: the coins return to the held pool for the operator to decide.
  if (payout.refundId !== null && effect.outcome === 'nothing' && !repay)
    await failRefund(tx, deps, { refundId: payout.refundId, reason: `transaction ${txid}: ${effect.reason}` });
  if (payout.withheldId !== null && effect.outcome === 'nothing' && !repay)
    await failWithheld(tx, deps, { transferId: payout.withheldId, reason: `transaction ${txid}: ${effect.reason}` });
  if (payout.settlementId === null || rejected) return;
  if (repay) await insertOutbox(tx, { id: rowId(deps), topic: 'settlement.dispatch', refId: payout.settlementId });
  else if (payout.purpose === 'settlement') await setWaitReason(tx, payout.settlementId, waitReason('failed', { txHash: txid, detail: effect.reason }));
  else await hastenOutbox(tx, 'settlement.dispatch', [payout.settlementId]);
}

function spendsOutputsOf(deps: Deps, { networkName }: AppliedNetwork): boolean {
  const chain = deps.chains.get(networkName);
  return chain !== undefined && spendsOutputs(chain.config.family);
}

/** The outputs that the mined bytes spend and give back. @throws Invariant when the network is not served here */
async function spendingIn(deps: Deps, { networkName }: AppliedNetwork, { signedBytes }: StoredAttempt): Promise<Spending & { rawAmount: bigint }> {
  const chain = deps.chains.get(networkName);
  if (chain === undefined) throw new Invariant(`network ${networkName} is not configured`);
  const { fields, rawAmount } = await decoderOf(chain.config)(signedBytes);
  return { ...spendingOf(chain, fields), rawAmount };
}

/** The units in the mined bytes if bytes name any, because later attempts may have been planned with more; otherwise the units of the plan. */
async function unitsOf(deps: Deps, { networkName }: AppliedNetwork, { plan }: StoredPayout, attempt: StoredAttempt | undefined): Promise<bigint | null> {
  const chain = deps.chains.get(networkName);
  const gas = chain === undefined || attempt === undefined ? undefined : (await decoderOf(chain.config)(attempt.signedBytes)).fields.gas;
  const units = gas ?? plan.units;
  return units === undefined ? null : BigInt(units);
}

/** The payment that was intended. For a join it is what the fee of the mined bytes left over, because each attempt brings another amount. */
function meantBy({ purpose, recipient, rawAmount }: StoredPayout, bytes: { rawAmount: bigint }): { recipient: string; rawAmount: bigint } {
  return { recipient, rawAmount: purpose === 'consolidation' ? bytes.rawAmount : rawAmount };
}

/** Whether the coins are owed: to a merchant, to a payer, or to the other pool. */
function isOwed({ purpose }: StoredPayout): boolean {
  return purpose === 'settlement' || purpose === 'refund' || purpose === 'withheld' || purpose === 'held_release';
}

/**
 * Books a payout that did what it was for: a cashout is settled, a refund or withheld coins are paid, coins are stored. A transfer between our own
 * wallets lets the cashout that waited for it continue.
 */
async function complete(tx: Tx, deps: Deps, network: AppliedNetwork, payout: StoredPayout, txid: string, now: Date): Promise<void> {
  if (payout.purpose === 'settlement') await completeCashout(tx, deps, network, payout, txid, now);
  else if (payout.purpose === 'refund') await completeRefund(tx, deps, { refundId: payout.refundId as string, txid });
  else if (payout.purpose === 'cold') await bookStored(tx, payout.assetId, fromUnits(payout.rawAmount, payout.decimals), payout.id);
  else if (payout.purpose === 'withheld') await completeWithheld(tx, deps, { transferId: payout.withheldId as string, txid });
  else if (payout.settlementId !== null) await hastenOutbox(tx, 'settlement.dispatch', [payout.settlementId]);
}

/** Settles the cashout with the amount that its payout moved. */
async function completeCashout(tx: Tx, deps: Deps, network: AppliedNetwork, payout: StoredPayout, txid: string, now: Date): Promise<void> {
  const received = fromUnits(payout.rawAmount, payout.decimals);
  await completeSettlement(tx, deps, { settlementId: payout.settlementId as string, received, txid, now, actor: 'chain' });
  const seconds = deps.metrics && (await secondsSinceSent(tx, payout.id));
  if (seconds !== undefined) deps.metrics?.broadcastToSettled.observe({ chain: network.networkName }, seconds);
}
