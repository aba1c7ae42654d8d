import type { Reads } from '#shared/platform/postgres.ts';

export interface PaymentEventRow {
  event: string;
  fromStatus: string | null;
  toStatus: string;
  /** What the guards saw, and for a deposit the figures of its judgement. */
  facts: Record<string, unknown>;
  actor: string;
  at: Date;
}

/** A payment's history, oldest first; locks nothing. */
export async function listPaymentEvents(sql: Reads, paymentId: string): Promise<PaymentEventRow[]> {
  return sql<PaymentEventRow[]>`
    select event, from_status as "fromStatus", to_status as "toStatus", facts, actor, at from payment_events where payment_id = ${paymentId} order by id`;
}
