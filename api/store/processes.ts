import type { Reads } from '#shared/platform/postgres.ts';

/** Whether somebody is in charge of a network now, by the leases in Postgres: whoever died holds none. */
export interface Attendance {
  network: string;
  /** An indexer holds the lease of its stream. */
  indexer: boolean;
  /** A worker holds the lease of applying it. */
  consumer: boolean;
}

/** Lists every network with who attends to it, by name; locks nothing. */
export async function listAttendance(sql: Reads): Promise<Attendance[]> {
  return sql<Attendance[]>`
    select n.name as network, coalesce(l.expires_at > clock_timestamp(), false) as indexer, coalesce(c.expires_at > clock_timestamp(), false) as consumer
    from networks n left join indexer_leases l on l.network_id = n.id left join consumer_leases c on c.network_id = n.id order by n.name`;
}

/** The processes of one name that are connected to this database, and with which login. */
export interface Connected {
  /** As the process calls itself. */
  name: string;
  login: string;
}

/** Lists what is connected to this database by name and login; any login may ask. A host that vanished is gone within half a minute. Locks nothing. */
export async function listConnected(sql: Reads): Promise<Connected[]> {
  return sql<Connected[]>`
    select distinct application_name as name, usename::text as login from pg_stat_activity
    where datname = current_database() and usename is not null and application_name like 'sluice-%' order by 1, 2`;
}

/** Lists every network with who holds the lease of its stream now, by name; null while nobody does. Locks nothing. */
export async function listIndexers(sql: Reads): Promise<{ network: string; holder: string | null }[]> {
  return sql<{ network: string; holder: string | null }[]>`
    select n.name as network, case when l.expires_at > clock_timestamp() then l.holder end as holder
    from networks n left join indexer_leases l on l.network_id = n.id order by n.name`;
}

/** Seconds of service time since a signer last said anything; null while none ever did. Locks nothing. */
export async function readSignerSilence(sql: Reads): Promise<number | null> {
  const [row] = await sql<{ seconds: number }[]>`select extract(epoch from sluice_now() - reported_at)::float8 as seconds from signer_reports`;
  return row === undefined ? null : Math.max(0, row.seconds);
}

/** Connections to the whole server, whoever's they are, and how many logins without privilege may have. Any login may ask; locks nothing. */
export async function readConnections(sql: Reads): Promise<{ used: number; limit: number }> {
  const [row] = await sql<[{ used: number; limit: number }]>`
    select (select sum(numbackends) from pg_stat_database)::float8 as used,
      (select sum(case when name = 'max_connections' then setting::int else - setting::int end) from pg_settings
        where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections'))::float8 as "limit"`;
  return row;
}

/** What somebody learns who looks whether the canary payment of this minute is to be made. */
export interface CanaryLook {
  /** Whether it is this caller's to make. */
  taken: boolean;
  /** When one last succeeded; null for never. */
  succeededAt: Date | null;
}

/**
 * Takes on the canary payment of this minute, unless somebody has taken one within so many `seconds`, by the wall clock. Locks its row for the statement where the last is older
 * than that.
 */
export async function takeCanary(sql: Reads, seconds: number): Promise<CanaryLook> {
  const [row] = await sql<[CanaryLook]>`
    with taken as (
      insert into canary as c (attempted_at)
      select now() where not exists (select 1 from canary where attempted_at > now() - make_interval(secs => ${seconds}))
      on conflict (singleton) do update set attempted_at = excluded.attempted_at where c.attempted_at <= now() - make_interval(secs => ${seconds})
      returning 1)
    select exists (select 1 from taken) as taken, (select succeeded_at from canary) as "succeededAt"`;
  return row;
}

/** Writes how the payment that this caller took went; `problem` is null when it succeeded. Answers when one last did. Locks its row for the statement. */
export async function recordCanary(sql: Reads, problem: string | null): Promise<Date | null> {
  const [row] = await sql<{ succeededAt: Date | null }[]>`
    update canary set problem = ${problem?.slice(0, 500) ?? null},
      succeeded_at = case when ${problem === null} then attempted_at else succeeded_at end returning succeeded_at`;
  return row?.succeededAt ?? null;
}

/** How canary payments went; undefined before the first was tried, and where there are none. */
export interface CanaryState {
  attemptedAt: Date;
  succeededAt: Date | null;
  problem: string | null;
}

/** Reads how canary payments went. Locks nothing. */
export async function readCanaryState(sql: Reads): Promise<CanaryState | undefined> {
  const [row] = await sql<CanaryState[]>`select attempted_at, succeeded_at, problem from canary`;
  return row;
}
