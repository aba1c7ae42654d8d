import type { Reads, Tx } from '#shared/platform/postgres.ts';

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

/** Who made a call to the operator API. */
export interface Actor {
  person: Person;
  /** As the caller said; null when nothing was said. */
  name: string | null;
  /** Canonical. */
  clientIp: string;
  /** Which of the operator tokens it came with: one of those that are shared, or a person's own. */
  token: 'current' | 'previous' | 'named';
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
): Promise<{ items: LoggedAction[]; total: number }> {
  const rows = await sql<(LoggedAction & { total: number })[]>`
    select id::text, at, action, target, reason, details, person, actor, client_ip as "clientIp", token, request_id as "requestId", count(*) over ()::int as total
    from operator_actions
    where (${filter.action}::text is null or action = ${filter.action}) and (${filter.target}::text is null or target = ${filter.target})
    order by operator_actions.id desc limit ${filter.limit} offset ${filter.offset}`;
  return { items: rows.map(({ total: _, ...line }) => line), total: rows[0]?.total ?? 0 };
}
