import { groupBy } from '#shared/core/group-by.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Payment } from './payments.ts';
import { isOneOf } from './is-one-of.ts';

/** Keeps documents of a payment or a cashout as they were sent, beside what jsonb makes of them; those that are null are left out. */
export async function insertSent(tx: Tx, owner: string, documents: Readonly<Record<string, SentJson | null>>): Promise<void> {
  const rows = Object.entries(documents).flatMap(([field, sent]) => (sent === null ? [] : [{ owner, field, document: sent.text }]));
  if (rows.length > 0) await tx`insert into sent_json ${tx(rows)}`;
}

/** The same payments with what their merchants stored with them as it was sent (contract 4.1); locks nothing. */
export async function withParams(sql: Reads, payments: readonly Payment[]): Promise<Payment[]> {
  const having = payments.filter(hasParams);
  if (having.length === 0) return [...payments];
  const kept = groupBy(
    await listSent(
      sql,
      having.map(({ id }) => id),
    ),
    ({ owner }) => owner,
  );
  return payments.map((payment) => asSent(payment, kept.get(payment.id) ?? []));
}

/** Whether a merchant stored anything with a payment. Pure. */
export function hasParams(payment: Payment): boolean {
  return payment.callbackParams !== null || payment.webhookParams !== null;
}

/** The same payment with its documents as they were sent, where they were kept. Pure. */
export function asSent(payment: Payment, documents: readonly SentDocument[]): Payment {
  const kept = Object.fromEntries(documents.map(({ field, document }) => [field, new SentJson(document)]));
  return { ...payment, callbackParams: kept.callbackParams ?? payment.callbackParams, webhookParams: kept.webhookParams ?? payment.webhookParams };
}

/** A document as it was sent, and whose it is. */
export interface SentDocument {
  owner: string;
  field: string;
  document: string;
}

/** The documents kept of these payments or cashouts; locks nothing. */
export async function listSent(sql: Reads, owners: readonly string[]): Promise<SentDocument[]> {
  return sql<SentDocument[]>`select owner, field, document from sent_json where owner ${isOneOf(sql, owners)}`;
}

/** The text of the metadata of the cashout `s` as it was sent, as a column of a statement about settlements. */
export function sentMetadata(sql: Reads) {
  return sql`case when s.metadata is not null
    then coalesce((select j.document from sent_json j where j.owner = s.id and j.field = 'metadata'), s.metadata::text) end`;
}
