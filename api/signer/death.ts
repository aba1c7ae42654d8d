import type { JournalEntry } from './journal-entry.ts';

/** Kind of the statement by which two people say that bytes of one slot will never pay; its subject is what `deathSubject` answers. */
export const DEATH = 'death' as const;

/** What such a statement is about: one slot on one network. */
export function deathSubject({ network, slot }: Pick<JournalEntry, 'network' | 'slot'>): string {
  return `${network} ${slot}`;
}
