import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { PooledCredit, Taken } from '#state-machines/aml/shares.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import type { Screening } from './credits.ts';

/** One credit of a payment with everything that decides what may become of it. */
export interface PaymentCredit extends PooledCredit {
  id: string;
  gatewayId: string;
  networkId: string;
  screening: Screening;
  commission: Coins;
  /** What cashouts reserve of it, and what those that settled, and charges, took. */
  reserved: Coins;
  spent: Coins;
}

type Row = Omit<PaymentCredit, 'net' | 'remaining' | 'commission' | 'reserved' | 'spent'> &
  Record<'net' | 'remaining' | 'commission' | 'reserved' | 'spent', string>;

/** Locks the credits of a payment that are still maturing, in id order, so that none of them matures until commit. */
export async function lockMaturingCredits(tx: Tx, paymentId: string): Promise<void> {
  await tx`select 1 from credits where payment_id = ${paymentId} and matured_at is null order by id for update`;
}

/** Locks every credit of a payment, in id order; a caller who is to change one holds the ledger accounts of its pools already. */
export async function lockCredits(tx: Tx, paymentId: string): Promise<void> {
  await tx`select 1 from credits where payment_id = ${paymentId} order by id for update`;
}

/** Reads every credit of a payment, in id order; locks nothing. */
export async function listPaymentCredits(sql: Reads, paymentId: string): Promise<PaymentCredit[]> {
  const rows = await sql<Row[]>`
    select c.id, c.gateway_id as "gatewayId", c.asset_id as "assetId", c.network_id as "networkId", c.pool, c.taken, c.screening, c.matured_at is not null as matured,
      c.net, c.remaining, c.commission,
      coalesce((select sum(w.amount) from credit_draws w where w.credit_id = c.id and w.state = 'reserved'), 0) as reserved,
      coalesce((select sum(w.amount) from credit_draws w where w.credit_id = c.id and w.state = 'spent'), 0)
        + coalesce((select sum(x.amount) from charge_draws x where x.credit_id = c.id), 0) as spent
    from credits c where c.payment_id = ${paymentId} order by c.id`;
  return rows.map((row) => ({
    ...row,
    net: parseTrusted(row.net),
    remaining: parseTrusted(row.remaining),
    commission: parseTrusted(row.commission),
    reserved: parseTrusted(row.reserved),
    spent: parseTrusted(row.spent),
  }));
}

/** Puts locked credits into another pool. */
export async function setPool(tx: Tx, ids: readonly string[], pool: Pool): Promise<void> {
  await tx`update credits set pool = ${pool} where id = any(${[...ids]}::uuid[])`;
}

/** Takes locked credits of the held pool out of it, or, with null, puts them back; what is refunded has nothing left. */
export async function setTaken(tx: Tx, ids: readonly string[], taken: Taken | null): Promise<void> {
  await tx`update credits set taken = ${taken}, remaining = case when ${taken}::text = 'refunded' then 0 else remaining end where id = any(${[...ids]}::uuid[])`;
}

/** Writes the verdict about a locked credit. */
export async function setVerdict(tx: Tx, id: string, verdict: { screening: 'clean' | 'flagged'; score: number }): Promise<void> {
  await tx`update credits set screening = ${verdict.screening}, screening_score = ${verdict.score} where id = ${id}`;
}
