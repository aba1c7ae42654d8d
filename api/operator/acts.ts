import type { Act } from './act.ts';
import { sealSignerJournal } from './signer-journal.ts';
import { payWithheld } from './withheld.ts';

/** Every act that takes two people, by the name its proposals carry. */
export const ACTS: Readonly<Record<string, Act>> = { 'withheld.pay': payWithheld, 'signer.journal': sealSignerJournal };
