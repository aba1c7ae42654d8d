import { fromTransition } from 'xstate';
import { getSimplePaths } from 'xstate/graph';
import { type RecordMachine, step } from '#state-machines/step.ts';

/** What one event makes of a status: `TO: effect, effect`, or undefined when it is refused. */
export type Outcome = { to: string; effects: string[] } | undefined;

export function outcome<S extends string, F, E extends string, X extends string>(record: RecordMachine<S, F, E, X>, from: S, event: E, facts: F): Outcome {
  const result = step(record, from, facts, event);
  return 'conflict' in result ? undefined : { to: result.status, effects: result.effects };
}

/**
 * Every way through a machine that visits no status twice, from one start, as `PENDING → EXPIRED → SUCCESS`. The moves are
 * every event with every combination of facts, so a path may change its facts at each step as a row's life does.
 */
export function everyPath<S extends string, F, E extends string, X extends string>(
  record: RecordMachine<S, F, E, X>,
  start: S,
  events: readonly E[],
  facts: readonly F[],
): string[] {
  const moves = events.flatMap((event) => facts.map((given) => ({ type: event, facts: given })));
  const life = fromTransition((status: S, move: { type: E; facts: F }) => {
    const result = step(record, status, move.facts, move.type);
    return 'conflict' in result ? status : result.status;
  }, start);
  const paths = getSimplePaths(life, { events: moves, serializeState: (snapshot) => JSON.stringify((snapshot as unknown as { context: S }).context) });
  const visited = paths.map(({ steps, state }) => {
    const statuses = [...steps.map((one) => one.state), state].map((snapshot) => (snapshot as unknown as { context: S }).context);
    return statuses.filter((status, i) => status !== statuses[i - 1]).join(' → ');
  });
  return [...new Set(visited)].sort();
}
