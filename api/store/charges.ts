import { Invariant } from '#shared/core/errors.ts';
import { type Coins, formatAmount, type Usd } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { drawMatured } from './credit-draws.ts';

/** What a cashout's destination cost beyond what was locked, charged to the gateway. */
export interface Charge {
  id: string;
  gatewayId: string;
  settlementId: string;
  payoutId: string;
  /** `units`: more gas or energy than quoted; `failed`: mined, and moved nothing. */
  cause: 'units' | 'failed';
  assetId: string;
  amount: Coins;
  /** Native units it stands for. */
  rawNative: bigint;
  assetPriceUsd: Usd | null;
  nativePriceUsd: Usd | null;
}

/** Records a charge; false when the payout was charged before. */
export async function insertCharge(tx: Tx, c: Charge): Promise<boolean> {
  const usd = (price: Usd | null): string | null => (price === null ? null : formatAmount(price));
  const rows = await tx`
    insert into charges (id, gateway_id, settlement_id, payout_id, cause, asset_id, amount, raw_native, asset_price_usd, native_price_usd)
    values (${c.id}, ${c.gatewayId}, ${c.settlementId}, ${c.payoutId}, ${c.cause}, ${c.assetId}, ${formatAmount(c.amount)}::text::numeric,
      ${c.rawNative.toString()}::text::numeric, ${usd(c.assetPriceUsd)}::text::numeric, ${usd(c.nativePriceUsd)}::text::numeric)
    on conflict (payout_id) do nothing returning id`;
  return rows.length === 1;
}

/**
 * Takes `total` from a pool's matured credits for what the gateway is charged, first matured first. The caller holds the pool's ledger
 * account; the drawn credits are locked in draw order.
 * @throws Invariant when the credits do not hold what the account says they do
 */
export async function drawForCharges(tx: Tx, draw: { gatewayId: string; assetId: string; pool: Pool; total: Coins }): Promise<void> {
  const { draws, missing } = await drawMatured(tx, draw);
  if (missing > 0n) throw new Invariant(`credits of gateway ${draw.gatewayId} hold ${formatAmount(missing)} less than their account`);
  await tx`
    insert into charge_draws (gateway_id, asset_id, credit_id, pool, amount)
    select ${draw.gatewayId}, ${draw.assetId}, drawn.id, ${draw.pool}, drawn.amount
    from unnest(${draws.map(({ id }) => id)}::uuid[], ${draws.map(({ taken }) => formatAmount(taken))}::numeric[]) as drawn (id, amount)`;
}

/** A charge as the operator sees it. */
export interface ListedCharge {
  id: string;
  gatewayId: string;
  settlementId: string;
  payoutId: string;
  cause: Charge['cause'];
  network: string;
  assetSymbol: string;
  amount: string;
  nativeAsset: string;
  nativeAmount: string;
  at: Date;
}

/** The charges of one cashout, or of a gateway in a month (its first day), the earliest first, a thousand at most. Locks nothing. */
export async function listCharges(sql: Reads, of: { settlementId: string } | { gatewayId: string; month: string }): Promise<ListedCharge[]> {
  const wanted =
    'settlementId' in of
      ? sql`c.settlement_id = ${of.settlementId}`
      : sql`c.gateway_id = ${of.gatewayId} and c.at >= ${of.month}::date::timestamp at time zone 'UTC'
          and c.at < (${of.month}::date + interval '1 month') at time zone 'UTC'`;
  return sql<ListedCharge[]>`
    select c.id, c.gateway_id as "gatewayId", c.settlement_id as "settlementId", c.payout_id as "payoutId", c.cause, n.name as network, a.symbol as "assetSymbol",
      trim_scale(c.amount)::text as amount, x.symbol as "nativeAsset", trim_scale(c.raw_native * ('1e-' || x.decimals)::numeric)::text as "nativeAmount", c.at
    from charges c join assets a on a.id = c.asset_id join networks n on n.id = a.network_id join assets x on x.network_id = n.id and x.contract is null
    where ${wanted} order by c.at, c.id limit 1000`;
}
