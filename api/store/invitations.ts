import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What a link does: makes somebody a member, or gives a person a new way to sign in. */
export type Purpose = { recovers: null; gatewayId: string | null; role: string } | { recovers: string; gatewayId: null; role: null };

/** A link that works until it is used, replaced or too old. */
export interface NewInvitation {
  id: string;
  /** Hash of its token. */
  tokenHash: string;
  email: string;
  purpose: Purpose;
  /** Whose right to invite it rests on; null for a command's. */
  invitedBy: string | null;
  /** How long it works. */
  seconds: number;
}

/** Adds one in place of any other for the same person and place, so that there is never more than one; answers the service time until which it works. */
export async function insertInvitation(tx: Tx, { id, tokenHash, email, purpose, invitedBy, seconds }: NewInvitation): Promise<Date> {
  await tx`
    update invitations set ended_at = sluice_now(), outcome = 'replaced'
    where email = ${email} and ended_at is null and gateway_id is not distinct from ${purpose.gatewayId} and recovers is not distinct from ${purpose.recovers}`;
  const [row] = await tx<[{ expiresAt: Date }]>`
    insert into invitations (id, token_hash, email, recovers, gateway_id, role, invited_by, expires_at)
    values (${id}, ${tokenHash}, ${email}, ${purpose.recovers}, ${purpose.gatewayId}, ${purpose.role}, ${invitedBy}, sluice_now() + make_interval(secs => ${seconds}))
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

/** A link that works now. */
export interface OpenInvitation {
  id: string;
  email: string;
  recovers: string | null;
  gatewayId: string | null;
  gatewayName: string | null;
  role: string | null;
  /** Whoever has the address already, and a way to sign in: a link alone never adds one to theirs. Null for everybody else, and where it recovers. */
  holderId: string | null;
}

/** Reads the invitation of a token, while it works; by the unique index on the hash. Locks nothing. */
export async function findOpenInvitation(sql: Reads, tokenHash: string): Promise<OpenInvitation | undefined> {
  const [row] = await sql<OpenInvitation[]>`
    select i.id, i.email, i.recovers, i.gateway_id, g.name as gateway_name, i.role,
      case when i.recovers is null then (
        select p.id from people p where p.email = i.email and (
          exists (select 1 from passkeys k where k.person_id = p.id and k.removed_at is null) or exists (select 1 from identities n where n.person_id = p.id))) end as holder_id
    from invitations i left join gateways g on g.id = i.gateway_id
    where i.token_hash = ${tokenHash} and ${works(sql)}`;
  return row;
}

/**
 * An invitation `i` that is not too old, and whose maker may still invite to it: whoever was removed, or may do less now, leaves no door open behind them. Members invite to no more
 * than they may do, operators to everything.
 */
function works(sql: Reads) {
  return sql`i.ended_at is null and i.expires_at > sluice_now() and (i.invited_by is null or exists (
    select 1 from memberships m join roles r on r.name = m.role where m.person_id = i.invited_by and m.ended_at is null and (
      (m.gateway_id is null and 'gateway:provision' = any(r.permissions))
      or (m.gateway_id = i.gateway_id and 'team:manage' = any(r.permissions)
        and (select given.permissions from roles given where given.name = i.role) <@ r.permissions))))`;
}

/** Ends an invitation as accepted; false when it does not work any more. Of two at once one is told true. */
export async function acceptOnce(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx`
    update invitations i set ended_at = sluice_now(), outcome = 'accepted' where i.id = ${id} and ${works(tx)} returning i.id`;
  return rows.length === 1;
}

const LOCK_CLASS = 7_582_009;

/** How many links to a gateway work; keeps everybody else from making one until commit. */
export async function lockOpenInvitations(tx: Tx, gatewayId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${gatewayId}))`;
  const [row] = await tx<[{ count: number }]>`
    select count(*)::int as count from invitations where gateway_id = ${gatewayId} and ended_at is null and expires_at > sluice_now()`;
  return row.count;
}
