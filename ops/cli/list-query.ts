import { type Command, type Options, textOption } from './command.ts';

type OptionList = NonNullable<Command['options']>;

/** Options of every list that can be gone through; what they take is in the operator's contract. */
export const WALK_OPTIONS: OptionList = {
  q: { type: 'string', help: 'only what is known by exactly this: an id, an order, a transaction, an address' },
  from: { type: 'string', help: 'only of this moment or later, such as 2026-11-21T00:00:00Z' },
  to: { type: 'string', help: 'only from before this moment' },
  sort: { type: 'string', help: 'newest or oldest first' },
  after: { type: 'string', help: 'go on behind a page: the cursor it ended with' },
};

/** The same for lists of what chains know. */
export const CHAIN_OPTIONS: OptionList = {
  tx: { type: 'string', help: 'only what is known by this transaction' },
  address: { type: 'string', help: 'only what is known by this address' },
};

const NAMES = { gateway: 'gatewayId', payment: 'paymentId', tx: 'txHash' } as Readonly<Record<string, string>>;

/** The query that options of a list stand for. */
export function listQuery(options: Options, names: readonly string[]): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = textOption(options, name);
    if (value !== undefined) query.set(NAMES[name] ?? name, value);
  }
  return query.toString();
}

/** What a list answers, as far as going on needs it. */
export interface ListPage<T> {
  items: T[];
  pagination?: { nextCursor?: string | null };
}

/** The table of a page, and how to go on behind it. */
export function pageText(table: string, { pagination }: ListPage<unknown>): string {
  const next = pagination?.nextCursor;
  return next === undefined || next === null ? table : `${table}\n\nmore: --after ${next}`;
}
