import type { AnyStateMachine } from 'xstate';
import { describe, expect, test } from 'vitest';
import { aml } from '#state-machines/aml/machine.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { payout } from '#state-machines/payout/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';

/** The actions of every event, in the order of the machine, each once. */
function actionsOf(machine: AnyStateMachine): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const state of Object.values(machine.root.states))
    for (const transition of [...state.transitions.values()].flat()) {
      const actions = found[transition.eventType] ?? [];
      found[transition.eventType] = actions;
      for (const action of transition.actions) {
        if (!actions.includes(action as string)) actions.push(action as string);
      }
    }
  return found;
}

describe('the effects written down for the types', () => {
  test.each(Object.entries({ payment, settlement, payout, aml }))('of a %s are the actions of its machine, event by event', (_, record) => {
    expect(actionsOf(record.machine)).toEqual(record.effects);
  });
});
