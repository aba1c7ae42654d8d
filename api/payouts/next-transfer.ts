import { isFurtherAllowed } from '#api/store/aml.ts';
import { listPoolTransfers, type StoredPayout } from '#api/store/payouts.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { payoutNumberAfter } from './send.ts';

/** A payment's coins that must move between the wallets of the pools. */
interface Move {
  paymentId: string;
  assetId: string;
}

/**
 * Number of the transfer that these coins need now. Null while one is on its way, and after two failed in a row until an operator allows another.
 * Locks nothing.
 */
export async function nextTransfer(sql: Reads, coins: Move): Promise<number | null> {
  const { automatic, failed } = await readTransfers(sql, coins);
  if (automatic !== null || failed === undefined) return automatic;
  return (await isFurtherAllowed(sql, failed.id)) ? failed.family + 1 : null;
}

/**
 * The state of the transfers of these coins since the last that arrived: the number of the next one that is made automatically, if any, and the
 * last one if all have failed. Locks nothing.
 */
export async function readTransfers(sql: Reads, coins: Move): Promise<{ automatic: number | null; failed: StoredPayout | undefined }> {
  const since = sinceArrival(await listPoolTransfers(sql, coins));
  return { automatic: payoutNumberAfter(since), failed: lastFailed(since) };
}

/** Transfers of the same coins that were made after the last one that arrived. Pure. */
export function sinceArrival<T extends Pick<StoredPayout, 'status'>>(made: readonly T[]): T[] {
  return made.slice(made.findLastIndex(({ status }) => status === 'CONFIRMED') + 1);
}

/** Of transfers none of which arrived, the last that failed; none while one is on its way. Pure. */
export function lastFailed<T extends Pick<StoredPayout, 'status'>>(since: readonly T[]): T | undefined {
  const over = since.every(({ status }) => status === 'FAILED' || status === 'CANCELLED');
  return over ? since.findLast(({ status }) => status === 'FAILED') : undefined;
}
