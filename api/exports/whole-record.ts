import type { Deps } from '#api/deps.ts';
import { listWholeChain } from '#api/store/console-actions.ts';
import { AUDIT_COLUMNS, auditRow } from './audit-rows.ts';
import { csvHead, csvLine, jsonLine } from './csv.ts';

/** A file that is written while it is read, so that nobody knows its length before. */
export interface WrittenFile {
  name: string;
  type: string;
  lines(): AsyncIterable<string>;
}

const ROWS_AT_ONCE = 500;

/** Everything that people did at this deployment, oldest first, as it stood when the file was begun: rows are never changed, and later ones come behind the last. */
export function wholeRecord({ db }: Pick<Deps, 'db'>, format: 'csv' | 'jsonl'): WrittenFile {
  const line = format === 'csv' ? csvLine : jsonLine;
  return {
    name: `acts.${format}`,
    type: format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/jsonl; charset=utf-8',
    async *lines() {
      if (format === 'csv') yield csvHead(AUDIT_COLUMNS);
      for (let after = 0, more = true; more; ) {
        const rows = await listWholeChain(db.sql, { after, limit: ROWS_AT_ONCE });
        yield rows.map((row) => line(AUDIT_COLUMNS, auditRow(row))).join('');
        after = rows.at(-1)?.seq ?? after;
        more = rows.length === ROWS_AT_ONCE;
      }
    },
  };
}
