import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What an answer to a challenge may be used for. */
export type ChallengePurpose = 'sign-in' | 'invitation' | 'passkey' | 'act';

export interface NewPasskey {
  /** Credential id, base64url. */
  id: string;
  /** COSE key, base64url. */
  publicKey: string;
  counter: number;
  transports: string[];
}

export interface StoredPasskey extends NewPasskey {
  personId: string;
}

/** Rows of old challenges that one new one takes along. */
const SWEPT = 100;

/** Keeps a challenge for so many seconds, and forgets some that are too old: what strangers ask for does not pile up. */
export async function insertChallenge(sql: Reads, challenge: { hash: string; purpose: ChallengePurpose; subject: string; seconds: number }): Promise<void> {
  await sql`
    with swept as (delete from passkey_challenges where hash in (
      select hash from passkey_challenges where expires_at < sluice_now() order by expires_at limit ${SWEPT}))
    insert into passkey_challenges (hash, purpose, subject, expires_at)
    values (${challenge.hash}, ${challenge.purpose}, ${challenge.subject}, sluice_now() + make_interval(secs => ${challenge.seconds}))`;
}

/** Takes a challenge out; false when there is none for this purpose and subject any more. Of two at once one is told true. */
export async function takeChallenge(sql: Reads, challenge: { hash: string; purpose: ChallengePurpose; subject: string }): Promise<boolean> {
  const rows = await sql`
    delete from passkey_challenges where hash = ${challenge.hash} and purpose = ${challenge.purpose} and subject = ${challenge.subject} and expires_at > sluice_now()
    returning hash`;
  return rows.length === 1;
}

/** Adds a person's passkey; false when somebody has it already. */
export async function insertPasskey(tx: Tx, personId: string, { id, publicKey, counter, transports }: NewPasskey): Promise<boolean> {
  const rows = await tx`
    insert into passkeys (id, person_id, public_key, counter, transports) values (${id}, ${personId}, ${publicKey}, ${counter}, ${transports})
    on conflict do nothing returning id`;
  return rows.length === 1;
}

/** Reads one that works. Locks nothing. */
export async function findPasskey(sql: Reads, id: string): Promise<StoredPasskey | undefined> {
  const [row] = await sql<StoredPasskey[]>`select id, person_id, public_key, counter, transports from passkeys where id = ${id} and removed_at is null`;
  return row;
}

/** A person's passkeys that work, oldest first. Locks nothing. */
export async function listPasskeys(sql: Reads, personId: string): Promise<{ id: string; transports: string[]; createdAt: Date; usedAt: Date | null }[]> {
  return sql<{ id: string; transports: string[]; createdAt: Date; usedAt: Date | null }[]>`
    select id, transports, created_at, used_at from passkeys where person_id = ${personId} and removed_at is null order by created_at, id limit 100`;
}

/** Notes a sign-in, and how often the authenticator has signed; false when it was removed meanwhile. */
export async function notePasskeyUse(tx: Tx, id: string, counter: number): Promise<boolean> {
  const rows = await tx`update passkeys set used_at = sluice_now(), counter = ${counter} where id = ${id} and removed_at is null returning id`;
  return rows.length === 1;
}

/** Locks the passkeys of a person that work, and answers their ids. */
export async function lockPasskeys(tx: Tx, personId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from passkeys where person_id = ${personId} and removed_at is null order by id for update`;
  return rows.map(({ id }) => id);
}

/** Ends one passkey of a person, or, where none is named, all that there are once it is this one's turn. */
export async function removePasskeys(tx: Tx, personId: string, id?: string): Promise<void> {
  await tx`update passkeys set removed_at = sluice_now() where person_id = ${personId} and removed_at is null and (${id ?? null}::text is null or id = ${id ?? null})`;
}
