import { fromTransition } from 'xstate';
import { getSimplePaths } from 'xstate/graph';
import { type EffectTable, type EventOf, type RecordMachine, step } from '#state-machines/step.ts';

/** What one event makes of a status: `TO: effect, effect`, or undefined when it is refused. */
export type Outcome = { to: string; effects: string[] } | undefined;

export function outcome<S extends string, F, X extends EffectTable>(record: RecordMachine<S, F, X>, from: S, event: EventOf<X>, facts: F): Outcome {
  const result = step(record, from, facts, event);
  return 'conflict' in result ? undefined : { to: result.status, effects: result.effects };
}

/**
 * Every way through a machine that visits no status twice, from one start, as `PENDING → EXPIRED → SUCCESS`. The moves are
 * every event with every combination of facts, so a path may change its facts at each step as a row's life does.
 */
export function everyPath<S extends string, F, X extends EffectTable>(
  record: RecordMachine<S, F, X>,
  start: S,
  events: readonly EventOf<X>[],
  facts: readonly F[],
): string[] {
  // Facts that make the same of every status are one move: ways are counted by what happens, not by how it is written.
  const moves = new Map<string, { type: EventOf<X>; facts: F }>();
  for (const type of events)
    for (const given of facts)
      moves.set(JSON.stringify([type, record.statuses.map((status) => outcome(record, status, type, given) ?? null)]), { type, facts: given });
  const life = fromTransition((status: S, move: { type: string; event: EventOf<X>; facts: F }) => {
    const result = step(record, status, move.facts, move.event);
    return 'conflict' in result ? status : result.status;
  }, start);
  const paths = getSimplePaths(life, {
    events: [...moves].map(([type, move]) => ({ ...move, type, event: move.type })),
    serializeEvent: ({ type }) => type,
    serializeState: (snapshot) => JSON.stringify((snapshot as unknown as { context: S }).context),
  });
  const visited = paths.map(({ steps, state }) => {
    const statuses = [...steps.map((one) => one.state), state].map((snapshot) => (snapshot as unknown as { context: S }).context);
    return statuses.filter((status, i) => status !== statuses[i - 1]).join(' → ');
  });
  return [...new Set(visited)].sort();
}
