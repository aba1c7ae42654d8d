import type { IdempotencyScope } from '#api/store/idempotency.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** Everything that is asked about one history, and rows of it to ask about. */
export interface Subject {
  database: Database;
  url: string;
  gatewayId: string;
  networks: Record<'ethereum' | 'tron' | 'bitcoin', string>;
  usdt: string;
  paymentId: string;
  settlementId: string;
  creditId: string;
  txid: string;
  address: string;
  height: number;
  /** Keys of payments of the whole history, as far apart from each other as can be, and as many as are asked about together at most. */
  kept: (IdempotencyScope & { paymentId: string })[];
}
