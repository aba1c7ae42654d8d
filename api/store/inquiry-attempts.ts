import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** How many inquiry attempts a payment has used; locks nothing. */
export async function readInquiryAttempts(reads: Reads, paymentId: string): Promise<number> {
  const [row] = await reads<{ used: number }[]>`select inquiry_attempts as used from payments where id = ${paymentId}`;
  return row?.used ?? 0;
}

/** Uses one attempt; false when `limit` are used already, however many ask at once. Locks the payment until commit. */
export async function useInquiryAttempt(tx: Tx, paymentId: string, limit: number): Promise<boolean> {
  const rows = await tx`update payments set inquiry_attempts = inquiry_attempts + 1 where id = ${paymentId} and inquiry_attempts < ${limit} returning 1`;
  return rows.length === 1;
}
