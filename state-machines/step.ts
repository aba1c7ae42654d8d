import { type AnyStateMachine, transition } from 'xstate';

/** The effects that each event of a record may have: the machine's own actions, written out for the types. */
export type EffectTable = Readonly<Record<string, readonly string[]>>;
export type EventOf<Effects extends EffectTable> = Extract<keyof Effects, string>;
/** The effects that an event, or any of several events, may have. */
export type EffectOf<Effects extends EffectTable, Event extends EventOf<Effects> = EventOf<Effects>> = Effects[Event][number];

/** A machine whose states are a row's statuses, with its types of states, facts and effects. */
export interface RecordMachine<Status extends string, Facts, Effects extends EffectTable> {
  machine: AnyStateMachine;
  statuses: readonly Status[];
  effects: Effects;
  /** Only for inference. */
  facts?: Facts;
}

export interface Stepped<Status extends string, Effect extends string> {
  status: Status;
  effects: Effect[];
}

export interface Conflict<Status extends string> {
  conflict: true;
  status: Status;
}

/**
 * Decides what one event does to one row: its next status, and the effects that must be written with it.
 * Pure: it runs nothing and reads nothing. An event that the status does not accept is a conflict (architecture 2).
 */
export function step<Status extends string, Facts, Effects extends EffectTable, Event extends EventOf<Effects>>(
  record: RecordMachine<Status, Facts, Effects>,
  status: Status,
  facts: Facts,
  event: Event,
): Stepped<Status, EffectOf<Effects, Event>> | Conflict<Status> {
  const before = record.machine.resolveState({ value: status, context: facts });
  if (!before.can({ type: event })) return { conflict: true, status };
  const [after, actions] = transition(record.machine, before, { type: event });
  return { status: after.value as Status, effects: actions.map((action) => action.type as EffectOf<Effects, Event>) };
}
