import { aml } from '#state-machines/aml/machine.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { payout } from '#state-machines/payout/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';
import { type EffectOf, type EffectTable, type EventOf, type RecordMachine, step } from '#state-machines/step.ts';
import { allEnded } from '#shared/core/both-ended.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** The record machines and where their rows live; `none` is the state a null stands for. */
const RECORDS = {
  payment: { record: payment, table: 'payments', column: 'status', none: null, events: 'payment_events', key: 'payment_id' },
  aml: { record: aml, table: 'payments', column: 'aml_state', none: 'NONE', events: 'aml_events', key: 'payment_id' },
  settlement: { record: settlement, table: 'settlements', column: 'status', none: null, events: 'settlement_events', key: 'settlement_id' },
  payout: { record: payout, table: 'payouts', column: 'status', none: null, events: 'payout_events', key: 'payout_id' },
} as const;

type Records = typeof RECORDS;
export type RecordName = keyof Records;
type Effects<N extends RecordName> = Records[N]['record']['effects'];
type StatusOf<N extends RecordName> = Records[N]['record'] extends RecordMachine<infer S, infer _F, infer _E> ? S : never;
type FactsOf<N extends RecordName> = Records[N]['record'] extends RecordMachine<infer _S, infer F, infer _E> ? F : never;
type EventsOf<N extends RecordName> = EventOf<Effects<N>>;

/** What is done for each effect that the event, or any of several, may have; none is left out and none is made up. */
type Handlers<N extends RecordName, E extends EventsOf<N>, M> = [EffectOf<Effects<N>, E>] extends [never]
  ? { effects?: never }
  : { effects: { [K in EffectOf<Effects<N>, E> & string]: (moved: M) => Promise<unknown> } };

/** A row that moved. */
export interface Moved<N extends RecordName> {
  from: StatusOf<N>;
  to: StatusOf<N>;
  row: Record<string, unknown>;
}

export type Advance<N extends RecordName, E extends EventsOf<N>> = Handlers<N, E, Moved<N>> & {
  id: string;
  event: E;
  /** Who caused it: merchant, payer, chain, screening, sweeper, signer, operator. */
  actor: string;
  /** What the guards see, and the columns to write if the event is accepted; both from the locked row. */
  facts: (row: Record<string, unknown>) => { facts: FactsOf<N>; columns?: Record<string, unknown>; record?: Record<string, unknown> };
};

/**
 * Moves one row along its machine; the only writer of any status column (architecture 2).
 * Locks the row until commit, updates it with `columns`, appends the event row, and runs the handlers of the effects in the machine's
 * order, in the same transaction. An event the status does not accept changes nothing: `orConflict` says what that means, and answers or throws.
 * @throws Invariant when there is no such row, or when the status does not accept the event and no `orConflict` is given
 */
export async function advance<N extends RecordName, const E extends EventsOf<N>, C = never>(
  tx: Tx,
  name: N,
  input: Advance<N, E> & { orConflict?: (status: StatusOf<N>) => C },
): Promise<Moved<N> | Awaited<C>> {
  const { table, column, none } = RECORDS[name];
  const [row] = await tx`select *, ${tx(column)} as was from ${tx(table)} where id = ${input.id} for update`;
  if (row === undefined) throw new Invariant(`${name} ${input.id} does not exist`);
  const from = (row.was ?? none) as StatusOf<N>;
  const given = input.facts(row);
  const result = stepOf(name, from, given.facts, input.event);
  if ('conflict' in result) {
    if (input.orConflict !== undefined) return await input.orConflict(from);
    throw new Invariant(`${name} ${input.id} is ${from} and takes no ${input.event}`);
  }
  const columns = { ...given.columns, [column]: result.status === none ? null : result.status };
  const [[updated]] = await Promise.all([
    tx`update ${tx(table)} set ${tx(columns)} where id = ${input.id} returning *`,
    appendEvent(tx, name, { id: input.id, event: input.event, from, to: result.status, facts: given.record ?? {}, actor: input.actor }),
  ]);
  const moved: Moved<N> = { from, to: result.status, row: updated as Record<string, unknown> };
  await runEffects(name, input.effects, result.effects, moved);
  return moved;
}

export type AdvanceHeld<N extends RecordName, E extends EventsOf<N>> = Handlers<N, E, StatusOf<N>> &
  Pick<Advance<N, E>, 'id' | 'event' | 'actor'> &
  ReturnType<Advance<N, E>['facts']> & {
    /** Its status, as the caller read it under the row's lock or moved it since. */
    from: StatusOf<N>;
  };

/**
 * Does what `advance` does for a caller who has the row locked and knows its status. It does not wait for what it wrote before it calls the handlers, each with the new status, in the machine's order: what they
 * send before they wait for anything is on its way at once. Answers the new status.
 * @throws Invariant when the status does not accept the event, or the row has another one
 */
export async function advanceHeld<N extends RecordName, const E extends EventsOf<N>>(tx: Tx, name: N, input: AdvanceHeld<N, E>): Promise<StatusOf<N>> {
  const { table, column, none } = RECORDS[name];
  const { id, event, actor, from, facts, columns = {}, record = {} } = input;
  const result = stepOf(name, from, facts, event);
  if ('conflict' in result) throw new Invariant(`${name} ${id} is ${from} and takes no ${event}`);
  const stored = (status: StatusOf<N>): StatusOf<N> | null => (status === none ? null : status);
  const update = async (): Promise<void> => {
    const { count } = await tx`
      update ${tx(table)} set ${tx({ ...columns, [column]: stored(result.status) })} where id = ${id} and ${tx(column)} is not distinct from ${stored(from)}`;
    if (count !== 1) throw new Invariant(`${name} ${id} is not ${from}`);
  };
  await allEnded<unknown>([
    update(),
    appendEvent(tx, name, { id, event, from, to: result.status, facts: record, actor }),
    ...handlersOf(name, input.effects, result.effects).map((handler) => handler(result.status)),
  ]);
  return result.status;
}

/** Rows that went the same way together. */
export interface MovedTogether<N extends RecordName> {
  from: StatusOf<N>;
  to: StatusOf<N>;
  rows: Record<string, unknown>[];
}

export type AdvanceAll<N extends RecordName, E extends EventsOf<N>> = Handlers<N, E, MovedTogether<N>> & {
  /** What the guards see of each row, by its id. */
  facts: ReadonlyMap<string, FactsOf<N>>;
  event: E;
  actor: string;
  columns?: Record<string, unknown>;
  /** What of the facts is written with the event. */
  record: (facts: FactsOf<N>) => Record<string, unknown>;
};

/**
 * Moves many rows, such as those that a deadline passed, in a few statements for each way they go. Locks them in the order of their ids;
 * one whose status or facts do not accept the event stays as it is and is not in the answer. What `advance` says of effects holds for all
 * that go one way together.
 */
export async function advanceAll<N extends RecordName, const E extends EventsOf<N>>(tx: Tx, name: N, input: AdvanceAll<N, E>): Promise<MovedTogether<N>[]> {
  const { table, column, none, events, key } = RECORDS[name];
  const locked = await tx<{ id: string; was: string | null }[]>`
    select id, ${tx(column)} as was from ${tx(table)} where id = any(${[...input.facts.keys()]}::uuid[]) order by id for update`;
  const alike = new Map<string, { id: string; was: string | null }[]>();
  for (const row of locked) {
    const way = JSON.stringify([row.was, input.facts.get(row.id)]);
    const others = alike.get(way);
    if (others === undefined) alike.set(way, [row]);
    else others.push(row);
  }
  const moved: MovedTogether<N>[] = [];
  for (const rowsAlike of alike.values()) {
    const [{ id, was }] = rowsAlike as [{ id: string; was: string | null }];
    const from = (was ?? none) as StatusOf<N>;
    const facts = input.facts.get(id) as FactsOf<N>;
    const result = stepOf(name, from, facts, input.event);
    if ('conflict' in result) continue;
    const ids = rowsAlike.map((row) => row.id);
    const columns = { ...input.columns, [column]: result.status === none ? null : result.status };
    const rows = await tx<Record<string, unknown>[]>`update ${tx(table)} set ${tx(columns)} where id = any(${ids}::uuid[]) returning *`;
    await tx`
      insert into ${tx(events)} (${tx(key)}, event, from_status, to_status, facts, actor)
      select id, ${input.event}, ${from}, ${result.status}, ${tx.json(input.record(facts) as never)}, ${input.actor} from unnest(${ids}::uuid[]) as ours (id)`;
    const together: MovedTogether<N> = { from, to: result.status, rows };
    await runEffects(name, input.effects, result.effects, together);
    moved.push(together);
  }
  return moved;
}

/** One step of a record's machine; the types of the four records meet here, where the name is not known. */
function stepOf<N extends RecordName>(name: N, from: StatusOf<N>, facts: FactsOf<N>, event: EventsOf<N>) {
  const { record } = RECORDS[name];
  return step(record as unknown as RecordMachine<StatusOf<N>, FactsOf<N>, EffectTable>, from, facts, event);
}

async function runEffects<M>(name: RecordName, handlers: unknown, effects: readonly string[], moved: M): Promise<void> {
  for (const handler of handlersOf<M>(name, handlers, effects)) await handler(moved);
}

function handlersOf<M>(name: RecordName, handlers: unknown, effects: readonly string[]): ((moved: M) => Promise<unknown>)[] {
  const known = (handlers ?? {}) as Record<string, (moved: M) => Promise<unknown>>;
  return effects.map((effect) => {
    const handler = known[effect];
    if (handler === undefined) throw new Invariant(`nobody handles ${effect} of a ${name}`);
    return handler;
  });
}

/** A row that was just inserted, and how its history begins. */
interface FirstEvent {
  id: string;
  event: string;
  from: string | null;
  to: string;
  facts: Record<string, unknown>;
  actor: string;
}

/** Appends one event to a row's history; called directly only for a row that was just inserted. */
export async function appendEvent(tx: Tx, name: RecordName, event: FirstEvent): Promise<void> {
  await appendEvents(tx, name, [event]);
}

/** The same of several rows, in this order. */
export async function appendEvents(tx: Tx, name: RecordName, added: readonly FirstEvent[]): Promise<void> {
  const { events, key } = RECORDS[name];
  const rows = added.map((e) => ({ [key]: e.id, event: e.event, from_status: e.from, to_status: e.to, facts: tx.json(e.facts as never), actor: e.actor }));
  await tx`insert into ${tx(events)} ${tx(rows as never)}`;
}
