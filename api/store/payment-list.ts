import type { Reads } from '#shared/platform/postgres.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import { type Payment, paymentFromRow } from './payments.ts';

/** Which payments of a gateway a list holds. */
export interface PaymentFilter {
  gatewayId: string;
  status: PaymentStatus | null;
  /** Created at this moment or later. */
  createdFrom: Date | null;
  /** Created before this moment. */
  createdTo: Date | null;
}

/** A payment's place in its gateway's list; the time as text, because a Date would cut its microseconds. */
export interface PaymentPlace {
  id: string;
  createdAt: string;
}

export interface PaymentPage extends PaymentFilter {
  limit: number;
  offset: number;
  /** Place of the last payment already seen; null starts at `offset`. */
  after: PaymentPlace | null;
}

/** Finds the place of one of the gateway's own payments in its list; locks nothing. */
export async function findPaymentPlace(sql: Reads, gatewayId: string, id: string): Promise<PaymentPlace | undefined> {
  const [row] = await sql<PaymentPlace[]>`select id, created_at::text as "createdAt" from payments where id = ${id} and gateway_id = ${gatewayId}`;
  return row;
}

/** Lists a gateway's payments newest first, one more than `limit` so that the caller sees whether there are more; locks nothing. */
export async function listPaymentRows(sql: Reads, page: PaymentPage): Promise<Payment[]> {
  const behind = page.after === null ? sql`` : sql`and (created_at, id) < (${page.after.createdAt}::text::timestamptz, ${page.after.id}::uuid)`;
  const rows = await sql<Record<string, unknown>[]>`
    select * from payments where ${matching(sql, page)} ${behind}
    order by created_at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
  return rows.map(paymentFromRow);
}

/** Counts the payments a list holds on all its pages; locks nothing. */
export async function countPayments(sql: Reads, filter: PaymentFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from payments where ${matching(sql, filter)}`;
  return row?.total ?? 0;
}

// A condition that does not apply is left out rather than made true by a null, so that every combination finds its index.
function matching(sql: Reads, { gatewayId, status, createdFrom, createdTo }: PaymentFilter) {
  return sql`gateway_id = ${gatewayId}
    ${status === null ? sql`` : sql`and status = ${status}`}
    ${createdFrom === null ? sql`` : sql`and created_at >= ${createdFrom}`}
    ${createdTo === null ? sql`` : sql`and created_at < ${createdTo}`}`;
}
