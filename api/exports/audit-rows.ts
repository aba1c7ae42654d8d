import type { WholeAction } from '#api/store/console-actions.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import type { ExportRow } from './csv.ts';

/** What a row of the record of acts has in a file; `content` is the text that its hash is over (decision 0063). */
export const AUDIT_COLUMNS = [
  'seq',
  'at',
  'actorKind',
  'actor',
  'personId',
  'gatewayId',
  'act',
  'target',
  'before',
  'after',
  'reason',
  'address',
  'previous',
  'hash',
  'content',
];

/** A row of the record of acts as a file has it. Pure. */
export function auditRow({ at, before, after, ...row }: WholeAction): ExportRow {
  return { ...row, at: at.toISOString(), before: before === null ? null : SentJson.of(before), after: after === null ? null : SentJson.of(after) };
}
