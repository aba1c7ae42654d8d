import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What a stored secret is for. */
export type SecretKind = 'webhook' | 'cashout' | 'totp';

/** A secret as stored: readable only with the master key, and only under its own row id. */
export interface SealedSecret {
  id: string;
  sealed: Uint8Array;
}

/** The secrets of one kind that still count, the current one first, then those in their rotation overlap; locks nothing. */
export async function usableSecrets(sql: Reads, gatewayId: string, kind: SecretKind): Promise<SealedSecret[]> {
  return sql<SealedSecret[]>`
    select id, sealed from gateway_secrets
    where gateway_id = ${gatewayId} and kind = ${kind} and (expires_at is null or expires_at > sluice_now())
    order by expires_at desc nulls first, created_at desc`;
}

/** Adds a sealed secret, which becomes the current one of its kind; locks nothing else. */
export async function insertSecret(tx: Tx, secret: SealedSecret & { sealedUnder: string; gatewayId: string; kind: SecretKind }): Promise<void> {
  await tx`
    insert into gateway_secrets (id, gateway_id, kind, sealed, sealed_under)
    values (${secret.id}, ${secret.gatewayId}, ${secret.kind}, ${Buffer.from(secret.sealed)}, ${secret.sealedUnder})`;
}

/**
 * Ends every secret of one kind `overlapSeconds` from now, or earlier where it already ends earlier; locks those rows.
 * An overlap of 0 ends all of them at once, earlier overlaps included.
 */
export async function retireSecrets(tx: Tx, gatewayId: string, kind: SecretKind, overlapSeconds: number): Promise<void> {
  await tx`
    update gateway_secrets set expires_at = least(coalesce(expires_at, 'infinity'), sluice_now() + make_interval(secs => ${overlapSeconds}))
    where gateway_id = ${gatewayId} and kind = ${kind}`;
}

/** Some secrets that are not known to be under another master key than `previous`, in id order from the one after `after`; locks them, but waits for none. */
export async function lockSecretsUnder(tx: Tx, previous: string | null, after: string, limit: number): Promise<SealedSecret[]> {
  return tx<SealedSecret[]>`
    select id, sealed from gateway_secrets where (sealed_under is null or sealed_under = ${previous}) and id > ${after}
    order by id limit ${limit} for update skip locked`;
}

/** Stores a secret sealed anew, or, without `sealed`, only which key it is under. */
export async function reseal(tx: Tx, id: string, sealedUnder: string, sealed?: Uint8Array): Promise<void> {
  await tx`
    update gateway_secrets set sealed_under = ${sealedUnder}, sealed = coalesce(${sealed === undefined ? null : Buffer.from(sealed)}::bytea, sealed) where id = ${id}`;
}

/** How many secrets are under each master key, by its id; null for those nobody looked at yet. Locks nothing. */
export async function countSecretsByKey(sql: Reads): Promise<{ key: string | null; count: number }[]> {
  return sql<{ key: string | null; count: number }[]>`select sealed_under as key, count(*)::int as count from gateway_secrets group by sealed_under`;
}
