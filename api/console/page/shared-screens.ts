import type { components } from '#api/contract/types.ts';

type Schemas = components['schemas'];

/** What a payment of the sandbox can play. */
export type Scenario = 'success' | 'acceptable' | 'underpaid' | 'overpaid' | 'wrong_asset' | 'seen_then_confirmed' | 'late_capture' | 'expired';

/** What a merchant stored with something, as it was sent: `value` is JSON. */
export interface Echoed {
  kind: 'callback' | 'webhook' | 'metadata';
  name: string;
  value: string;
}

/** A page of a list. */
export interface ListScreen<Item> {
  items: Item[];
  /** How many there are on all pages, as far as they were counted; null where nobody counts. */
  total: number | null;
  /** Whether there may be more than that. */
  atLeast: boolean;
  /** Cursor of the page behind this one. */
  next: string | null;
  /** What was asked for, by the names of the query. */
  filter: Readonly<Record<string, string>>;
  /** Whether it is not the first page. */
  later: boolean;
}

/** A payment, as its merchant sees it and operators do. */
export interface PaymentScreen {
  kind: 'payment';
  record: Schemas['PaymentRecord'];
  explanation: Pick<Schemas['PaymentExplanation'], 'steps'>;
  echoed: Echoed[];
  /** What it can still play, where it is of the sandbox. */
  scenarios: readonly Scenario[];
}
