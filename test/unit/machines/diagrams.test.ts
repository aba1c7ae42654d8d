import { describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { diagrams, renderMachine } from '#ops/diagrams.ts';
import { AML_STATES } from '#state-machines/aml/machine.ts';
import { PAYMENT_STATUSES } from '#state-machines/payment/machine.ts';
import { PAYOUT_STATUSES } from '#state-machines/payout/machine.ts';
import { SETTLEMENT_STATUSES } from '#state-machines/settlement/machine.ts';

describe('the diagram of every machine', () => {
  test.each([
    ['payment', PAYMENT_STATUSES],
    ['settlement', SETTLEMENT_STATUSES],
    ['payout', PAYOUT_STATUSES],
    ['aml', AML_STATES],
  ])('shows every status of a %s', (name, statuses) => {
    const content = diagrams().find(({ path }) => path.includes(`/${name}/`))?.content ?? '';
    for (const status of statuses) expect(content).toContain(status);
  });
});

test('a diagram shows guards, effects, nested states, delays and children', () => {
  const machine = createMachine({
    id: 'lamp',
    initial: 'off',
    states: {
      off: { on: { PRESS: { guard: 'powered', target: 'on', actions: ['glow'] } } },
      on: { initial: 'dim', invoke: { id: 'bulb', src: 'bulb' }, states: { dim: { on: { TURN: 'bright' } }, bright: {} }, after: { patience: 'broken' } },
      broken: { type: 'final' },
    },
  });
  const drawn = renderMachine(machine, 'Lamp');
  for (const line of [
    '[*] --> off',
    'off --> on : PRESS [powered] / glow',
    'state on {',
    'dim --> bright : TURN',
    'on --> broken : after patience',
    'broken --> [*]',
    '| on | bulb |',
  ])
    expect(drawn).toContain(line);
});
