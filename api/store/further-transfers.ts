import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Allows one more transfer after this one, which failed; false when that was allowed before. */
export async function allowFurther(tx: Tx, allowed: { payoutId: string; reason: string; person: string }): Promise<boolean> {
  const rows = await tx`
    insert into further_transfers (payout_id, reason, person) values (${allowed.payoutId}, ${allowed.reason}, ${allowed.person})
    on conflict (payout_id) do nothing returning 1`;
  return rows.length === 1;
}

/** Whether an operator allows one more transfer after this one. Locks nothing. */
export async function isFurtherAllowed(sql: Reads, payoutId: string): Promise<boolean> {
  return (await sql`select 1 from further_transfers where payout_id = ${payoutId}`).length === 1;
}
