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
