import { listUndead, type StoredAttempt, readPayoutAge } from '#api/store/payout-attempts.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { TendFacts } from '#state-machines/payout/tend.ts';

/** Reads what our own rows say about a payout that is in no block, to decide what it needs. Locks nothing. @throws Invariant when it is gone */
export async function gatherFacts(sql: Reads, payout: StoredPayout, attempts: readonly StoredAttempt[]): Promise<TendFacts> {
  const age = await readPayoutAge(sql, payout.id);
  if (age === undefined) throw new Invariant(`payout ${payout.id} does not exist`);
  const seconds = (since: Date, until: Date = age.now): number => (until.getTime() - since.getTime()) / 1_000;
  const [newest] = attempts;
  const { expiresAtMs, stuckSince } = payout.plan;
  return {
    status: payout.status,
    stuckSeconds: stuckSince === undefined ? null : seconds(new Date(stuckSince)),
    exclusion: exclusionOf(payout),
    closing: payout.plan.closeMark !== undefined,
    transfers: attempts.filter((attempt) => attempt.kind === 'transfer').length,
    quoteAgeSeconds: seconds(age.quotedAt),
    quoteSecondsLeft: typeof expiresAtMs !== 'number' || age.tipTime === null ? null : seconds(age.tipTime, new Date(expiresAtMs)),
    last:
      newest === undefined
        ? null
        : {
            ageSeconds: seconds(latest(newest.createdAt, age.orphanedAt)),
            // It was signed before any block was scanned, so every block scanned since counts.
            ageBlocks: age.tipHeight === null ? 0 : age.tipHeight - (newest.tipHeight ?? -1),
          },
    nextInLine: !age.waitsForAnother,
    holdsUpOthers: age.holdsUpOthers,
    provenDead: attempts.length > 0 && (await listUndead(sql, payout.id)).length === 0,
  };
}

/** How a payout's attempts exclude each other. Without a nonce or an anchor only their expiry does. */
export function exclusionOf({ nonce, anchor }: StoredPayout): TendFacts['exclusion'] {
  if (nonce !== null) return 'nonce';
  return anchor === null ? 'expiry' : 'anchor';
}

/** Bytes that a block once held paid enough, so their age starts again when the block is replaced. */
function latest(signedAt: Date, orphanedAt: Date | null): Date {
  return orphanedAt !== null && orphanedAt > signedAt ? orphanedAt : signedAt;
}
