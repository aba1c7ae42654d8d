import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Advisory locks of addresses that become people. */
const LOCK_CLASS = 7_582_006;

/** Somebody who accepted an invitation. */
export interface StoredPerson {
  id: string;
  email: string;
  createdAt: Date;
}

/** What a person may do somewhere. */
export interface Membership {
  /** Null for the deployment itself. */
  gatewayId: string | null;
  role: string;
}

/** Reads whoever has this address, in lower case; by the unique index on it. Locks nothing. */
export async function findPersonByEmail(sql: Reads, email: string): Promise<StoredPerson | undefined> {
  const [row] = await sql<StoredPerson[]>`select id, email, created_at from people where email = ${email}`;
  return row;
}

/** Whether a role belongs to the deployment; undefined when there is none of that name. Locks nothing. */
export async function findRole(sql: Reads, name: string): Promise<{ operates: boolean } | undefined> {
  const [row] = await sql<{ operates: boolean }[]>`select operates from roles where name = ${name}`;
  return row;
}

/** Ends what a person may do, everywhere or, with a gateway, there; null is the deployment. Locks the rows it ends. */
export async function endMemberships(tx: Tx, personId: string, where: 'everywhere' | { gatewayId: string | null }): Promise<Membership[]> {
  const all = where === 'everywhere';
  return tx<Membership[]>`
    update memberships set ended_at = sluice_now()
    where person_id = ${personId} and ended_at is null and (${all} or gateway_id is not distinct from ${all ? null : where.gatewayId})
    returning gateway_id, role`;
}

/** Ends what rules gave a person whom no provider signed in within so many seconds of service time, or who has none. Locks the rows it ends. */
export async function endMembershipsByRule(tx: Tx, personId: string, withinSeconds: number): Promise<Membership[]> {
  return tx<Membership[]>`
    update memberships set ended_at = sluice_now() where person_id = ${personId} and ended_at is null and by_rule and not exists (
      select 1 from identities i where i.person_id = ${personId} and i.used_at > sluice_now() - make_interval(secs => ${withinSeconds}))
    returning gateway_id, role`;
}

/** A row of the list of people: a membership, or an invitation that still works. */
export interface PersonRow {
  /** Of the membership or the invitation. */
  id: string;
  email: string;
  gatewayId: string | null;
  /** Null for a link that gives a person a new way to sign in. */
  role: string | null;
  state: 'member' | 'invited' | 'recovering';
  since: Date;
}

/**
 * Who may do something now, and every link that works, of one gateway or with null of all, by address, behind a row of the list. By the indexes on addresses of people and of
 * open invitations; locks nothing.
 */
export async function listPeople(
  sql: Reads,
  { gatewayId, after, limit }: { gatewayId: string | null; after: Pick<PersonRow, 'email' | 'id'> | null; limit: number },
): Promise<PersonRow[]> {
  const email = after?.email ?? '';
  const id = after?.id ?? '00000000-0000-0000-0000-000000000000';
  return sql<PersonRow[]>`
    select id, email, gateway_id, role, state, since from (
      (select m.id, p.email, m.gateway_id, m.role, 'member' as state, m.began_at as since from people p join memberships m on m.person_id = p.id and m.ended_at is null
       where p.email >= ${email} and (p.email, m.id) > (${email}, ${id}) and (${gatewayId}::uuid is null or m.gateway_id = ${gatewayId})
       order by p.email, m.id limit ${limit})
      union all
      (select i.id, i.email, i.gateway_id, i.role, case when i.recovers is null then 'invited' else 'recovering' end, i.created_at from invitations i
       where i.ended_at is null and i.expires_at > sluice_now() and i.email >= ${email} and (i.email, i.id) > (${email}, ${id})
         and (${gatewayId}::uuid is null or i.gateway_id = ${gatewayId})
       order by i.email, i.id limit ${limit})) r
    order by email, id limit ${limit}`;
}

/** Has whoever becomes a person by this address wait until this transaction ends. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${email}))`;
}

/** Makes a person of an address, or finds who has it. Of two at once the later waits for the earlier one's transaction. */
export async function ensurePerson(tx: Tx, { id, email }: { id: string; email: string }): Promise<string> {
  await lockAddress(tx, email);
  await tx`insert into people (id, email) values (${id}, ${email}) on conflict (email) do nothing`;
  const [row] = await tx<[{ id: string }]>`select id from people where email = ${email}`;
  return row.id;
}

/** Gives a person a role somewhere in place of the one they have there. Locks that one. */
export async function insertMembership(tx: Tx, membership: { id: string; personId: string; byRule?: boolean } & Membership): Promise<void> {
  await endMemberships(tx, membership.personId, { gatewayId: membership.gatewayId });
  await tx`
    insert into memberships (id, person_id, gateway_id, role, by_rule)
    values (${membership.id}, ${membership.personId}, ${membership.gatewayId}, ${membership.role}, ${membership.byRule ?? false})`;
}

/** Locks what a person may do now, and answers it. */
export async function lockMemberships(tx: Tx, personId: string): Promise<(Membership & { byRule: boolean })[]> {
  return tx<(Membership & { byRule: boolean })[]>`
    select gateway_id, role, by_rule from memberships where person_id = ${personId} and ended_at is null order by id for update`;
}

/** What a person may do now, the deployment first, then by name; by the index on person and gateway. Locks nothing. */
export async function listMemberships(sql: Reads, personId: string): Promise<(Membership & { gatewayName: string | null })[]> {
  return sql<(Membership & { gatewayName: string | null })[]>`
    select m.gateway_id, g.name as gateway_name, m.role from memberships m left join gateways g on g.id = m.gateway_id
    where m.person_id = ${personId} and m.ended_at is null order by g.name nulls first, m.id limit 1000`;
}

/** What a person may do at one gateway, or with null for the deployment, now; by the unique index on person and gateway. Locks nothing. */
export async function findMembership(sql: Reads, personId: string, gatewayId: string | null): Promise<{ role: string; permissions: string[] } | undefined> {
  const [row] = await sql<{ role: string; permissions: string[] }[]>`
    select m.role, r.permissions from memberships m join roles r on r.name = m.role
    where m.person_id = ${personId} and m.gateway_id is not distinct from ${gatewayId}::uuid and m.ended_at is null`;
  return row;
}

/** When the people of these addresses last came by with a browser that is signed in, by address. Locks nothing. */
export async function listLastSeen(sql: Reads, emails: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await sql<{ email: string; seenAt: Date }[]>`
    select p.email, max(s.seen_at) as seen_at from people p join sessions s on s.person_id = p.id and s.ended_at is null where p.email = any(${[...emails]}) group by p.email`;
  return new Map(rows.map(({ email, seenAt }) => [email, seenAt]));
}

/** The same, held as it is until the transaction ends: whoever takes it away waits. Locks the membership. */
export async function lockMembership(tx: Tx, personId: string, gatewayId: string | null): Promise<{ role: string; permissions: string[] } | undefined> {
  const [row] = await tx<{ role: string; permissions: string[] }[]>`
    select m.role, r.permissions from memberships m join roles r on r.name = m.role
    where m.person_id = ${personId} and m.gateway_id is not distinct from ${gatewayId}::uuid and m.ended_at is null for share of m`;
  return row;
}

/** The owners of a gateway, kept as they are until the transaction ends. Locks their memberships, in one order. */
export async function lockOwners(tx: Tx, gatewayId: string): Promise<string[]> {
  const rows = await tx<{ personId: string }[]>`
    select person_id from memberships where gateway_id = ${gatewayId} and role = 'owner' and ended_at is null order by id for update`;
  return rows.map(({ personId }) => personId);
}

/** Every role there is; there are few. Locks nothing. */
export async function listRoles(sql: Reads): Promise<{ name: string; operates: boolean; permissions: string[] }[]> {
  return sql<
    { name: string; operates: boolean; permissions: string[] }[]
  >`select name, operates, permissions from roles order by cardinality(permissions) desc, name`;
}

/** How many people of a gateway may do this now; locks nothing. */
export async function countMembersWho(sql: Reads, gatewayId: string, permission: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from memberships m join roles r on r.name = m.role
    where m.gateway_id = ${gatewayId} and m.ended_at is null and ${permission} = any(r.permissions)`;
  return row.count;
}

/** The people of a gateway who may do this now; locks nothing. */
export async function listMembersWho(sql: Reads, gatewayId: string, permission: string): Promise<string[]> {
  const rows = await sql<{ personId: string }[]>`
    select m.person_id from memberships m join roles r on r.name = m.role
    where m.gateway_id = ${gatewayId} and m.ended_at is null and ${permission} = any(r.permissions) order by m.began_at, m.id limit 1000`;
  return rows.map(({ personId }) => personId);
}

/** How many people of a gateway are left to approve a cashout, whoever of them created it, or the key that did; locks nothing. */
export async function countApprovers(sql: Reads, gatewayId: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select (count(*) - count(distinct 1) filter (where 'settlement:create' = any(r.permissions)))::int as count from memberships m join roles r on r.name = m.role
    where m.gateway_id = ${gatewayId} and m.ended_at is null and 'settlement:approve' = any(r.permissions)`;
  return row.count;
}

/** The address of a person; null when there is none of that id. Locks nothing. */
export async function findPersonEmail(sql: Reads, id: string): Promise<string | null> {
  const [row] = await sql<{ email: string }[]>`select email from people where id = ${id}`;
  return row?.email ?? null;
}

/** Of these addresses one that became an operator within so many seconds, by a link that a person made; locks nothing. */
export async function findNewOperator(sql: Reads, emails: readonly string[], seconds: number): Promise<string | undefined> {
  const [row] = await sql<{ email: string }[]>`
    select email from invitations
    where email = any(${[...emails]}) and gateway_id is null and recovers is null and outcome = 'accepted' and invited_by is not null
      and ended_at > sluice_now() - make_interval(secs => ${seconds}) limit 1`;
  return row?.email;
}

/** The people who decide at the deployment now; locks nothing. */
export async function listOperators(sql: Reads): Promise<string[]> {
  const rows = await sql<{ personId: string }[]>`
    select m.person_id from memberships m join roles r on r.name = m.role
    where m.gateway_id is null and m.ended_at is null and 'aml:decide' = any(r.permissions) order by m.began_at, m.id limit 1000`;
  return rows.map(({ personId }) => personId);
}

/** Who of this address may act for the deployment now; undefined when nobody may. Locks nothing. */
export async function findOperator(sql: Reads, email: string): Promise<{ role: string } | undefined> {
  const [row] = await sql<{ role: string }[]>`
    select m.role from people p join memberships m on m.person_id = p.id join roles r on r.name = m.role
    where p.email = ${email} and m.gateway_id is null and m.ended_at is null and 'aml:decide' = any(r.permissions)`;
  return row;
}
