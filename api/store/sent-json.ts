import { SentJson } from '#shared/core/sent-json.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Payment } from './payments.ts';

/** Keeps documents of a payment or a cashout as they were sent, beside what jsonb makes of them; those that are null are left out. */
export async function insertSent(tx: Tx, owner: string, documents: Readonly<Record<string, SentJson | null>>): Promise<void> {
  const rows = Object.entries(documents).flatMap(([field, sent]) => (sent === null ? [] : [{ owner, field, document: sent.text }]));
  if (rows.length > 0) await tx`insert into sent_json ${tx(rows)}`;
}

/** The same payments with what their merchants stored with them as it was sent (contract 4.1); locks nothing. */
export async function withParams(sql: Reads, payments: readonly Payment[]): Promise<Payment[]> {
  const having = payments.filter((payment) => payment.callbackParams !== null || payment.webhookParams !== null);
  if (having.length === 0) return [...payments];
  const rows = await sql<{ owner: string; field: string; document: string }[]>`
    select owner, field, document from sent_json where owner = any(${having.map((payment) => payment.id)}::uuid[])`;
  const kept = new Map(rows.map(({ owner, field, document }) => [`${owner} ${field}`, new SentJson(document)]));
  return payments.map((payment) => ({
    ...payment,
    callbackParams: kept.get(`${payment.id} callbackParams`) ?? payment.callbackParams,
    webhookParams: kept.get(`${payment.id} webhookParams`) ?? payment.webhookParams,
  }));
}

/** The text of the metadata of the cashout `s` as it was sent, as a column of a statement about settlements. */
export function sentMetadata(sql: Reads) {
  return sql`case when s.metadata is not null
    then coalesce((select j.document from sent_json j where j.owner = s.id and j.field = 'metadata'), s.metadata::text) end`;
}
