import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { SealedPlace } from '#shared/platform/sealed-secrets.ts';
import type { SealedSecret } from './gateways.ts';

/** An authenticator with what is needed to try a code. */
export interface Authenticator extends SealedSecret {
  lastStep: number;
  /** Wall time of the database, whole Unix seconds. */
  unixSeconds: number;
}

/** Locks what counts a person's wrong codes until commit, so that codes are tried one at a time; answers for how many seconds of service time none is looked at. */
export async function lockCodeGuard(tx: Tx, personId: string): Promise<number> {
  await tx`insert into code_guards (person_id) values (${personId}) on conflict do nothing`;
  const [row] = await tx<[{ lockedSeconds: number }]>`
    select coalesce(greatest(ceil(extract(epoch from locked_until - sluice_now())), 0), 0)::int as locked_seconds
    from code_guards where person_id = ${personId} for update`;
  return row.lockedSeconds;
}

/** Reads a person's authenticator, the one that counts or the one that still waits for its first code, and locks it until commit. The caller holds the guard. */
export async function lockAuthenticator(tx: Tx, personId: string, which: 'counts' | 'waits'): Promise<Authenticator | undefined> {
  const [row] = await tx<Authenticator[]>`
    select id, sealed, last_step, floor(extract(epoch from clock_timestamp()))::bigint as unix_seconds
    from authenticators where person_id = ${personId} and ended_at is null and ${which === 'waits' ? waiting(tx) : tx`confirmed_at is not null`} for update`;
  return row;
}

/** Made, not started yet, and not too old to be: somebody who sets one up does it at once. */
function waiting(sql: Reads) {
  return sql`confirmed_at is null and created_at > sluice_now() - make_interval(secs => ${POLICY.authenticatorStartSeconds})`;
}

/** Adds one that waits for its first code, in place of any other that waits. */
export async function insertAuthenticator(tx: Tx, one: { id: string; personId: string; sealed: Uint8Array; sealedUnder: string }): Promise<void> {
  await tx`update authenticators set ended_at = sluice_now() where person_id = ${one.personId} and ended_at is null and confirmed_at is null`;
  await tx`
    insert into authenticators (id, person_id, sealed, sealed_under) values (${one.id}, ${one.personId}, ${Buffer.from(one.sealed)}, ${one.sealedUnder})`;
}

/** Makes one count, in place of the one that did, with these codes on paper. */
export async function confirmAuthenticator(tx: Tx, personId: string, { id, codeHashes }: { id: string; codeHashes: readonly string[] }): Promise<void> {
  await tx`update authenticators set ended_at = sluice_now() where person_id = ${personId} and ended_at is null and confirmed_at is not null`;
  await tx`update authenticators set confirmed_at = sluice_now() where id = ${id}`;
  await tx`insert into recovery_codes (authenticator_id, code_hash) select ${id}, unnest(${[...codeHashes]}::text[])`;
}

/** Notes a code that counted; the caller holds the authenticator. */
export async function noteCode(tx: Tx, id: string, step: number): Promise<void> {
  await tx`update authenticators set last_step = ${step} where id = ${id}`;
}

/** Forgets a person's wrong codes after a right one; the caller holds the guard. */
export async function forgetWrongCodes(tx: Tx, personId: string): Promise<void> {
  await tx`update code_guards set failures = 0, locked_until = null where person_id = ${personId}`;
}

/** Counts one more wrong code, and from the `limit`-th on looks at none for so many seconds of service time; the caller holds the guard, and no lock is on. */
export async function countWrongCode(tx: Tx, personId: string, { limit, seconds }: { limit: number; seconds: number }): Promise<void> {
  await tx`
    update code_guards set failures = case when locked_until is null then failures + 1 else 1 end,
      locked_until = case when locked_until is null and failures + 1 >= ${limit} then sluice_now() + make_interval(secs => ${seconds}) end
    where person_id = ${personId}`;
}

/** Uses up a code on paper; false when there is none of it, or it was used. Of two at once one is told true. */
export async function takeRecoveryCode(tx: Tx, authenticatorId: string, hash: string): Promise<boolean> {
  const rows = await tx`
    update recovery_codes set used_at = sluice_now() where authenticator_id = ${authenticatorId} and code_hash = ${hash} and used_at is null returning 1`;
  return rows.length === 1;
}

/** Ends every authenticator of a person; answers how many. */
export async function endAuthenticators(tx: Tx, personId: string): Promise<number> {
  const rows = await tx`update authenticators set ended_at = sluice_now() where person_id = ${personId} and ended_at is null returning id`;
  return rows.length;
}

/** What a person sees of theirs: since when one counts, how many codes on paper are left, and whether one waits for its first code. Locks nothing. */
export async function showAuthenticator(sql: Reads, personId: string): Promise<{ since: Date | null; codesLeft: number; waits: boolean }> {
  const [row] = await sql<[{ since: Date | null; codesLeft: number; waits: boolean }]>`
    select max(confirmed_at) as since, coalesce(bool_or(${waiting(sql)}), false) as waits, (
      select count(*)::int from recovery_codes c join authenticators b on b.id = c.authenticator_id
      where b.person_id = ${personId} and b.ended_at is null and b.confirmed_at is not null and c.used_at is null) as codes_left
    from authenticators where person_id = ${personId} and ended_at is null`;
  return row;
}

/** Rows of old links that one new one takes along. */
const SWEPT = 100;
/** Advisory locks of whoever is mailed a link, by person. */
const LOCK_CLASS = 7_582_008;

/**
 * Keeps a link for whoever has this address and an authenticator that counts, and forgets some that are long too old; false when there is nobody, and when as many as may
 * be were mailed in the time that one works. Those who ask for the same person come one after the other.
 */
export async function insertSignInLink(tx: Tx, link: { email: string; tokenHash: string; seconds: number; most: number }): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${link.email}))`;
  const rows = await tx`
    with swept as (delete from sign_in_links where token_hash in (
      select token_hash from sign_in_links where expires_at < sluice_now() - interval '1 day' order by expires_at limit ${SWEPT}))
    insert into sign_in_links (token_hash, person_id, expires_at)
    select ${link.tokenHash}, p.id, sluice_now() + make_interval(secs => ${link.seconds}) from people p where p.email = ${link.email}
      and exists (select 1 from authenticators a where a.person_id = p.id and a.ended_at is null and a.confirmed_at is not null)
      and (select count(*) from (
        select 1 from sign_in_links l where l.person_id = p.id and l.created_at > sluice_now() - make_interval(secs => ${link.seconds}) limit ${link.most}) recent) < ${link.most}
    returning 1`;
  return rows.length === 1;
}

/** Whose link it is, while it works; by the primary key. Locks nothing. */
export async function findSignInLink(sql: Reads, tokenHash: string): Promise<{ personId: string; email: string } | undefined> {
  const [row] = await sql<{ personId: string; email: string }[]>`
    select p.id as person_id, p.email from sign_in_links l join people p on p.id = l.person_id
    where l.token_hash = ${tokenHash} and l.ended_at is null and l.expires_at > sluice_now()`;
  return row;
}

/** Uses a link up; false when it does not work any more. Of two at once one is told true. */
export async function takeSignInLink(tx: Tx, tokenHash: string): Promise<boolean> {
  const rows = await tx`
    update sign_in_links set ended_at = sluice_now() where token_hash = ${tokenHash} and ended_at is null and expires_at > sluice_now() returning 1`;
  return rows.length === 1;
}

/** Locks seeds that need to be looked at under a new master key: those under the previous one, or under one nobody noted. */
export async function lockSeedsUnder(tx: Tx, previous: string | null, after: string, limit: number): Promise<SealedSecret[]> {
  return tx<SealedSecret[]>`
    select id, sealed from authenticators where (sealed_under is null or sealed_under = ${previous}) and id > ${after}
    order by id limit ${limit} for update skip locked`;
}

/** Stores a seed sealed anew, or, without `sealed`, only which key it is under. */
export async function resealSeed(tx: Tx, id: string, sealedUnder: string, sealed?: Uint8Array): Promise<void> {
  await tx`
    update authenticators set sealed_under = ${sealedUnder}, sealed = coalesce(${sealed === undefined ? null : Buffer.from(sealed)}::bytea, sealed) where id = ${id}`;
}

/** The place of a person's seed, which its ciphertext is bound to. */
export function seedPlace(rowId: string): SealedPlace {
  return { table: 'authenticators', column: 'sealed', rowId };
}
