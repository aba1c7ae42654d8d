import { Invariant } from '#shared/core/errors.ts';
import { type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Taken } from '#state-machines/aml/shares.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { type Draw, drawInOrder } from '#state-machines/ledger/draw.ts';

/**
 * Draws `total` from a pool's matured credits, first matured first, and records which ones a cashout took (decisions 10).
 * The caller holds the pool's ledger account, which is what keeps two claims apart; the drawn credits are locked in draw order.
 * @throws Invariant when the credits do not hold what the account says they do
 */
export async function drawCredits(tx: Tx, draw: { settlementId: string; gatewayId: string; assetId: string; pool: Pool; total: Coins }): Promise<void> {
  const { draws, missing } = await drawMatured(tx, draw);
  if (missing > 0n) throw new Invariant(`credits of gateway ${draw.gatewayId} hold ${formatAmount(missing)} less than their account`);
  await tx`
    insert into credit_draws (settlement_id, credit_id, amount, state)
    select ${draw.settlementId}, drawn.id, drawn.amount, 'reserved'
    from unnest(${draws.map(({ id }) => id)}::uuid[], ${draws.map(({ taken }) => formatAmount(taken))}::numeric[]) as drawn (id, amount)`;
}

/**
 * Lowers what is left of a pool's matured credits by `total`, first matured first, and says by how much each. What they do not hold is
 * `missing`. The caller holds the pool's ledger account, and records what the coins were drawn for; the credits are locked in draw order.
 */
export async function drawMatured(tx: Tx, draw: { gatewayId: string; assetId: string; pool: Pool; total: Coins }): Promise<{ draws: Draw[]; missing: Coins }> {
  const draws: Draw[] = [];
  let missing = draw.total;
  while (missing > 0n) {
    const rows = await tx<{ id: string; remaining: string }[]>`
      select id, remaining from credits
      where gateway_id = ${draw.gatewayId} and asset_id = ${draw.assetId} and pool = ${draw.pool} and matured_at is not null and taken is null and remaining > 0
      order by matured_at, id limit 200 for update`;
    if (rows.length === 0) break;
    const taken = drawInOrder(
      rows.map(({ id, remaining }) => ({ id, remaining: parseTrusted<'asset'>(remaining) })),
      missing,
    );
    missing = taken.missing;
    draws.push(...taken.draws);
    const ids = taken.draws.map(({ id }) => id);
    const amounts = taken.draws.map((one) => formatAmount(one.taken));
    await tx`
      update credits c set remaining = c.remaining - drawn.amount
      from unnest(${ids}::uuid[], ${amounts}::numeric[]) as drawn (id, amount) where c.id = drawn.id`;
  }
  return { draws, missing };
}

/** Marks the credits a cashout was paid from as spent, when it settles; the caller holds the settlement's lock. */
export async function spendDraws(tx: Tx, settlementId: string): Promise<void> {
  await tx`update credit_draws set state = 'spent' where settlement_id = ${settlementId} and state = 'reserved'`;
}

/** What a cashout reserves of one credit, with where that credit is by now. */
export interface ReservedDraw {
  pool: Pool;
  taken: Taken | null;
  amount: Coins;
}

/**
 * Gives back what a cashout reserves of its credits, and answers it by the state each credit is in. The caller holds the
 * settlement's lock and the ledger accounts that may get it back; locks the credits, in id order.
 */
export async function releaseDraws(tx: Tx, settlementId: string): Promise<ReservedDraw[]> {
  const rows = await tx<{ id: string; pool: Pool; taken: Taken | null; amount: string }[]>`
    select c.id, c.pool, c.taken, w.amount from credit_draws w join credits c on c.id = w.credit_id
    where w.settlement_id = ${settlementId} and w.state = 'reserved' order by c.id for update of c`;
  await tx`
    update credits c set remaining = c.remaining + w.amount from credit_draws w
    where w.credit_id = c.id and w.settlement_id = ${settlementId} and w.state = 'reserved'`;
  await tx`update credit_draws set state = 'released' where settlement_id = ${settlementId} and state = 'reserved'`;
  return rows.map((row) => ({ pool: row.pool, taken: row.taken, amount: parseTrusted(row.amount) }));
}

/** Ids of the held payments that a cashout has drawn from, in id order; locks nothing. */
export async function listHeldPaymentsOfDraws(sql: Reads, settlementId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct p.id from credit_draws w join credits c on c.id = w.credit_id join payments p on p.id = c.payment_id
    where w.settlement_id = ${settlementId} and p.aml_state = 'HELD' order by p.id`;
  return rows.map((row) => row.id);
}
