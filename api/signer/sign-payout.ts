import { isDeepStrictEqual } from 'node:util';
import type { Chain, Deps } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { insertAttempt } from '#api/store/payout-attempts.ts';
import { findPayout, lockPayout, setPayoutFailure, type StoredPayout } from '#api/store/payouts.ts';
import { lockSettlement, setWaitReason, type StoredSettlement } from '#api/store/settlements.ts';
import { lockWallet } from '#api/store/wallets.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { REMEMBERED } from '#api/payouts/rules/remembered.ts';
import type { DecodedTransfer, SignedTransfer, TransferSigner } from '#shared/chains/chain.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { rowId } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { capProblem } from './asset-caps.ts';
import { checkCaps, isOurs } from './caps.ts';
import { confirmInputs } from './check-inputs.ts';
import { checkPayout, type Order, type Verdict } from './check-payout.ts';
import { describeEntry } from './journal/describe-entry.ts';
import type { Journal } from './journal/journal.ts';
import { recall } from './recall.ts';
import { proveDead } from './prove-dead.ts';

const DAY_MS = 86_400_000;

export type Signed = 'signed' | 'waiting' | 'refused' | 'gone';

/**
 * Signs the next bytes of one payout, stores them, and records SIGNED and PROCESSING.
 * It checks the payout, signs outside any transaction, and compares the bytes with the journal. Then one transaction checks the payout again, adds
 * the signature to the journal and stores the bytes. Both checks hold the locks of settlement, wallet and payout. Nothing is broadcast before the
 * commit. After a crash before it the same payout is signed again (architecture 4), and the journal is one signature ahead.
 * Rows that contradict each other, or the journal, freeze the network: somebody changed one of them by hand.
 */
export async function signPayout(
  deps: Deps,
  signers: ReadonlyMap<string, TransferSigner>,
  payoutId: string,
  prove: typeof proveDead = proveDead,
): Promise<Signed> {
  const payout = await findPayout(deps.db.sql, payoutId);
  if (payout === undefined || !isSignable(payout)) return 'gone';
  const chain = deps.chains.get(payout.networkName);
  const signer = signers.get(payout.networkName);
  if (chain === undefined || signer === undefined) throw new Invariant(`network ${payout.networkName} has no signer`);
  const { journal } = deps;
  if (journal === undefined) throw new Invariant('the signer has no journal');
  const closed = await journal.problem(deps.db.sql);
  if (closed !== null) return giveUp(deps, payout, { wait: stopped(closed) });
  const first = await deps.db.transaction((tx) => checkLocked(tx, deps, chain, signer, payout));
  if (first === 'gone') return 'gone';
  const { verdict } = first;
  if (!('sign' in verdict)) return giveUp(deps, payout, verdict);
  const unconfirmed = await confirmInputs(chain, verdict.sign.request.fields);
  if (unconfirmed !== null) return giveUp(deps, payout, { wait: unconfirmed });
  crashPoint('sign.requested');
  const signed = await judged(async () => ({ bytes: await signer.sign(verdict.sign.path, verdict.sign.request) }));
  if ('refuse' in signed) return giveUp(deps, payout, signed);
  const decoded = await judged(() => decoderOf(chain.config)(signed.bytes.signedBytes));
  const mismatch = 'refuse' in decoded ? decoded.refuse : bytesMismatch(chain, verdict.sign, signed.bytes, decoded);
  if (mismatch !== null || 'refuse' in decoded) return giveUp(deps, payout, { refuse: mismatch ?? 'they cannot be read' });
  crashPoint('sign.done');
  const entry = describeEntry(chain, { id: payout.id, order: verdict.sign.order }, decoded, {
    kind: verdict.sign.kind,
    rawFee: decoded.rawFeeLimit > verdict.sign.rawFee ? decoded.rawFeeLimit : verdict.sign.rawFee,
    leaves: decoded.recipient !== coldAddress(chain) && !(await isOurs(deps.db.sql, chain, decoded.recipient)),
    expiresAtMs: decoded.expiresAtMs,
    signedAtMs: journal.now(),
  });
  const recalled = await recall({ ...deps, journal }, chain, payout, entry, prove);
  if (!('known' in recalled)) return giveUp(deps, payout, recalled);
  const stored = await deps.db.transaction(async (tx): Promise<Verdict | 'stored' | 'gone'> => {
    const second = await checkLocked(tx, deps, chain, signer, payout);
    if (second === 'gone') return 'gone';
    const { verdict: again, settlement } = second;
    if (!('sign' in again)) return again;
    const changed = changeOf(payout, verdict.sign, again.sign);
    if (changed !== null) return changed;
    // Checks the caps again, by what the signed bytes take away. On some families the chain takes fees that no bytes name.
    const { rawFee, counted } = verdict.sign;
    const moves = { ...decoded, rawFee: decoded.rawFeeLimit > rawFee ? decoded.rawFeeLimit : rawFee };
    const capped = await checkCaps(deps, tx, chain, moves, { payoutId: payout.id, counted });
    if (capped !== null) return { wait: capped };
    const nowMs = journal.now();
    const excess = capProblem(chain, entry, { earlier: journal.since(nowMs - DAY_MS), nowMs, strict: deps.config.NODE_ENV === 'production' });
    if (excess !== null) return { wait: `${REMEMBERED}${excess}` };
    // The proof must cover everything signed for the order. Another payout of the order may have been signed meanwhile; other bytes of this payout
    // cannot.
    if (journal.ofOrder(entry.order).length !== recalled.known) return 'gone';
    const forgotten = await journal.append(tx, entry);
    if (forgotten !== null) return { wait: stopped(forgotten) };
    const attemptId = rowId(deps);
    await insertAttempt(tx, {
      id: attemptId,
      payoutId: payout.id,
      kind: verdict.sign.kind,
      txid: signed.bytes.txid,
      signedBytes: signed.bytes.signedBytes,
      rawFeeLimit: verdict.sign.rawFee,
      expiresAt: signed.bytes.expiresAtMs === null ? null : new Date(signed.bytes.expiresAtMs),
      tipHeight: (await readTip(tx, chain.id))?.height ?? null,
    });
    crashPoint('attempt.inserted');
    await advance(tx, 'payout', {
      id: payout.id,
      event: 'SIGNED',
      actor: 'signer',
      facts: () => ({
        facts: NO_PAYOUT_FACTS,
        columns: { failure: null },
        record: { txid: signed.bytes.txid, nonce: payout.nonce, anchor: payout.anchor, kind: verdict.sign.kind },
      }),
      effects: { broadcast: () => insertOutbox(tx, { id: rowId(deps), topic: 'payout.broadcast', refId: attemptId }) },
    });
    if (settlement?.status === 'REQUESTED') {
      await advance(tx, 'settlement', {
        id: settlement.id,
        event: 'DISPATCHED',
        actor: 'signer',
        facts: () => ({ facts: NO_SETTLEMENT_FACTS, columns: { wait_reason: null }, record: { payoutId: payout.id, txid: signed.bytes.txid } }),
      });
      deps.metrics?.settlementTransitions.inc({ from: 'REQUESTED', to: 'PROCESSING', route: settlement.pool === 'held' ? 'AML_HELD' : 'GREEN' });
    }
    return 'stored';
  });
  if (stored === 'gone') return 'gone';
  if (stored !== 'stored') return giveUp(deps, payout, stored);
  crashPoint('attempt.committed');
  if (payout.purpose === 'sweep') crashPoint('sweep.attempt-committed');
  if (payout.status === 'REPLACING') crashPoint('bump.attempt-committed');
  deps.wake();
  deps.log.info({ payout: payout.id, purpose: payout.purpose, txid: signed.bytes.txid, nonce: payout.nonce }, 'payout signed');
  return 'signed';
}

/**
 * Checks a payout under the locks of settlement, wallet and payout. Without them, rows that another signer or the chain is changing could look
 * tampered with.
 */
async function checkLocked(
  tx: Tx,
  deps: Deps,
  chain: Chain,
  signer: TransferSigner,
  payout: StoredPayout,
): Promise<{ verdict: Verdict; settlement: StoredSettlement | undefined } | 'gone'> {
  const settlement = payout.purpose === 'settlement' && payout.settlementId !== null ? await lockSettlement(tx, payout.settlementId) : undefined;
  await lockWallet(tx, payout.walletId);
  const locked = await lockPayout(tx, payout.id);
  if (locked === undefined || locked.status !== payout.status || !isSignable(locked)) return 'gone';
  // These columns decided which settlement was locked and which chain is asked, and were read before the lock.
  if (locked.purpose !== payout.purpose || locked.settlementId !== payout.settlementId || locked.networkName !== payout.networkName) return 'gone';
  return { verdict: await judged(() => checkPayout(deps, tx, chain, signer, locked)), settlement };
}

function stopped({ reason }: NonNullable<Awaited<ReturnType<Journal['problem']>>>): string {
  return waitReason('journal', { detail: reason });
}

/** Whether the payout is fully planned and bytes of that plan are still to be signed. */
function isSignable(payout: StoredPayout): boolean {
  return (payout.status === 'PLANNED' || payout.status === 'REPLACING') && payout.plan.rawFee !== undefined;
}

/**
 * How the payout changed while its bytes were made: null if it did not. `gone` after a new quote or a decision to close, so it is signed again.
 * `refuse` after a change that no process of ours makes.
 */
function changeOf(payout: StoredPayout, before: Order, now: Order): 'gone' | { refuse: string } | null {
  if (isDeepStrictEqual(before, now)) return null;
  // These bring less when their fee rises: a sweep of native coins, a join of outputs, and an anchor that returns to its wallet.
  const shrinks = payout.purpose === 'sweep' || payout.purpose === 'consolidation' || now.kind === 'close';
  const same = ({ order, path, request: { nonce, intent } }: Order) => [order, path, nonce, { ...intent, rawAmount: shrinks ? null : intent.rawAmount }];
  if (before.kind !== now.kind || isDeepStrictEqual(same(before), same(now))) return 'gone';
  return { refuse: 'it was changed while it was being signed' };
}

/** How the signed bytes, decoded again, differ from the order; null when they match. */
function bytesMismatch(chain: Chain, order: Order, signed: SignedTransfer, decoded: DecodedTransfer): string | null {
  const { intent, nonce } = order.request;
  if ((decoded.chainId !== null && decoded.chainId !== chain.config.chainId) || decoded.txid !== signed.txid)
    return 'the signed bytes are for another chain or transaction';
  if (decoded.sender !== order.sender || decoded.recipient !== intent.recipient || decoded.contract !== intent.contract)
    return 'the signed bytes name other parties';
  if (decoded.rawAmount !== intent.rawAmount || decoded.nonce !== nonce) return 'the signed bytes move another amount or use another nonce';
  if (decoded.expiresAtMs !== order.expiresAtMs || signed.expiresAtMs !== order.expiresAtMs) return 'the signed bytes expire at another time than was planned';
  // The fee limit in the bytes must not exceed the plan. On some families the chain takes more on top, at prices that no bytes name.
  const asPlanned =
    decoded.rawFeeLimit <= order.rawFee && signed.rawFeeLimit === decoded.rawFeeLimit && isDeepStrictEqual(decoded.fields, order.request.fields);
  return asPlanned ? null : 'the signed bytes may cost something else than was planned';
}

/** A broken promise found while checking or signing refuses the payout and does not crash the signer. */
async function judged<T>(work: () => Promise<T>): Promise<T | { refuse: string }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Invariant) return { refuse: error.message };
    throw error;
  }
}

async function giveUp(deps: Deps, payout: StoredPayout, verdict: Verdict): Promise<'waiting' | 'refused'> {
  const refused = 'refuse' in verdict;
  const reason = refused ? verdict.refuse : 'wait' in verdict ? verdict.wait : 'it may be signed';
  if (refused) await insertFreeze(deps.db.sql, { scope: `network:${payout.networkName}`, reason: `the signer refused payout ${payout.id}: ${reason}` });
  if (payout.purpose === 'settlement' && payout.settlementId !== null)
    await setWaitReason(deps.db.sql, payout.settlementId, waitReason('not_signed', { reason }));
  if (await setPayoutFailure(deps.db.sql, payout.id, reason))
    deps.log[refused ? 'error' : 'warn']({ payout: payout.id, settlement: payout.settlementId, reason }, refused ? 'payout refused' : 'payout not signed yet');
  return refused ? 'refused' : 'waiting';
}
