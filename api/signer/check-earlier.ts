import type { Chain } from '#api/deps.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { type AttemptKind, listAttempts, listUndead } from '#api/store/payout-attempts.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { spendsOutputs, usesNonces } from '#api/payouts/rules/families.ts';
import { anchorOf } from '#api/payouts/rules/spending.ts';
import type { DecodedTransfer } from '#shared/chains/chain.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';

import { earlierPayoutProblem } from '#api/payouts/earlier-payout-problem.ts';

/**
 * What the next attempt may be, or why none is signed. `shared`: it shares a nonce or an anchor with the earlier attempts, so at most one of them
 * ever takes effect, even if none expires.
 */
export type AttemptVerdict =
  | { kind: AttemptKind; nonce: number | null; shared: boolean; earlier: readonly DecodedTransfer[] }
  | { wait: string }
  | { refuse: string };

/**
 * Checks that the next bytes of a payout can never take effect beside its earlier ones (reliability D13, D14).
 * Either the signed bytes of every earlier attempt use the same nonce or spend the same anchor, or the signer itself finds each attempt dead. A
 * close needs no proof of who ordered it, because it pays no recipient; a payout after it is signed only once the chain shows that no earlier bytes
 * will ever pay. Locks nothing; call it under the payout's lock.
 */
export async function checkEarlierAttempts(sql: Reads, chain: Chain, payout: StoredPayout): Promise<AttemptVerdict> {
  const attempts = await listAttempts(sql, payout.id);
  if ((payout.status === 'REPLACING') !== attempts.length > 0) return { refuse: 'its status and its signed bytes contradict each other' };
  const { nonce, anchor, walletAddress } = payout;
  if (usesNonces(chain.config.family) !== (nonce !== null)) return { refuse: 'it has no nonce, or one where there are none' };
  if (spendsOutputs(chain.config.family) !== (anchor !== null)) return { refuse: 'it has no anchor, or one where there are none' };
  const { closeMark, expiresAtMs } = payout.plan;
  const kind = closeMark === undefined ? 'transfer' : 'close';
  if (nonce === null && anchor === null) {
    if (kind === 'close') return { refuse: 'there is no nonce to use up' };
    const undead = await listUndead(sql, payout.id);
    if (undead.length > 0) return { wait: `transaction ${undead[0]} may still take effect` };
    const lifetime = await checkLifetime(sql, chain, expiresAtMs);
    return lifetime ?? { kind, nonce, shared: false, earlier: [] };
  }
  if (kind === 'transfer' && attempts.some((attempt) => attempt.kind === 'close')) return { refuse: 'it is being closed and pays no more' };
  const decode = decoderOf(chain.config);
  const earlier: DecodedTransfer[] = [];
  for (const attempt of attempts) {
    const decoded = await decode(attempt.signedBytes);
    const { sender, nonce: used, recipient, contract, rawAmount } = decoded;
    earlier.push(decoded);
    if (anchor === null ? sender !== walletAddress || used !== nonce : anchorOf(chain, decoded.fields) !== anchor)
      return { refuse: `bytes signed before ${anchor === null ? 'use another nonce' : 'do not spend its anchor'}` };
    // The limits were checked for the transfers in those bytes, so further bytes must move the same. A join moves its outputs less the fee.
    const fits = payout.purpose === 'consolidation' || rawAmount === payout.rawAmount;
    const same = recipient === payout.recipient && contract === payout.contract && fits;
    if (attempt.kind === 'transfer' && !same) return { refuse: 'bytes signed before moved something else' };
  }
  return { kind, nonce, shared: true, earlier };
}

/** Bytes that expire must be valid long enough to be mined, but not so long that their wallet is blocked until they expire. */
async function checkLifetime(sql: Reads, chain: Chain, expiresAtMs: number | null | undefined): Promise<{ wait: string } | { refuse: string } | null> {
  if (typeof expiresAtMs !== 'number' || !Number.isSafeInteger(expiresAtMs)) return { refuse: 'its plan does not say when it expires' };
  const tip = await readTip(sql, chain.id);
  if (tip === undefined) return { wait: 'no block of the network was read yet' };
  const seconds = (expiresAtMs - tip.blockTime.getTime()) / 1_000;
  if (seconds < POLICY.payoutExpiryMarginSeconds) return { wait: 'its plan is about to expire' };
  return seconds > POLICY.payoutExpirySeconds ? { wait: 'it would stay valid for too long' } : null;
}

/**
 * Checks that a payout is the one its order needs: the first, or a second one after the only other payout failed for good without moving anything
 * (decisions 10).
 * `payouts` are all payouts of the order. The number returned is the column `family` of the payout.
 */
export async function checkEarlierPayouts(
  sql: Reads,
  chain: Chain,
  payout: StoredPayout,
  payouts: readonly StoredPayout[],
): Promise<{ number: 1 | 2 } | { problem: string }> {
  const others = payouts.filter((other) => other.id !== payout.id);
  for (const other of others) {
    const problem = await earlierPayoutProblem(sql, chain, other);
    if (problem !== null) return { problem };
  }
  const failed = others.filter((other) => other.status === 'FAILED');
  if (payout.family === 1 && failed.length === 0) return { number: 1 };
  if (payout.family === 2 && failed.length === 1 && failed[0]?.family === 1 && failed[0].plan.repay === true) return { number: 2 };
  return { problem: `it is payout number ${payout.family}, and ${failed.length} failed before it` };
}
