import type { Chain } from '#api/deps.ts';
import { findDisplacer } from '#api/store/adopted.ts';
import { isFinallySpentBy } from '#api/store/outputs.ts';
import { listAttempts, listUndead, type StoredAttempt, hasPaid, isFinalOnChain } from '#api/store/payout-attempts.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { spendsOutputs, usesNonces } from '#api/payouts/rules/families.ts';
import { anchorOf, outpointOf } from '#api/payouts/rules/spending.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** Why an earlier payout of the same order might still pay, or null when the chain itself shows that it never will. */
export async function earlierPayoutProblem(sql: Reads, chain: Chain, earlier: StoredPayout): Promise<string | null> {
  const attempts = await listAttempts(sql, earlier.id);
  if (earlier.status === 'CANCELLED') return attempts.length === 0 ? null : 'a cancelled payout of the settlement has signed bytes';
  if (earlier.status !== 'FAILED') return 'the settlement has another live payout';
  const { txid } = earlier;
  if (txid === null && (await isDisplaced(sql, chain, earlier, attempts))) return (await hasPaid(sql, earlier.id)) ? 'the payout before it did pay' : null;
  if (txid === null || !attempts.some((attempt) => attempt.txid === txid) || !(await isFinalOnChain(sql, chain.id, txid)))
    return 'the failure of the payout before it is not final on the chain';
  if (await hasPaid(sql, earlier.id)) return 'the payout before it did pay';
  if (usesNonces(chain.config.family)) return null;
  if (spendsOutputs(chain.config.family)) {
    const spent = earlier.anchor !== null && (await isFinallySpentBy(sql, chain.id, outpointOf(earlier.anchor), txid));
    return spent ? null : 'what failed before it did not use its anchor up';
  }
  const undead = await listUndead(sql, earlier.id);
  return undead.every((one) => one === txid) ? null : 'an earlier transaction of the settlement may still take effect';
}

/**
 * Whether a final transaction that the books had lost excludes every attempt of a payout: it used the nonce, or spent the anchor, that is in the
 * signed bytes of each (decision 0024).
 */
async function isDisplaced(sql: Reads, chain: Chain, { id, nonce, anchor, walletAddress }: StoredPayout, attempts: readonly StoredAttempt[]): Promise<boolean> {
  if ((nonce === null && anchor === null) || (await findDisplacer(sql, id)) === undefined) return false;
  const decoded = await Promise.all(attempts.map(({ signedBytes }) => decoderOf(chain.config)(signedBytes)));
  return decoded.every((bytes) => (anchor === null ? bytes.sender === walletAddress && bytes.nonce === nonce : anchorOf(chain, bytes.fields) === anchor));
}
