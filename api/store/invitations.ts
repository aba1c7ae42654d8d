import type { Tx } from '#shared/platform/postgres.ts';

/** What a link does: makes somebody a member, or gives a person a new way to sign in. */
export type Purpose = { recovers: null; gatewayId: string | null; role: string } | { recovers: string; gatewayId: null; role: null };

/** A link that works until it is used, replaced or too old. */
export interface NewInvitation {
  id: string;
  /** Hash of its token. */
  tokenHash: string;
  email: string;
  purpose: Purpose;
  /** How long it works. */
  seconds: number;
}

/** Adds one in place of any other for the same person and place, so that there is never more than one; answers the service time until which it works. */
export async function insertInvitation(tx: Tx, { id, tokenHash, email, purpose, seconds }: NewInvitation): Promise<Date> {
  await tx`
    update invitations set ended_at = sluice_now(), outcome = 'replaced'
    where email = ${email} and ended_at is null and gateway_id is not distinct from ${purpose.gatewayId} and recovers is not distinct from ${purpose.recovers}`;
  const [row] = await tx<[{ expiresAt: Date }]>`
    insert into invitations (id, token_hash, email, recovers, gateway_id, role, expires_at)
    values (${id}, ${tokenHash}, ${email}, ${purpose.recovers}, ${purpose.gatewayId}, ${purpose.role}, sluice_now() + make_interval(secs => ${seconds}))
    returning expires_at`;
  return row.expiresAt;
}

/** Ends the links of an address that still work, everywhere or at one place; answers how many. Locks them. */
export async function revokeInvitations(tx: Tx, email: string, where: 'everywhere' | { gatewayId: string | null }): Promise<number> {
  const all = where === 'everywhere';
  const rows = await tx`
    update invitations set ended_at = sluice_now(), outcome = 'revoked'
    where email = ${email} and ended_at is null and (${all} or (recovers is null and gateway_id is not distinct from ${all ? null : where.gatewayId}))
    returning id`;
  return rows.length;
}
