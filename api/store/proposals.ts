import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { inOrder, lastOf, type Placed, placeOf, stretch, type Walk, type Walked, WINDOW } from './operator-walks.ts';

/** What became of a proposal; `expired` is one that nobody decided about in time. */
export const PROPOSAL_STATUSES = ['open', 'confirmed', 'withdrawn', 'expired'] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

/** An act that two people have to want, as one of them proposed it. */
export interface Proposal {
  id: string;
  /** What is to be done, such as withheld.pay. */
  act: string;
  /** Id or name of what it is to be done to. */
  target: string;
  /** Exactly what is to be done. */
  content: Record<string, unknown>;
  reason: string;
  proposedBy: string;
}

export interface StoredProposal extends Proposal {
  status: ProposalStatus;
  createdAt: Date;
  expiresAt: Date;
  decidedBy: string | null;
  decidedAt: Date | null;
  outcome: Record<string, unknown> | null;
}

/** Adds an open proposal, dated now, that can be confirmed for so many seconds. */
export async function insertProposal(tx: Tx, proposal: Proposal & { mac: Uint8Array; seconds: number }): Promise<void> {
  await tx`
    insert into operator_proposals (id, act, target, content, reason, proposed_by, mac, expires_at)
    values (${proposal.id}, ${proposal.act}, ${proposal.target}, ${json(tx, proposal.content)}, ${proposal.reason}, ${proposal.proposedBy},
      ${Buffer.from(proposal.mac)}, sluice_now() + make_interval(secs => ${proposal.seconds}))`;
}

/** Reads one; locks nothing. */
export async function findProposal(sql: Reads, id: string): Promise<StoredProposal | undefined> {
  const [row] = await sql<StoredProposal[]>`select ${columns(sql)} from operator_proposals p where p.id = ${id}`;
  return row;
}

/** Reads one and locks it until commit: whoever decides about it comes after, and finds it decided. The first lock of its transaction. */
export async function lockProposal(tx: Tx, id: string): Promise<StoredProposal | undefined> {
  const [row] = await tx<StoredProposal[]>`select ${columns(tx)} from operator_proposals p where p.id = ${id} for update`;
  return row;
}

/** Proposals, newest first, of one status unless it is null; locks nothing. */
export async function listProposals(
  sql: Reads,
  filter: { status: ProposalStatus | null; limit: number; offset: number },
): Promise<{ items: Placed<StoredProposal>[]; total: number }> {
  const rows = await sql<(Placed<StoredProposal> & { total: number })[]>`
    select ${columns(sql)}, ${placeOf(sql, sql`p.created_at`)} as place, count(*) over ()::int as total from operator_proposals p
    where ${filter.status}::text is null or ${statusOf(sql)} = ${filter.status}
    order by p.created_at desc, p.id desc limit ${filter.limit} offset ${filter.offset}`;
  return { items: rows.map(({ total: _, ...row }) => row), total: rows[0]?.total ?? 0 };
}

/** Proposals of a walk, of one act or about one target or with one id where it says so. Looks through operator_proposals_newest or operator_proposals_target; locks nothing. */
export async function walkProposals(sql: Reads, walk: Walk, sought: { id: string | null; text: string } | null): Promise<Walked<StoredProposal>> {
  // Without its proof, which whoever only looks never reads.
  const read: ReturnType<Reads> = sql`p.id, p.act, p.target, p.content, p.reason, p.proposed_by, p.status, p.created_at, p.expires_at, p.decided_by, p.decided_at, p.outcome`;
  // None is open for longer than it can be confirmed: else the oldest of a walk would be looked for among all that ever were.
  const recent: ReturnType<Reads> = walk.status === 'open' ? sql`and p.created_at > sluice_now() - make_interval(secs => ${POLICY.proposalSeconds})` : sql``;
  const tail: ReturnType<Reads> = sql`
    ${recent} ${stretch(sql, walk, sql`p.created_at`, sql`p.id`)} ${inOrder(sql, walk, sql`p.created_at`, sql`p.id`)} limit ${WINDOW}`;
  const looked: ReturnType<Reads> =
    sought === null
      ? sql`select ${read}, p.created_at as at from operator_proposals p where true ${tail}`
      : sql`
        (select ${read}, p.created_at as at from operator_proposals p where p.target = ${sought.text} ${tail})
        union all (select ${read}, p.created_at as at from operator_proposals p where p.id = ${sought.id}::uuid and p.target <> ${sought.text} ${tail})`;
  const rows = await sql<Placed<StoredProposal>[]>`
    select ${columns(sql)}, ${placeOf(sql, sql`p.created_at`)} as place from (${looked}) p
    where ${walk.status === null ? sql`true` : sql`${statusOf(sql)} = ${walk.status}`}
    ${inOrder(sql, walk, sql`p.created_at`, sql`p.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk) };
}

/** Writes what was decided; the caller holds its lock and found it open. */
export async function decideProposal(tx: Tx, id: string, decided: { by: string; outcome: Record<string, unknown> | null }): Promise<void> {
  await tx`
    update operator_proposals set status = ${decided.outcome === null ? 'withdrawn' : 'confirmed'}, decided_by = ${decided.by}, decided_at = sluice_now(),
      outcome = ${decided.outcome === null ? null : json(tx, decided.outcome)}
    where id = ${id} and status = 'open'`;
}

function statusOf(sql: Reads) {
  return sql`(case when p.status = 'open' and p.expires_at <= sluice_now() then 'expired' else p.status end)`;
}

function columns(sql: Reads) {
  return sql`p.id, p.act, p.target, p.content, p.reason, p.proposed_by, ${statusOf(sql)} as status, p.created_at,
    p.expires_at, p.decided_by, p.decided_at, p.outcome`;
}

function json(tx: Tx, value: Record<string, unknown>) {
  return tx.json(value as Parameters<Tx['json']>[0]);
}

/** One change an operator made; `details` never holds a secret. */
export interface OperatorAction {
  /** noun.verb, such as `gateway.create`. */
  action: string;
  /** Id or name of what it was done to. */
  target: string;
  reason?: string | undefined;
  details?: Record<string, unknown>;
}

/** Somebody the operator API has authenticated. */
export interface Person {
  /** Proven by how the call was made, never by what it says of itself; one name is one person. */
  name: string;
}

/** Who made a change that is kept in the audit log. */
export interface Actor {
  person: Person;
  /** As the caller said; null when nothing was said. */
  name: string | null;
  /** Canonical. */
  clientIp: string;
  /** What it came with: one of the operator tokens that are shared, a person's own, an API key of the gateway, or a session of the console. */
  token: 'current' | 'previous' | 'named' | 'api-key' | 'person';
  requestId: string | null;
}

/** Appends one line to the operator's audit log, in the transaction of the change itself; locks nothing. Nobody called for what the service does by itself. */
export async function insertOperatorAction(tx: Tx, by: Actor | undefined, action: OperatorAction): Promise<void> {
  await tx`
    insert into operator_actions (action, target, reason, details, person, actor, client_ip, token, request_id)
    values (${action.action}, ${action.target}, ${action.reason ?? null}, ${tx.json((action.details ?? {}) as Parameters<Tx['json']>[0])},
      ${by?.person.name ?? null}, ${by?.name ?? null}, ${by?.clientIp ?? null}, ${by?.token ?? null}, ${by?.requestId ?? null})`;
}

/** One line of the operator's audit log. */
export interface LoggedAction {
  id: string;
  at: Date;
  action: string;
  target: string;
  reason: string | null;
  details: Record<string, unknown>;
  person: string | null;
  actor: string | null;
  clientIp: string | null;
  token: string | null;
  requestId: string | null;
}

/** The operator's audit log, newest first, narrowed to an action, a target, or both; null narrows nothing. Locks nothing. */
export async function listOperatorActions(
  sql: Reads,
  filter: { action: string | null; target: string | null; limit: number; offset: number },
): Promise<{ items: Placed<LoggedAction>[]; total: number }> {
  const rows = await sql<(Placed<LoggedAction> & { total: number })[]>`
    select ${actionColumns(sql)}, count(*) over ()::int as total
    from operator_actions o
    where (${filter.action}::text is null or action = ${filter.action}) and (${filter.target}::text is null or target = ${filter.target})
    order by at desc, o.id desc limit ${filter.limit} offset ${filter.offset}`;
  return { items: rows.map(({ total: _, ...line }) => line), total: rows[0]?.total ?? 0 };
}

/**
 * Lines of a walk; `sought` is an action, a target, a person or a request. Reads operator_actions_at, or the index of what it is narrowed to, through which it looks
 * for the rest; locks nothing.
 */
export async function walkOperatorActions(
  sql: Reads,
  walk: Omit<Walk, 'gatewayId' | 'status' | 'ids'> & { action: string | null; target: string | null },
  sought: string | null,
): Promise<Walked<LoggedAction>> {
  const { action, target } = walk;
  const tail: ReturnType<Reads> = sql`${stretch(sql, walk, sql`o.at`, sql`o.id`)} ${inOrder(sql, walk, sql`o.at`, sql`o.id`)} limit ${WINDOW}`;
  const looked: ReturnType<Reads> =
    sought !== null
      ? sql`
        (select o.* from operator_actions o where o.action = ${sought} ${tail}) union (select o.* from operator_actions o where o.target = ${sought} ${tail})
        union (select o.* from operator_actions o where o.person = ${sought} ${tail}) union (select o.* from operator_actions o where o.request_id = ${sought} ${tail})`
      : target !== null
        ? sql`select o.* from operator_actions o where o.target = ${target} ${tail}`
        : action !== null
          ? sql`select o.* from operator_actions o where o.action = ${action} ${tail}`
          : sql`select o.* from operator_actions o where true ${tail}`;
  const rows = await sql<Placed<LoggedAction>[]>`
    select ${actionColumns(sql)} from (${looked}) o
    where true ${action === null ? sql`` : sql`and o.action = ${action}`} ${target === null ? sql`` : sql`and o.target = ${target}`}
    ${inOrder(sql, walk, sql`o.at`, sql`o.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk) };
}

function actionColumns(sql: Reads): ReturnType<Reads> {
  return sql`
    o.id::text, o.at, o.action, o.target, o.reason, o.details, o.person, o.actor, o.client_ip, o.token, o.request_id, ${placeOf(sql, sql`o.at`)} as place`;
}
