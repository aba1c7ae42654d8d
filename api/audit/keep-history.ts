import type { Deps } from '#api/deps.ts';
import { beat, type History, noteHistory } from '#api/store/database-epoch.ts';

/**
 * Keeps the database trusted for another minute, or notes that it is not the one it was: restored, taken over, started again, or out of
 * sight for too long. Nothing is dispatched on a network then before the books are found to match its chain (reliability D16). Locks the history.
 */
export async function keepHistory(deps: Pick<Deps, 'db' | 'log'>): Promise<History> {
  const kept = await beat(deps.db.sql);
  if (kept !== undefined) return kept;
  const { fresh, ...history } = await deps.db.transaction(noteHistory);
  if (fresh) deps.log.warn({ ...history }, 'the database may have lost its last rows; dispatch waits until the books match each chain');
  return history;
}
