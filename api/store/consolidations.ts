import type { Reads } from '#shared/platform/postgres.ts';

/** Native units that transactions joining outputs may cost, of those made on a network since `seconds` ago and not given up unsigned. Locks nothing. */
export async function sumConsolidationFees(sql: Reads, { networkId, seconds }: { networkId: string; seconds: number }): Promise<bigint> {
  const [row] = await sql<{ rawFee: string }[]>`
    select coalesce(sum(greatest(coalesce((p.plan->>'rawFee')::numeric, 0), coalesce((select max(t.fee_limit) from payout_attempts t where t.payout_id = p.id), 0))), 0)::text as "rawFee"
    from payouts p
    where p.network_id = ${networkId} and p.purpose = 'consolidation' and p.status <> 'CANCELLED' and p.created_at > sluice_now() - make_interval(secs => ${seconds})`;
  return BigInt(row?.rawFee ?? 0);
}

/** Native units that joining the outputs of one wallet has cost so far, final or not: so much its pool may lack for no other reason. Locks nothing. */
export async function sumConsolidationCosts(sql: Reads, walletId: string): Promise<bigint> {
  const [row] = await sql<{ rawFee: string }[]>`
    select coalesce(sum(coalesce(p.raw_fee, (p.plan->>'rawFee')::numeric, 0)), 0)::text as "rawFee"
    from payouts p where p.wallet_id = ${walletId} and p.purpose = 'consolidation' and p.status <> 'CANCELLED'`;
  return BigInt(row?.rawFee ?? 0);
}
