import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** The latest known price of an asset and when it was taken. */
export interface KnownPrice {
  usd: Usd;
  at: Date;
}

/** What a settled cashout locked for the network and what it really cost. */
export interface SettlementFee {
  settlementId: string;
  nativeAssetId: string;
  /** Units of the asset paid out. */
  locked: Coins;
  /** Native units. */
  actual: Coins;
  /** Null where none was ever known. */
  assetPrice: KnownPrice | null;
  nativePrice: KnownPrice | null;
}

/** Records the fee of a cashout that settles in the same transaction. */
export async function insertSettlementFee(tx: Tx, fee: SettlementFee): Promise<void> {
  const usd = (price: KnownPrice | null): string | null => (price === null ? null : formatAmount(price.usd));
  await tx`
    insert into settlement_fees (settlement_id, native_asset_id, locked, actual, asset_price_usd, asset_price_at, native_price_usd, native_price_at)
    values (${fee.settlementId}, ${fee.nativeAssetId}, ${formatAmount(fee.locked)}::text::numeric, ${formatAmount(fee.actual)}::text::numeric,
      ${usd(fee.assetPrice)}::text::numeric, ${fee.assetPrice?.at ?? null}, ${usd(fee.nativePrice)}::text::numeric, ${fee.nativePrice?.at ?? null})`;
}

/** Who pays the network for a cashout, and what the transactions that carried it out cost, failed families included, native units; locks nothing. */
export async function readPayoutCost(sql: Reads, settlementId: string): Promise<{ payer: 'MERCHANT' | 'PLATFORM'; raw: bigint } | undefined> {
  const [row] = await sql<{ payer: 'MERCHANT' | 'PLATFORM'; raw: string }[]>`
    select s.fee_payer as payer, (select coalesce(sum(p.raw_fee), 0) from payouts p where p.settlement_id = s.id and p.purpose = 'settlement')::text as raw
    from settlements s where s.id = ${settlementId}`;
  return row && { payer: row.payer, raw: BigInt(row.raw) };
}

/** A settled cashout's fee with the assets it is in. */
export interface SettlementFeeDetail extends Omit<SettlementFee, 'settlementId' | 'nativeAssetId'> {
  payer: 'MERCHANT' | 'PLATFORM';
  assetSymbol: string;
  native: boolean;
  nativeSymbol: string;
  nativeDecimals: number;
  settledAt: Date;
}

/** Reads what a settled cashout cost; undefined before it is settled. Locks nothing. */
export async function findSettlementFee(sql: Reads, settlementId: string): Promise<SettlementFeeDetail | undefined> {
  const [row] = await sql<FeeRow[]>`
    select s.fee_payer as payer, a.symbol as "assetSymbol", a.contract is null as native, n.symbol as "nativeSymbol", n.decimals as "nativeDecimals",
      f.locked, f.actual, f.asset_price_usd as "assetUsd", f.asset_price_at as "assetAt", f.native_price_usd as "nativeUsd", f.native_price_at as "nativeAt",
      f.at as "settledAt"
    from settlement_fees f join settlements s on s.id = f.settlement_id join assets a on a.id = s.asset_id join assets n on n.id = f.native_asset_id
    where f.settlement_id = ${settlementId}`;
  if (row === undefined) return undefined;
  const { assetUsd, assetAt, nativeUsd, nativeAt, ...rest } = row;
  return {
    ...rest,
    locked: parseTrusted(row.locked),
    actual: parseTrusted(row.actual),
    assetPrice: assetUsd === null || assetAt === null ? null : { usd: parseTrusted(assetUsd), at: assetAt },
    nativePrice: nativeUsd === null || nativeAt === null ? null : { usd: parseTrusted(nativeUsd), at: nativeAt },
  };
}

interface FeeRow extends Omit<SettlementFeeDetail, 'locked' | 'actual' | 'assetPrice' | 'nativePrice'> {
  locked: string;
  actual: string;
  assetUsd: string | null;
  assetAt: Date | null;
  nativeUsd: string | null;
  nativeAt: Date | null;
}

/** What the network quoted for a cashout when it claimed. */
export interface SettlementQuote {
  /** The most it was to cost, native units. */
  rawFee: bigint;
  /** Gas or energy it was to take; absent where the destination has no say in it. */
  units?: bigint;
}

/** Notes the quote of a cashout that claims in the same transaction. */
export async function insertSettlementQuote(tx: Tx, settlementId: string, quote: SettlementQuote): Promise<void> {
  await tx`
    insert into settlement_quotes (settlement_id, raw_fee, units)
    values (${settlementId}, ${quote.rawFee.toString()}::text::numeric, ${quote.units?.toString() ?? null}::text::numeric)`;
}

/** Reads it; undefined for a cashout that the platform pays for, and for those that claimed before quotes were noted. Locks nothing. */
export async function findSettlementQuote(sql: Reads, settlementId: string): Promise<SettlementQuote | undefined> {
  const [row] = await sql<{ rawFee: string; units: string | null }[]>`
    select raw_fee::text, units::text from settlement_quotes where settlement_id = ${settlementId}`;
  return row && { rawFee: BigInt(row.rawFee), ...(row.units !== null && { units: BigInt(row.units) }) };
}

/**
 * What cashouts of a network, planned or signed since `seconds` ago, may cost beyond what was locked for them, native units, by gateway.
 * `except` is left out. Locks nothing.
 */
export async function sumFeesBeyondLocked(
  sql: Reads,
  query: { networkId: string; seconds: number; except?: string | undefined },
): Promise<Map<string, bigint>> {
  const rows = await sql<{ gatewayId: string; beyond: string }[]>`
    select b.gateway_id, trunc(sum(b.beyond))::text as beyond from (
      select s.gateway_id, greatest(0, greatest((p.plan->>'rawFee')::numeric, (select max(t.fee_limit) from payout_attempts t where t.payout_id = p.id))
        - greatest(q.raw_fee, q.raw_fee * coalesce((p.plan->>'units')::numeric / nullif(q.units, 0), 1))) as beyond
      from payouts p join settlements s on s.id = p.settlement_id join settlement_quotes q on q.settlement_id = s.id
      where p.network_id = ${query.networkId} and p.purpose = 'settlement' and p.status <> 'CANCELLED'
        and p.created_at > sluice_now() - make_interval(secs => ${query.seconds}) and p.id is distinct from ${query.except ?? null}::uuid) b
    group by b.gateway_id`;
  return new Map(rows.map(({ gatewayId, beyond }) => [gatewayId, BigInt(beyond)]));
}
