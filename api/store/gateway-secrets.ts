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
export async function insertSecret(tx: Tx, secret: SealedSecret & { gatewayId: string; kind: SecretKind }): Promise<void> {
  await tx`
    insert into gateway_secrets (id, gateway_id, kind, sealed)
    values (${secret.id}, ${secret.gatewayId}, ${secret.kind}, ${Buffer.from(secret.sealed)})`;
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
