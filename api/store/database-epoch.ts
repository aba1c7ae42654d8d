import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** False once the database goes on from another history than the one dispatch trusts: after a restore or a failover. Locks nothing. */
export async function isTrustedEpoch(sql: Reads): Promise<boolean> {
  const rows = await sql`
    select 1 from database_epochs e, pg_control_system() c
    where e.system_identifier = c.system_identifier::text and e.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;
  return rows.length === 1;
}

/** Notes that a history is not the trusted one, once per history; answers since when that is known, service time. Locks the row. */
export async function noteEpoch(tx: Tx): Promise<Date> {
  const [row] = await tx<{ noticedAt: Date }[]>`
    update database_epochs e set noticed = c.now, noticed_at = case when e.noticed is not distinct from c.now then e.noticed_at else sluice_now() end
    from (select system_identifier::text || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as now from pg_control_system()) c
    returning e.noticed_at as "noticedAt"`;
  return (row as { noticedAt: Date }).noticedAt;
}

/** Trusts the present history from now on. Locks the row. */
export async function trustEpoch(tx: Tx): Promise<void> {
  await tx`
    update database_epochs set system_identifier = c.system_identifier::text, timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    from pg_control_system() c`;
}

/** True when each of these networks has an indexer that was at the head of its chain no earlier than `since`, and all it published is applied. Locks nothing. */
export async function areFollowed(sql: Reads, networkIds: readonly string[], since: Date): Promise<boolean> {
  const rows = await sql`
    select 1 from indexer_leases l join chain_tips t on t.network_id = l.network_id
    where l.network_id = any(${[...networkIds]}::uuid[]) and l.expires_at > now() and l.caught_up_at >= ${since} and t.height >= l.published_height`;
  return rows.length === networkIds.length;
}
