import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Advisory locks of gateways whose policies change, or whose policies look at the day. */
const LOCK_CLASS = 7_582_012;

export type PolicyState = 'proposed' | 'in_force' | 'replaced' | 'declined';

/** A version of a gateway's policies, as it is stored. */
export interface PolicyVersion {
  version: number;
  /** As they were written; `api/gateways/policies.ts` reads them. */
  policies: unknown;
  /** Exact decimal text. */
  capUsd: string | null;
  state: PolicyState;
  proposedBy: string;
  /** Address of whoever made it, and of whoever decided about it. */
  proposedByEmail: string;
  decidedByEmail: string | null;
  proposedAt: Date;
  decidedAt: Date | null;
}

/** Keeps everybody else from changing a gateway's policies or who approves there, giving a key the right to approve, or adding up its day, until commit. */
export async function lockPolicies(tx: Tx, gatewayId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${gatewayId}))`;
}

/** The policies in force of a gateway; undefined when it never had any. By their index; locks nothing. */
export async function findPolicies(sql: Reads, gatewayId: string): Promise<{ version: number; policies: unknown } | undefined> {
  const [row] = await sql<{ version: number; policies: unknown }[]>`
    select version, policies from policy_versions where gateway_id = ${gatewayId} and state = 'in_force'`;
  return row;
}

/** Versions of a gateway's policies, the last one first; locks nothing. */
export async function listPolicyVersions(sql: Reads, gatewayId: string, limit: number): Promise<PolicyVersion[]> {
  return sql<PolicyVersion[]>`
    select v.version, v.policies, trim_scale(v.cap_usd)::text as "capUsd", v.state, v.proposed_by, p.email as "proposedByEmail", d.email as "decidedByEmail", v.proposed_at,
      v.decided_at
    from policy_versions v join people p on p.id = v.proposed_by left join people d on d.id = v.decided_by
    where v.gateway_id = ${gatewayId} order by v.version desc limit ${limit}`;
}

/** Writes the next version, which takes the place of one that waits; answers its number. The caller holds `lockPolicies`. */
export async function insertPolicyVersion(tx: Tx, made: { gatewayId: string; policies: object; capUsd: string | null; personId: string }): Promise<number> {
  await tx`
    update policy_versions set state = 'replaced', decided_by = ${made.personId}, decided_at = sluice_now() where gateway_id = ${made.gatewayId} and state = 'proposed'`;
  const [row] = await tx<[{ version: number }]>`
    insert into policy_versions (gateway_id, version, policies, cap_usd, state, proposed_by)
    values (${made.gatewayId}, (select coalesce(max(version), 0) + 1 from policy_versions where gateway_id = ${made.gatewayId}), ${tx.json(made.policies as never)},
      ${made.capUsd}, 'proposed', ${made.personId})
    returning version`;
  return row.version;
}

/** Puts a version that waits into force, or declines it; false when it does not wait. The caller holds `lockPolicies`. */
export async function decidePolicyVersion(
  tx: Tx,
  decided: { gatewayId: string; version: number; personId: string; state: 'in_force' | 'declined' },
): Promise<boolean> {
  const { gatewayId, version, personId, state } = decided;
  if (state === 'in_force') await tx`update policy_versions set state = 'replaced' where gateway_id = ${gatewayId} and state = 'in_force'`;
  const moved = await tx`
    update policy_versions set state = ${state}, decided_by = ${personId}, decided_at = sluice_now()
    where gateway_id = ${gatewayId} and version = ${version} and state = 'proposed' returning 1`;
  return moved.length === 1;
}

/** Whether a key of the gateway that works may approve cashouts; the names of some. Locks nothing. */
export async function listApprovingKeys(sql: Reads, gatewayId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from api_keys where gateway_id = ${gatewayId} and revoked_at is null and (expires_at is null or expires_at > sluice_now()) and 'settlement:approve' = any(permissions)
    order by created_at limit 10`;
  return rows.map(({ id }) => id);
}

/**
 * Since when a gateway knows an entry `b` of its book: since a person entered it, who proved themselves, or since a cashout to it was paid. What a key entered or asked for makes nothing
 * known: whoever stole it could. Of one that was taken out of the book and entered again, what was paid before does not count.
 */
function knownSince(sql: Reads): ReturnType<Reads> {
  return sql`least(case when b.added_by like '%@%' then b.added_at end, (
    select case when count(*) > 0 then greatest(min(u.first_at), b.added_at) end from address_uses u where u.address_id = b.id and u.last_at > coalesce(b.added_at, '-infinity'::timestamptz)))`;
}

/** For how many whole days a gateway knows an address; null when it does not, or took it out of its book. Locks nothing. */
export async function readKnownDays(sql: Reads, at: { gatewayId: string; networkId: string; address: string }): Promise<number | null> {
  const [row] = await sql<{ days: number | null }[]>`
    select floor(extract(epoch from sluice_now() - ${knownSince(sql)}) / 86400)::int as days
    from address_book b where b.gateway_id = ${at.gatewayId} and b.network_id = ${at.networkId} and b.address = ${at.address} and b.hidden_at is null`;
  return row?.days ?? null;
}

/** What a gateway asked for in the last 24 hours, but for one cashout, at the latest prices, in dollars; null when a coin of it has none. Reads settlements_gateway; locks nothing. */
export async function sumDayUsd(sql: Reads, { gatewayId, except }: { gatewayId: string; except: string | null }): Promise<string | null> {
  const [row] = await sql<[{ usd: string | null; unpriced: boolean }]>`
    select coalesce(sum(d.amount * p.usd), 0)::text as usd, coalesce(bool_or(p.usd is null), false) as unpriced
    from (
      select s.asset_id, sum(s.amount) as amount from settlements s
      where s.gateway_id = ${gatewayId} and s.created_at > sluice_now() - interval '24 hours' and s.status <> 'REJECTED' and s.id is distinct from ${except}::uuid
      group by s.asset_id) d
    join assets a on a.id = d.asset_id left join prices p on p.symbol = a.symbol`;
  return row.unpriced ? null : row.usd;
}

/** Notes what has to be approved by more than a code, or why. */
export async function noteSettlementPolicy(
  tx: Tx,
  { settlementId, policy, people }: { settlementId: string; policy: number | null; people: number },
): Promise<void> {
  await tx`
    insert into settlement_policies (settlement_id, policy, people) values (${settlementId}, ${policy}, ${people})
    on conflict (settlement_id) do update set policy = excluded.policy, people = excluded.people`;
}

/** The place of the policy that a cashout is held by; null when none is. Locks nothing. */
export async function findSettlementPolicy(sql: Reads, settlementId: string): Promise<number | null> {
  const [row] = await sql<{ policy: number | null }[]>`select policy from settlement_policies where settlement_id = ${settlementId}`;
  return row?.policy ?? null;
}

/** Notes that a person approves a cashout; false when they did before. The caller holds the cashout's row. */
export async function insertApproval(tx: Tx, { settlementId, personId }: { settlementId: string; personId: string }): Promise<boolean> {
  const rows = await tx`
    insert into settlement_approvals (settlement_id, person_id) values (${settlementId}, ${personId}) on conflict do nothing returning 1`;
  return rows.length === 1;
}

/** Who approved a cashout and may still approve at its gateway, the first one first, and whether they came there after it was made; locks nothing. */
export async function listApprovals(sql: Reads, settlementId: string): Promise<{ personId: string; email: string; at: Date; newcomer: boolean }[]> {
  return sql<{ personId: string; email: string; at: Date; newcomer: boolean }[]>`
    select a.person_id as "personId", p.email, a.at, m.began_at > s.created_at as newcomer
    from settlement_approvals a join settlements s on s.id = a.settlement_id join people p on p.id = a.person_id
      join memberships m on m.person_id = a.person_id and m.gateway_id = s.gateway_id and m.ended_at is null join roles r on r.name = m.role
    where a.settlement_id = ${settlementId} and 'settlement:approve' = any(r.permissions) order by a.at, a.person_id`;
}

/** A cashout that was made, with what policies would have seen of it then. */
export interface PastCashout {
  id: string;
  createdAt: Date;
  amount: string;
  symbol: string;
  assetId: string;
  route: 'GREEN' | 'AML_HELD' | 'SMART';
  initiator: 'key' | 'person';
  knownForDays: number | null;
  rejected: boolean;
  /** When it was made, or else the latest; null when there is none. */
  priceUsd: string | null;
  latestUsd: string | null;
}

/** The last cashouts of a gateway, the newest first. Reads settlements_gateway; locks nothing. */
export async function listPastCashouts(sql: Reads, gatewayId: string, limit: number): Promise<PastCashout[]> {
  return sql<PastCashout[]>`
    select s.id, s.created_at, trim_scale(s.amount)::text as amount, a.symbol, s.asset_id, s.requested_route as route,
      case when s.created_by is null then 'key' else 'person' end as initiator, s.status = 'REJECTED' as rejected, k.days as "knownForDays",
      coalesce((select e.facts ->> 'priceUsd' from settlement_events e where e.settlement_id = s.id and e.event = 'CREATED' limit 1), trim_scale(p.usd)::text) as "priceUsd",
      trim_scale(p.usd)::text as "latestUsd"
    from (
      select id, asset_id, amount, requested_route, created_at, created_by, status, address_id from settlements where gateway_id = ${gatewayId}
      order by created_at desc, id desc limit ${limit}) s
      join assets a on a.id = s.asset_id left join prices p on p.symbol = a.symbol
      left join lateral (
        select floor(extract(epoch from s.created_at - k.since) / 86400)::int as days from (
          select ${knownSince(sql)} as since from address_book b where b.id = s.address_id) k
        where k.since <= s.created_at) k on true
    order by s.created_at desc, s.id desc`;
}

/** Whether somebody became what they are at a gateway only after a version of its policies was proposed; locks nothing. */
export async function cameAfterProposal(
  sql: Reads,
  { gatewayId, version, personId }: { gatewayId: string; version: number; personId: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from policy_versions v join memberships m on m.gateway_id = v.gateway_id and m.person_id = ${personId} and m.ended_at is null
    where v.gateway_id = ${gatewayId} and v.version = ${version} and m.began_at <= v.proposed_at`;
  return rows.length === 0;
}

/** Whether whoever proposed a version of a gateway's policies has been an owner ever since; locks nothing. */
export async function proposerOwns(sql: Reads, { gatewayId, version }: { gatewayId: string; version: number }): Promise<boolean> {
  const rows = await sql`
    select 1 from policy_versions v join memberships m on m.gateway_id = v.gateway_id and m.person_id = v.proposed_by and m.ended_at is null join roles r on r.name = m.role
    where v.gateway_id = ${gatewayId} and v.version = ${version} and m.began_at <= v.proposed_at and 'settings:write' = any(r.permissions)`;
  return rows.length === 1;
}
