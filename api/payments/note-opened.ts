import type { Deps } from '#api/deps.ts';
import { noteOpened } from '#api/store/day-figures.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** Payments that this process has noted, so that a page that asks every few seconds asks the database once. */
const noted = new WeakMap<Database, Set<string>>();

/**
 * Has it noted that a payer's page, or whoever draws one, read a payment for the first time. Nothing waits for it; a note that is lost loses nothing but itself, and the next read
 * makes it.
 */
export function notePaymentOpened(deps: Pick<Deps, 'db' | 'log'>, paymentId: string): void {
  const known = noted.get(deps.db) ?? new Set();
  noted.set(deps.db, known);
  if (known.has(paymentId)) return;
  if (known.size >= POLICY.openedRemembered) known.clear();
  known.add(paymentId);
  noteOpened(deps.db, paymentId).catch((error: unknown) => {
    known.delete(paymentId);
    deps.log.debug({ error, payment: paymentId }, 'the opening of a payment was not noted');
  });
}
