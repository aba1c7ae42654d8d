import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** A change of a gateway's people that waits for another owner. */
export interface MemberProposal {
  id: string;
  email: string;
  /** As what they would be invited; null to remove them. */
  role: string | null;
  proposedBy: string;
  proposedByEmail: string;
  proposedAt: Date;
  /** Whether whoever made it has been an owner ever since: otherwise it is nobody's half of anything. */
  proposerMay: boolean;
}

function columns(sql: Reads) {
  return sql`c.id, c.email, c.role, c.proposed_by, p.email as "proposedByEmail", c.proposed_at, exists (
    select 1 from memberships m join roles r on r.name = m.role
    where m.person_id = c.proposed_by and m.gateway_id = c.gateway_id and m.ended_at is null and m.began_at <= c.proposed_at and 'team:manage' = any(r.permissions)
    ) as "proposerMay"`;
}

/** What waits at a gateway: the last one of everybody who proposed something, then the ones before those, so that nobody hides what others propose. Locks nothing. */
export async function listMemberProposals(sql: Reads, gatewayId: string): Promise<MemberProposal[]> {
  return sql<MemberProposal[]>`
    select ${columns(sql)} from member_proposals c join people p on p.id = c.proposed_by
    where c.gateway_id = ${gatewayId} and c.state = 'waiting'
    order by row_number() over (partition by c.proposed_by order by c.proposed_at desc, c.id), c.proposed_at desc, c.id limit 100`;
}

/** One that waits; undefined when it does not, or is another gateway's. Locks nothing. */
export async function findMemberProposal(sql: Reads, gatewayId: string, id: string): Promise<MemberProposal | undefined> {
  const [row] = await sql<MemberProposal[]>`
    select ${columns(sql)} from member_proposals c join people p on p.id = c.proposed_by where c.id = ${id} and c.gateway_id = ${gatewayId} and c.state = 'waiting'`;
  return row;
}

/** How many of one person wait at a gateway; locks nothing. */
export async function countMemberProposals(sql: Reads, { gatewayId, personId }: { gatewayId: string; personId: string }): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from member_proposals where gateway_id = ${gatewayId} and proposed_by = ${personId} and state = 'waiting'`;
  return row.count;
}

/** Adds one. The caller holds `lockPolicies`, and ended the one that waited for this address. */
export async function insertMemberProposal(
  tx: Tx,
  made: { id: string; gatewayId: string; email: string; role: string | null; personId: string },
): Promise<void> {
  await tx`
    insert into member_proposals (id, gateway_id, email, role, proposed_by) values (${made.id}, ${made.gatewayId}, ${made.email}, ${made.role}, ${made.personId})`;
}

/** Whether what others proposed about somebody waits at a gateway: the one with this id, or any. Locks nothing. */
export async function isProposedAbout(
  sql: Reads,
  { gatewayId, personId, id = null }: { gatewayId: string; personId: string; id?: string | null },
): Promise<boolean> {
  const rows = await sql`
    select 1 from member_proposals c join people p on p.email = c.email
    where c.gateway_id = ${gatewayId} and c.state = 'waiting' and p.id = ${personId} and c.proposed_by <> p.id and (${id}::uuid is null or c.id = ${id})`;
  return rows.length > 0;
}

/** Ends one that waits; false when it does not. The caller holds `lockPolicies`. */
export async function decideMemberProposal(
  tx: Tx,
  { gatewayId, id, personId, state }: { gatewayId: string; id: string; personId: string; state: 'confirmed' | 'withdrawn' },
): Promise<boolean> {
  const rows = await tx`
    update member_proposals set state = ${state}, decided_by = ${personId}, decided_at = sluice_now()
    where id = ${id} and gateway_id = ${gatewayId} and state = 'waiting' returning 1`;
  return rows.length === 1;
}

/** Ends what waits for an address, because something else is done about it. The caller holds `lockPolicies`. */
export async function replaceMemberProposal(tx: Tx, { gatewayId, email, personId }: { gatewayId: string; email: string; personId: string }): Promise<void> {
  await tx`
    update member_proposals set state = 'replaced', decided_by = ${personId}, decided_at = sluice_now()
    where gateway_id = ${gatewayId} and email = ${email} and state = 'waiting'`;
}

/** Whether somebody became what they are at a gateway only after a proposal was made there; locks nothing. */
export async function cameAfterMemberProposal(sql: Reads, { id, personId }: { id: string; personId: string }): Promise<boolean> {
  const rows = await sql`
    select 1 from member_proposals c join memberships m on m.gateway_id = c.gateway_id and m.person_id = ${personId} and m.ended_at is null
    where c.id = ${id} and m.began_at <= c.proposed_at`;
  return rows.length === 0;
}
