import type { Reads, Tx } from '#shared/platform/postgres.ts';

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
    select raw_fee::text as "rawFee", units::text from settlement_quotes where settlement_id = ${settlementId}`;
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
    select b.gateway_id as "gatewayId", trunc(sum(b.beyond))::text as beyond from (
      select s.gateway_id, greatest(0, greatest((p.plan->>'rawFee')::numeric, (select max(t.fee_limit) from payout_attempts t where t.payout_id = p.id))
        - greatest(q.raw_fee, q.raw_fee * coalesce((p.plan->>'units')::numeric / nullif(q.units, 0), 1))) as beyond
      from payouts p join settlements s on s.id = p.settlement_id join settlement_quotes q on q.settlement_id = s.id
      where p.network_id = ${query.networkId} and p.purpose = 'settlement' and p.status <> 'CANCELLED'
        and p.created_at > sluice_now() - make_interval(secs => ${query.seconds}) and p.id is distinct from ${query.except ?? null}::uuid) b
    group by b.gateway_id`;
  return new Map(rows.map(({ gatewayId, beyond }) => [gatewayId, BigInt(beyond)]));
}
