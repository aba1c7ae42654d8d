import { Invariant } from '#shared/core/errors.ts';
import { type Coins, formatAmount, type Usd, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { drawMatured } from './credits.ts';

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
    select c.id, c.gateway_id, c.settlement_id, c.payout_id, c.cause, n.name as network, a.symbol as "assetSymbol",
      trim_scale(c.amount)::text as amount, x.symbol as "nativeAsset", trim_scale(c.raw_native * ('1e-' || x.decimals)::numeric)::text as "nativeAmount", c.at
    from charges c join assets a on a.id = c.asset_id join networks n on n.id = a.network_id join assets x on x.network_id = n.id and x.contract is null
    where ${wanted} order by c.at, c.id limit 1000`;
}

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

/**
 * Lists settled cashouts that wait for their accrual and can have it, the oldest first: those without a price take no place of others. One of the source `except` is
 * none. Locks nothing.
 */
export async function listUnpricedCashouts(sql: Reads, { except }: { except: string | null }): Promise<UnpricedCashout[]> {
  const rows = await sql<(Omit<UnpricedCashout, 'actual'> & { actual: string })[]>`${unpricedCashouts(sql, except)} order by f.at, f.settlement_id limit 500`;
  return rows.map((row) => ({ ...row, actual: parseTrusted(row.actual) }));
}

/** Whether there are any; a condition. */
export function isAnyCashoutUnpriced(sql: Reads, { except }: { except: string | null }): ReturnType<Reads> {
  return sql`exists (${unpricedCashouts(sql, except)})`;
}

function unpricedCashouts(sql: Reads, except: string | null): ReturnType<Reads> {
  return sql`
    select f.settlement_id, s.gateway_id, n.id as "nativeAssetId", n.symbol as "nativeSymbol", f.actual
    from settlement_fees f join settlements s on s.id = f.settlement_id join assets n on n.id = f.native_asset_id
    where f.native_price_usd is null and s.fee_payer = 'PLATFORM' and f.actual > 0 and not exists (select 1 from accruals r where r.settlement_id = s.id)
      and exists (select 1 from prices p where p.symbol = n.symbol and p.source is distinct from ${except})`;
}
