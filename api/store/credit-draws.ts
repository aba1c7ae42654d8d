import { Invariant } from '#shared/core/errors.ts';
import { type Coins, amount, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/**
 * Draws `total` from a pool's matured credits, first matured first, and records which ones a cashout took (decisions 10).
 * The caller holds the pool's ledger account, which is what keeps two claims apart; the drawn credits are locked in draw order.
 * @throws Invariant when the credits do not hold what the account says they do
 */
export async function drawCredits(
  tx: Tx,
  draw: { settlementId: string; gatewayId: string; assetId: string; pool: 'green' | 'held'; total: Coins },
): Promise<void> {
  let missing: bigint = draw.total;
  while (missing > 0n) {
    const rows = await tx<{ id: string; remaining: string }[]>`
      select id, remaining from credits
      where gateway_id = ${draw.gatewayId} and asset_id = ${draw.assetId} and pool = ${draw.pool} and matured_at is not null and remaining > 0
      order by matured_at, id limit 200 for update`;
    if (rows.length === 0) throw new Invariant(`credits of gateway ${draw.gatewayId} hold ${formatAmount(missing)} less than their account`);
    for (const row of rows) {
      if (missing === 0n) break;
      const remaining: bigint = parseTrusted(row.remaining);
      const taken = remaining < missing ? remaining : missing;
      missing -= taken;
      await tx`update credits set remaining = remaining - ${formatAmount(taken)}::text::numeric where id = ${row.id}`;
      await tx`
        insert into credit_draws (settlement_id, credit_id, amount, state)
        values (${draw.settlementId}, ${row.id}, ${formatAmount(amount<'asset'>(taken))}::text::numeric, 'reserved')`;
    }
  }
}

/** Marks the credits a cashout was paid from as spent, when it settles; the caller holds the settlement's lock. */
export async function spendDraws(tx: Tx, settlementId: string): Promise<void> {
  await tx`update credit_draws set state = 'spent' where settlement_id = ${settlementId} and state = 'reserved'`;
}
