import type { Reads } from '#shared/platform/postgres.ts';

/** Notes that a gateway used a signature; false when it did so in the last `seconds` of wall time already. One statement, so that of two at once one is told. */
export async function noteSignature(sql: Reads, used: { gatewayId: string; signature: Uint8Array; seconds: number }): Promise<boolean> {
  const rows = await sql`
    insert into used_signatures as u (gateway_id, signature) values (${used.gatewayId}, ${Buffer.from(used.signature)})
    on conflict (gateway_id, signature) do update set used_at = excluded.used_at
      where u.used_at <= clock_timestamp() - make_interval(secs => ${used.seconds})
    returning 1`;
  return rows.length === 1;
}

/** Forgets signatures used longer than `seconds` of wall time ago, at most `limit` of them; returns how many. */
export async function deleteOldSignatures(sql: Reads, { seconds, limit }: { seconds: number; limit: number }): Promise<number> {
  const rows = await sql`
    delete from used_signatures where (gateway_id, signature) in (
      select gateway_id, signature from used_signatures where used_at < clock_timestamp() - make_interval(secs => ${seconds}) limit ${limit})
    returning 1`;
  return rows.length;
}
