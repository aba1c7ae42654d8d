import { type AnyStateMachine, transition } from 'xstate';

export interface Stepped<Status extends string, Effect extends string> {
  status: Status;
  effects: Effect[];
}

export interface Conflict<Status extends string> {
  conflict: true;
  status: Status;
}

/** A machine whose states are a row's statuses, with the types of its states and effects written down. */
export interface RecordMachine<Status extends string, Facts, Event extends string, Effect extends string> {
  machine: AnyStateMachine;
  statuses: readonly Status[];
  /** Only for inference. */
  types?: { facts: Facts; event: Event; effect: Effect };
}

/**
 * Says what one event makes of one row: its next status and the effects that must be written with it.
 * Pure: it runs nothing and reads nothing. An event the status does not accept is a conflict (architecture 2).
 */
export function step<Status extends string, Facts, Event extends string, Effect extends string>(
  record: RecordMachine<Status, Facts, Event, Effect>,
  status: Status,
  facts: Facts,
  event: Event,
): Stepped<Status, Effect> | Conflict<Status> {
  const before = record.machine.resolveState({ value: status, context: facts });
  if (!before.can({ type: event })) return { conflict: true, status };
  const [after, actions] = transition(record.machine, before, { type: event });
  return { status: after.value as Status, effects: actions.map((action) => action.type as Effect) };
}
