import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Who makes a change: `person` in the console, `command` on a host. */
export type Doer =
  | { kind: 'person'; personId: string; name: string; address: string }
  | { kind: 'key' | 'token' | 'command' | 'service'; name: string; address?: string };

/** One change, without secrets. */
export interface ConsoleAction {
  /** noun.verb, such as person.invite. */
  act: string;
  /** Id or name of what it is done to. */
  target: string;
  gatewayId: string | null;
  before?: object;
  after?: object;
  reason?: string;
}

/**
 * Adds a row behind the last one of the chain. Whoever adds the next one waits until this transaction ends, so that it comes last in a transaction
 * (decision 0063).
 */
export async function insertConsoleAction(tx: Tx, by: Doer, { act, target, gatewayId, before, after, reason }: ConsoleAction): Promise<void> {
  await tx`
    insert into console_actions (actor_kind, actor, person_id, gateway_id, act, target, before, after, reason, address)
    values (${by.kind}, ${by.name}, ${by.kind === 'person' ? by.personId : null}, ${gatewayId}, ${act}, ${target}, ${json(tx, before)}, ${json(tx, after)},
      ${reason ?? null}, ${by.address ?? null})`;
}

function json(tx: Tx, value: object | undefined) {
  return value === undefined ? null : tx.json(value as Parameters<Tx['json']>[0]);
}

/** A row of the record of acts, as it was written. */
export interface ListedAction {
  /** Its number in the chain. */
  seq: number;
  at: Date;
  actorKind: string;
  actor: string;
  gatewayId: string | null;
  act: string;
  target: string;
  reason: string | null;
  address: string | null;
  /** What it hangs on, and what hangs on it. */
  hash: string;
}

/** Rows of the chain, newest first, behind one of them. By its key; locks nothing. */
export async function listConsoleActions(sql: Reads, { before, limit }: { before: number | null; limit: number }): Promise<ListedAction[]> {
  return sql<ListedAction[]>`
    select seq::float8 as seq, at, actor_kind, actor, gateway_id, act, target, reason, address, hash from console_actions
    where ${before === null ? sql`true` : sql`seq < ${before}`} order by seq desc limit ${limit}`;
}

/** A row of the chain with everything it says, and the text that its hash is over. */
export interface WholeAction extends ListedAction {
  personId: string | null;
  before: object | null;
  after: object | null;
  previous: string;
  content: string;
}

function wholeColumns(sql: Reads) {
  return sql`seq::float8 as seq, at, actor_kind, actor, person_id, gateway_id, act, target, before, after, reason, address, previous, hash,
    console_action_content(console_actions) as content`;
}

/** Rows of a gateway between two times, newest first, behind one of them. Reads console_actions_gateway; locks nothing. */
export async function listGatewayActions(
  sql: Reads,
  { gatewayId, from, until, before, limit }: { gatewayId: string; from: Date | null; until: Date; before: number | null; limit: number },
): Promise<WholeAction[]> {
  return sql<WholeAction[]>`
    select ${wholeColumns(sql)} from console_actions
    where gateway_id = ${gatewayId} and at < ${until} ${from === null ? sql`` : sql`and at >= ${from}`} ${before === null ? sql`` : sql`and seq < ${before}`}
    order by seq desc limit ${limit}`;
}

/** Rows of the whole chain from its beginning on, behind one of them. By its key; locks nothing. */
export async function listWholeChain(sql: Reads, { after, limit }: { after: number; limit: number }): Promise<WholeAction[]> {
  return sql<WholeAction[]>`select ${wholeColumns(sql)} from console_actions where seq > ${after} order by seq limit ${limit}`;
}
