import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Somebody as a provider knows them. */
export interface Identity {
  issuer: string;
  subject: string;
}

/** Advisory locks of identities that sign in. */
const LOCK_CLASS = 7_582_010;
/** Rows of old sign-ins that one new one takes along. */
const SWEPT = 100;

/** Keeps a sign-in that a provider is asked for, and forgets some that are too old: what strangers ask for does not pile up. */
export async function insertProviderSignIn(
  sql: Reads,
  asked: { stateHash: string; browserHash: string; sessionId: string | null; seconds: number },
): Promise<void> {
  await sql`
    with swept as (delete from provider_sign_ins where state_hash in (
      select state_hash from provider_sign_ins where expires_at < sluice_now() order by expires_at limit ${SWEPT}))
    insert into provider_sign_ins (state_hash, browser_hash, session_id, expires_at)
    values (${asked.stateHash}, ${asked.browserHash}, ${asked.sessionId}, sluice_now() + make_interval(secs => ${asked.seconds}))`;
}

/** Takes a sign-in out; undefined when this browser did not ask for it, or it was answered or is too old. Of two at once one is told it. */
export async function takeProviderSignIn(sql: Reads, stateHash: string, browserHash: string): Promise<{ sessionId: string | null } | undefined> {
  const [row] = await sql<{ sessionId: string | null }[]>`
    delete from provider_sign_ins where state_hash = ${stateHash} and browser_hash = ${browserHash} and expires_at > sluice_now() returning session_id`;
  return row;
}

/** Whose identity it is, noting that it was used; those who come with the same one come one after the other. */
export async function lockIdentity(tx: Tx, { issuer, subject }: Identity): Promise<string | undefined> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${`${issuer} ${subject}`}))`;
  const [row] = await tx<{ personId: string }[]>`
    update identities set used_at = sluice_now() where issuer = ${issuer} and subject = ${subject} returning person_id`;
  return row?.personId;
}

/** Makes an identity a person's; the caller found that it is nobody's. */
export async function insertIdentity(tx: Tx, { issuer, subject }: Identity, personId: string): Promise<void> {
  await tx`insert into identities (issuer, subject, person_id) values (${issuer}, ${subject}, ${personId})`;
}

/** Takes from a person what a provider signs in; answers how many there were. */
export async function removeIdentities(tx: Tx, personId: string): Promise<number> {
  return (await tx`delete from identities where person_id = ${personId} returning 1`).length;
}

/** Since when a provider signs a person in; null where none does. Locks nothing. */
export async function showIdentity(sql: Reads, personId: string): Promise<Date | null> {
  const [row] = await sql<[{ since: Date | null }]>`select min(created_at) as since from identities where person_id = ${personId}`;
  return row.since;
}

/** Whether a person has any way to sign in of their own. Locks nothing. */
export async function hasWayIn(sql: Reads, personId: string): Promise<boolean> {
  const [row] = await sql<[{ has: boolean }]>`
    select exists (select 1 from passkeys where person_id = ${personId} and removed_at is null)
      or exists (select 1 from authenticators where person_id = ${personId} and ended_at is null and confirmed_at is not null)
      or exists (select 1 from identities where person_id = ${personId}) as has`;
  return row.has;
}
