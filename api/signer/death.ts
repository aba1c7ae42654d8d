import type { JournalEntry } from './journal-entry.ts';

/** Kind of the statement by which two people declare that no bytes of a slot will ever pay. Its subject is `deathSubject`. */
export const DEATH = 'death' as const;

/** Subject of such a statement: one slot on one network. */
export function deathSubject({ network, slot }: Pick<JournalEntry, 'network' | 'slot'>): string {
  return `${network} ${slot}`;
}
