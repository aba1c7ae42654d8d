import { aml } from '#state-machines/aml/machine.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { payout } from '#state-machines/payout/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';
import { type RecordMachine, step } from '#state-machines/step.ts';
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
type Parts<N extends RecordName> =
  Records[N]['record'] extends RecordMachine<infer S, infer F, infer E, infer X> ? { status: S; facts: F; event: E; effect: X } : never;

export interface Advance<N extends RecordName> {
  id: string;
  event: Parts<N>['event'];
  /** Who caused it: merchant, payer, chain, screening, sweeper, signer, operator. */
  actor: string;
  /** What the guards see, and the columns to write if the event is accepted; both from the locked row. */
  facts: (row: Record<string, unknown>) => { facts: Parts<N>['facts']; columns?: Record<string, unknown>; record?: Record<string, unknown> };
}

export type Advanced<N extends RecordName> =
  | { conflict: false; from: Parts<N>['status']; to: Parts<N>['status']; effects: Parts<N>['effect'][]; row: Record<string, unknown> }
  | { conflict: true; status: Parts<N>['status'] };

/**
 * Moves one row along its machine; the only writer of any status column (architecture 2).
 * Locks the row until commit, updates it with `columns`, appends the event row, and returns the effects, which the
 * caller must turn into postings and outbox rows in the same transaction. An event the status does not accept changes
 * nothing and comes back as a conflict.
 */
export async function advance<N extends RecordName>(tx: Tx, name: N, input: Advance<N>): Promise<Advanced<N>> {
  const { record, table, column, none } = RECORDS[name];
  const [row] = await tx`select * from ${tx(table)} where id = ${input.id} for update`;
  if (row === undefined) throw new Invariant(`${name} ${input.id} does not exist`);
  const from = (row[column] ?? none) as Parts<N>['status'];
  const given = input.facts(row);
  const result = step(
    record as unknown as RecordMachine<Parts<N>['status'], Parts<N>['facts'], Parts<N>['event'], Parts<N>['effect']>,
    from,
    given.facts,
    input.event,
  );
  if ('conflict' in result) return { conflict: true, status: from };
  const columns = { ...given.columns, [column]: result.status === none ? null : result.status };
  const [updated] = await tx`update ${tx(table)} set ${tx(columns)} where id = ${input.id} returning *`;
  await appendEvent(tx, name, { id: input.id, event: input.event, from, to: result.status, facts: given.record ?? {}, actor: input.actor });
  return { conflict: false, from, to: result.status, effects: result.effects, row: updated as Record<string, unknown> };
}

/** Rows that went the same way together. */
export interface AdvancedTogether<N extends RecordName> {
  from: Parts<N>['status'];
  to: Parts<N>['status'];
  effects: Parts<N>['effect'][];
  rows: Record<string, unknown>[];
}

/**
 * Moves many rows whose facts are the same, such as a deadline that passed them all, in a few statements however many they are.
 * Locks them in the order of their ids; one whose status does not accept the event stays as it is and is not in the answer. What
 * `advance` says of effects holds for each.
 */
export async function advanceAll<N extends RecordName>(
  tx: Tx,
  name: N,
  input: {
    ids: readonly string[];
    event: Parts<N>['event'];
    actor: string;
    facts: Parts<N>['facts'];
    columns?: Record<string, unknown>;
    record?: Record<string, unknown>;
  },
): Promise<AdvancedTogether<N>[]> {
  const { record, table, column, none, events, key } = RECORDS[name];
  const locked = await tx<{ id: string; was: string | null }[]>`
    select id, ${tx(column)} as was from ${tx(table)} where id = any(${[...input.ids]}::uuid[]) order by id for update`;
  const moved: AdvancedTogether<N>[] = [];
  for (const was of new Set(locked.map((row) => row.was))) {
    const from = (was ?? none) as Parts<N>['status'];
    const machine = record as unknown as RecordMachine<Parts<N>['status'], Parts<N>['facts'], Parts<N>['event'], Parts<N>['effect']>;
    const result = step(machine, from, input.facts, input.event);
    if ('conflict' in result) continue;
    const ids = locked.filter((row) => row.was === was).map((row) => row.id);
    const columns = { ...input.columns, [column]: result.status === none ? null : result.status };
    const rows = await tx<Record<string, unknown>[]>`update ${tx(table)} set ${tx(columns)} where id = any(${ids}::uuid[]) returning *`;
    await tx`
      insert into ${tx(events)} (${tx(key)}, event, from_status, to_status, facts, actor)
      select id, ${input.event}, ${from}, ${result.status}, ${tx.json((input.record ?? {}) as never)}, ${input.actor} from unnest(${ids}::uuid[]) as ours (id)`;
    moved.push({ from, to: result.status, effects: result.effects, rows });
  }
  return moved;
}

/** Appends one event to a row's history; called directly only for a row that was just inserted. */
export async function appendEvent(
  tx: Tx,
  name: RecordName,
  e: { id: string; event: string; from: string | null; to: string; facts: Record<string, unknown>; actor: string },
): Promise<void> {
  const { events, key } = RECORDS[name];
  await tx`insert into ${tx(events)} ${tx({ [key]: e.id, event: e.event, from_status: e.from, to_status: e.to, facts: tx.json(e.facts as never), actor: e.actor } as never)}`;
}
