import { type Coins, formatAmount, type Usd } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';

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

/** Records what the platform bears of a credit that was just inserted. */
export async function insertAccrual(tx: Tx, accrual: Accrual): Promise<void> {
  await tx`
    insert into accruals (credit_id, gateway_id, payment_id, asset_id, coins, price_usd, usd)
    values (${accrual.creditId}, ${accrual.gatewayId}, ${accrual.paymentId}, ${accrual.assetId}, ${formatAmount(accrual.coins)}::text::numeric,
      ${formatAmount(accrual.priceUsd)}::text::numeric, ${formatAmount(accrual.usd)}::text::numeric)`;
}
