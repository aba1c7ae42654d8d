import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** A browser that is signed in. */
export interface Session {
  id: string;
  personId: string;
  email: string;
}

/** The same as its owner sees it. */
export interface ListedSession {
  id: string;
  address: string;
  browser: string;
  createdAt: Date;
  seenAt: Date;
}

/** Signs a browser in; of a person's sessions only the newest few stay. */
export async function insertSession(tx: Tx, session: { id: string; tokenHash: string; personId: string; address: string; browser: string }): Promise<void> {
  await tx`
    insert into sessions (id, token_hash, person_id, address, browser)
    values (${session.id}, ${session.tokenHash}, ${session.personId}, ${session.address}, ${session.browser})`;
  await tx`
    update sessions set ended_at = sluice_now() where ended_at is null and person_id = ${session.personId} and id in (
      select id from sessions where person_id = ${session.personId} and ended_at is null order by created_at desc, id desc offset ${POLICY.sessionsPerPerson})`;
}

/** Whose browser it is, unless its session has ended; by the unique index on the hash. Locks nothing. */
export async function findSession(sql: Reads, tokenHash: string): Promise<(Session & { stale: boolean }) | undefined> {
  const [row] = await sql<(Session & { stale: boolean })[]>`
    select s.id, s.person_id, p.email, s.seen_at < sluice_now() - interval '1 minute' as stale from sessions s join people p on p.id = s.person_id
    where s.token_hash = ${tokenHash} and ${live(sql)}`;
  return row;
}

/** Whether a session still lives, for whoever waited for a lock since it was found. Locks nothing. */
export async function sessionLives(sql: Reads, id: string): Promise<boolean> {
  return (await sql`select 1 from sessions s where s.id = ${id} and ${live(sql)}`).length === 1;
}

/** Those of these sessions that still live; looking at one does not make it last. Locks nothing. */
export async function listLiveSessions(sql: Reads, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select s.id from sessions s where s.id = any(${ids}::uuid[]) and ${live(sql)}`;
  return rows.map(({ id }) => id);
}

/** Notes that a session was used. */
export async function touchSession(sql: Reads, id: string): Promise<void> {
  await sql`update sessions set seen_at = sluice_now() where id = ${id} and ended_at is null`;
}

/** A person's sessions, newest first; there are few. Locks nothing. */
export async function listSessions(sql: Reads, personId: string): Promise<ListedSession[]> {
  return sql<ListedSession[]>`
    select s.id, s.address, s.browser, s.created_at, s.seen_at from sessions s where s.person_id = ${personId} and ${live(sql)}
    order by s.created_at desc, s.id desc limit ${POLICY.sessionsPerPerson}`;
}

/** Ends one session of a person, or all of them where none is named; answers how many. */
export async function endSessions(sql: Reads, personId: string, id?: string): Promise<number> {
  const rows = await sql`
    update sessions set ended_at = sluice_now() where person_id = ${personId} and ended_at is null and (${id ?? null}::uuid is null or id = ${id ?? null}) returning id`;
  return rows.length;
}

function live(sql: Reads) {
  return sql`s.ended_at is null and s.seen_at > sluice_now() - make_interval(secs => ${POLICY.sessionIdleSeconds})
    and s.created_at > sluice_now() - make_interval(secs => ${POLICY.sessionSeconds})`;
}
