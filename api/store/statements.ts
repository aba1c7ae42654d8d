import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Statement } from '#shared/platform/statements.ts';

/** Keeps a statement, in the transaction of what it is about; locks nothing. */
export async function insertStatement(tx: Tx, { kind, subject, text, publicKey, signature }: Statement): Promise<void> {
  await tx`insert into statements (kind, subject, said, public_key, signature) values (${kind}, ${subject}, ${text}, ${publicKey}, ${Buffer.from(signature)})`;
}

/** Statements of one kind about one thing, oldest first; who reads them proves that they are genuine. */
export async function listStatements(sql: Reads, { kind, subject }: Pick<Statement, 'kind' | 'subject'>): Promise<Statement[]> {
  return sql<Statement[]>`
    select kind, subject, said as text, public_key as "publicKey", signature from statements where subject = ${subject} and kind = ${kind} order by id`;
}
