import type { Reads } from '#shared/platform/postgres.ts';

/**
 * Coins of an asset that cashouts of the green pool have claimed and nothing that is sent pays yet, decimal text: whatever they wait
 * for, they are not to wait for these. One whose payout a block holds counts until it is final, as a fork may take it back. Locks nothing.
 */
export async function sumClaimed(sql: Reads, assetId: string): Promise<string> {
  const [row] = await sql<{ claimed: string }[]>`
    select coalesce(sum(s.amount), 0)::text as claimed from settlements s
    where s.asset_id = ${assetId} and s.pool = 'green' and s.status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING') and not exists (
      select 1 from payouts p where p.settlement_id = s.id and p.purpose = 'settlement' and p.plan ? 'rawFee'
        and p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING'))`;
  return row?.claimed ?? '0';
}

/** Whether a move of an asset to cold storage failed for good less than `seconds` ago, with none that arrived since. Locks nothing. */
export async function hasFailedMove(sql: Reads, assetId: string, seconds: number): Promise<boolean> {
  const [last] = await sql<{ failed: boolean }[]>`
    select status = 'FAILED' and final_at > sluice_now() - make_interval(secs => ${seconds}) as failed from payouts
    where asset_id = ${assetId} and purpose = 'cold' and status in ('FAILED', 'CONFIRMED') order by final_at desc limit 1`;
  return last?.failed === true;
}
