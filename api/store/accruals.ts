import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Fees of one credit that the platform bears (decisions 11). */
export interface Accrual {
  creditId: string;
  gatewayId: string;
  paymentId: string;
  assetId: string;
  /** Network fee and commission together. */
  coins: Coins;
  /** The price that judged the deposit. */
  priceUsd: Usd;
  /** `coins` at that price. */
  usd: Usd;
}

/** Records what the platform bears of a credit that was just inserted, to be billed by the arrangement its payment was created under. */
export async function insertAccrual(tx: Tx, accrual: Accrual): Promise<void> {
  await tx`
    insert into accruals (credit_id, gateway_id, payment_id, asset_id, coins, price_usd, usd, billing)
    select ${accrual.creditId}, ${accrual.gatewayId}, p.id, ${accrual.assetId}, ${formatAmount(accrual.coins)}::text::numeric,
      ${formatAmount(accrual.priceUsd)}::text::numeric, ${formatAmount(accrual.usd)}::text::numeric, case p.billing when 'PLATFORM' then 'PLATFORM' else 'MONTHLY' end
    from payments p where p.id = ${accrual.paymentId}`;
}

/** What the transactions of a cashout cost the platform, in the native asset of its network. */
export interface CashoutAccrual {
  settlementId: string;
  gatewayId: string;
  /** The native asset. */
  assetId: string;
  coins: Coins;
  priceUsd: Usd;
  /** When that price was taken. */
  priceAt: Date;
  usd: Usd;
}

/** Records what a cashout cost the platform; once, however often it is asked for: false when it is recorded already. */
export async function insertCashoutAccrual(tx: Tx, accrual: CashoutAccrual): Promise<boolean> {
  const rows = await tx`
    insert into accruals (settlement_id, gateway_id, asset_id, coins, price_usd, price_at, usd)
    values (${accrual.settlementId}, ${accrual.gatewayId}, ${accrual.assetId}, ${formatAmount(accrual.coins)}::text::numeric,
      ${formatAmount(accrual.priceUsd)}::text::numeric, ${accrual.priceAt}, ${formatAmount(accrual.usd)}::text::numeric)
    on conflict (settlement_id) do nothing returning id`;
  return rows.length === 1;
}

/**
 * Takes back `coins` of what a credit accrued, at the price it was accrued at, because its fees were given back; a line of
 * its own, below zero, on the next invoice. False, with nothing written, when the credit accrued nothing or was reversed.
 */
export async function reverseAccrual(tx: Tx, { creditId, coins }: { creditId: string; coins: Coins }): Promise<boolean> {
  const rows = await tx`
    insert into accruals (reverses, gateway_id, payment_id, asset_id, coins, price_usd, usd, billing)
    select r.id, r.gateway_id, r.payment_id, r.asset_id, -${formatAmount(coins)}::text::numeric, r.price_usd,
      round(-${formatAmount(coins)}::text::numeric * r.price_usd, 18), r.billing
    from accruals r where r.credit_id = ${creditId} and ${formatAmount(coins)}::text::numeric > 0
    on conflict (reverses) do nothing returning id`;
  return rows.length === 1;
}

/** A settled cashout that the platform pays for and that is not accrued, because no price was ever known. */
export interface UnpricedCashout {
  settlementId: string;
  gatewayId: string;
  nativeAssetId: string;
  nativeSymbol: string;
  actual: Coins;
}

/** Lists settled cashouts that wait for their accrual, the oldest first; locks nothing. */
export async function listUnpricedCashouts(sql: Reads): Promise<UnpricedCashout[]> {
  const rows = await sql<(Omit<UnpricedCashout, 'actual'> & { actual: string })[]>`
    select f.settlement_id as "settlementId", s.gateway_id as "gatewayId", n.id as "nativeAssetId", n.symbol as "nativeSymbol", f.actual
    from settlement_fees f join settlements s on s.id = f.settlement_id join assets n on n.id = f.native_asset_id
    where s.fee_payer = 'PLATFORM' and f.actual > 0 and not exists (select 1 from accruals r where r.settlement_id = s.id)
    order by f.at, f.settlement_id limit 500`;
  return rows.map((row) => ({ ...row, actual: parseTrusted(row.actual) }));
}
