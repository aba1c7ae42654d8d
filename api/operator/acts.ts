import type { Act } from './act.ts';
import { acceptHeaderField } from './accept-header-field.ts';
import { declareDead } from './declare-dead.ts';
import { rejectProposed } from './reject-settlement.ts';
import { refundProposed } from './resolve-aml.ts';
import { sealSignerJournal } from './signer-journal.ts';
import { payWithheld } from './withheld.ts';

/** Every act that takes two people, by the name its proposals carry. */
export const ACTS: Readonly<Record<string, Act>> = {
  'death.declare': declareDead,
  'header-field.accept': acceptHeaderField,
  'payment.refund': refundProposed,
  'settlement.reject': rejectProposed,
  'signer.journal': sealSignerJournal,
  'withheld.pay': payWithheld,
};
