import { type Command, type Options, textOption, UsageError } from './command.ts';
import { type Cell, table } from './format.ts';

type OptionList = NonNullable<Command['options']>;

/** Options of every list that can be gone through; what they take is in the operator's contract. */
const WALK_OPTIONS: OptionList = {
  q: { type: 'string', help: 'only what is known by exactly this: an id, an order, a transaction, an address' },
  from: { type: 'string', help: 'only of this moment or later, such as 2026-11-21T00:00:00Z' },
  to: { type: 'string', help: 'only from before this moment' },
  sort: { type: 'string', help: 'newest or oldest first' },
  after: { type: 'string', help: 'go on behind a page: the cursor it ended with' },
};

/** The same for lists of what chains know. */
const CHAIN_OPTIONS: OptionList = {
  tx: { type: 'string', help: 'only what is known by this transaction' },
  address: { type: 'string', help: 'only what is known by this address' },
};

const NAMES = { gateway: 'gatewayId', payment: 'paymentId', tx: 'txHash' } as Readonly<Record<string, string>>;

/** What a list answers, as far as going on needs it. */
interface ListPage<Row> {
  items: Row[];
  pagination?: { nextCursor?: string | null };
}

interface List<Row> {
  name: string;
  summary: string;
  /** Where the operator API has it. */
  path: string;
  /** What this list alone may be narrowed by. */
  narrowing?: OptionList;
  /** Whether it tells of what chains know. */
  ofChains?: boolean;
  /** How many rows are asked for where nobody says; the API's own number when missing. */
  limit?: number;
  columns: readonly string[];
  row(one: Row): readonly Cell[];
  /** What is said where there are no rows. */
  none?: string;
}

/** A command that shows a page of a list of the operator API as a table, and how to go on behind it. */
export function listCommand<Row>({ name, summary, path, narrowing = {}, ofChains = false, limit, columns, row, none = 'none' }: List<Row>): Command {
  const options: OptionList = {
    ...narrowing,
    ...(ofChains && CHAIN_OPTIONS),
    ...WALK_OPTIONS,
    limit: { type: 'string', help: `how many, 100 at most (${limit ?? 20})` },
  };
  return {
    name,
    args: '',
    summary,
    options,
    arity: [0, 0],
    async run(context, _args, given) {
      const query = queryOf({ ...(limit !== undefined && { limit: String(limit) }), ...given }, Object.keys(options));
      const { operator } = await context();
      const page = (await operator.must('GET', query === '' ? path : `${path}?${query}`)) as unknown as ListPage<Row>;
      const text = page.items.length === 0 ? none : table(columns, page.items.map(row));
      return { data: page.items, text: pageText(text, page) };
    },
  };
}

/** The query that options of a list stand for. @throws UsageError for a limit that is no number */
function queryOf(options: Options, names: readonly string[]): string {
  if (!/^\d{1,3}$/.test(textOption(options, 'limit') ?? '20')) throw new UsageError('--limit must be a number');
  const query = new URLSearchParams();
  for (const name of names) {
    const value = textOption(options, name);
    if (value !== undefined) query.set(NAMES[name] ?? name, value);
  }
  return query.toString();
}

/** The table of a page, and how to go on behind it. */
function pageText(rows: string, { pagination }: ListPage<unknown>): string {
  const next = pagination?.nextCursor;
  return next === undefined || next === null ? rows : `${rows}\n\nmore: --after ${next}`;
}
