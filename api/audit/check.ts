import { type PricePolicy, pricePolicy } from '#api/clients/prices.ts';
import type { Deps } from '#api/deps.ts';
import type { Changed } from '#api/store/audit-marks.ts';

/** Most rows a check answers with: enough to see what is wrong, never a flood. */
export const LIMIT = 'limit 100';

/** What a deployment is like, as far as checks ask by it. */
export interface AuditPolicy extends PricePolicy {
  /** Ids of the networks that it follows: of another one nothing is booked any more. All there are when absent. */
  networkIds?: readonly string[];
}

/** What of it the configuration says. */
export function auditPolicy({ config, chains }: Pick<Deps, 'config' | 'chains'>): AuditPolicy {
  return { ...pricePolicy(config), networkIds: [...chains.values()].map(({ id }) => id) };
}

/** One question to the books whose answer must be "nothing". */
export interface Check {
  /** As reliability 5 numbers them. */
  name: string;
  title: string;
  /** A single select, so that it sees one snapshot; where it asks about prices or networks, by those that count in this deployment. */
  query: string | ((policy: AuditPolicy) => string);
  /**
   * The same question about what changed alone (decision 0054): it finds whatever a change of those rows made `query` find. Absent where `query` reads no more of a
   * longer history.
   */
  ofChanged?: (changed: Changed) => string;
  /** True where `ofChanged` also asks about few rows that no change is written down of, so that it is asked whatever changed. */
  asksMore?: true;
  /** True where nothing that moves money reads what it asks about: what it finds is told of, and stops nothing (decision 0055). */
  onlyInforms?: true;
  /** True where work in progress may look like a violation for a moment: then only one that lasts counts. */
  mayPass: boolean;
}

type Ids = Exclude<keyof Changed, 'since'>;

/** By which column of a table its rows are known to have changed. */
const KEYS: Readonly<Record<string, Ids>> = {
  'payments.id': 'payments',
  'credits.payment_id': 'payments',
  'deposits.payment_id': 'payments',
  'webhook_events.payment_id': 'payments',
  'aml_refunds.payment_id': 'payments',
  'settlements.id': 'settlements',
  'settlement_fees.settlement_id': 'settlements',
  'accruals.settlement_id': 'settlements',
  'accruals.id': 'accruals',
  'payouts.id': 'payouts',
  'sightings.id': 'sightings',
  'ledger_entries.transaction_id': 'ledger',
  'ledger_accounts.id': 'accounts',
};

/** The rows of a table that are asked about: `of('credits', 'payment_id')` stands where the table's name would. */
export type RowsOf = ((table: string, column: string) => string) & {
  /** The same as a condition, where rows are grouped by their table's key: `of.only('s.id', 'settlements')`. */
  only(column: string, ids: Ids): string;
  /** What changed; null when everything is asked about. */
  changed: Changed | null;
};

const everything: RowsOf = Object.assign((table: string) => table, { only: () => 'true', changed: null });

function changedOf(changed: Changed): RowsOf {
  return Object.assign(
    (table: string, column: string) => {
      const ids = KEYS[`${table}.${column}`];
      if (ids === undefined) throw new Error(`the audit does not know what changed of ${table} by ${column}`);
      return `(select * from ${table} where ${column} in (${listed(changed, ids)}))`;
    },
    { only: (column: string, ids: Ids) => `${column} in (${listed(changed, ids)})`, changed },
  );
}

const NUMBERS: readonly Ids[] = ['sightings', 'ledger', 'accounts'];

/** Ids as a select of SQL. They came from columns of these types, so nothing in them needs quoting. */
export function listed(changed: Changed, ids: Ids): string {
  return `select unnest('{${changed[ids].join(',')}}'::${NUMBERS.includes(ids) ? 'bigint' : 'uuid'}[])`;
}

/** Both forms of a question from one text, so that they cannot come to ask for different things. */
export function asked(ask: (of: RowsOf) => string): Required<Pick<Check, 'ofChanged'>> & { query: string } {
  return { query: ask(everything), ofChanged: (changed) => ask(changedOf(changed)) };
}

/** Whether a check has to be asked about what changed: one that reads nothing but empty lists finds nothing. One that reads from where on things changed is asked. */
export function isAbout(changed: Changed, { ofChanged, asksMore }: Check): boolean {
  if (ofChanged === undefined || asksMore) return true;
  const read: boolean[] = [];
  ofChanged(
    new Proxy(changed, {
      get(all, key: keyof Changed) {
        read.push(typeof all[key] === 'string' || all[key].length > 0);
        return all[key];
      },
    }),
  );
  return read.includes(true);
}
