import { describe, expect, test } from 'vitest';
import { AML_STATES, type AmlEvent, type AmlFacts, type AmlState, aml, NO_AML_FACTS } from '#state-machines/aml/machine.ts';
import { everyPath, outcome } from './paths.ts';

const EVENTS: AmlEvent[] = ['FLAGGED', 'DRAWN', 'OPERATOR_RELEASED', 'OPERATOR_WITHHELD', 'REFUND_ORDERED', 'REFUND_PAID', 'REFUND_FAILED'];
/** Every combination of what the guards can see. */
const FACTS: AmlFacts[] = Array.from({ length: 32 }, (_, bits) => ({
  unscreened: (bits & 1) !== 0,
  refunding: (bits & 2) !== 0,
  touched: (bits & 4) !== 0,
  somethingHeld: (bits & 8) !== 0,
  spent: (bits & 16) !== 0,
}));

/** Decisions 10 and decision 0012, written apart from the machine. */
function expected(from: AmlState, event: AmlEvent, f: AmlFacts): { to: AmlState; effects: string[] } | undefined {
  if (from === 'NONE') return event === 'FLAGGED' ? { to: 'HELD', effects: ['hold'] } : undefined;
  if (from !== 'HELD') return undefined;
  switch (event) {
    case 'FLAGGED':
      return { to: 'HELD', effects: [] };
    case 'DRAWN':
      return f.spent && !f.refunding ? { to: 'RELEASED', effects: [] } : undefined;
    case 'OPERATOR_RELEASED':
      return f.unscreened || f.refunding ? undefined : { to: 'RELEASED', effects: ['clear'] };
    case 'OPERATOR_WITHHELD':
      return f.refunding ? undefined : { to: 'WITHHELD', effects: ['withhold'] };
    case 'REFUND_ORDERED':
      return f.unscreened || f.refunding || f.touched || !f.somethingHeld ? undefined : { to: 'HELD', effects: ['order'] };
    case 'REFUND_PAID':
      return { to: f.somethingHeld || f.refunding ? 'HELD' : 'REFUNDED', effects: ['pay'] };
    case 'REFUND_FAILED':
      return { to: 'HELD', effects: ['giveBack'] };
  }
}

describe('what screening made of a payment', () => {
  test.each(AML_STATES.flatMap((from) => EVENTS.map((event) => ({ from, event }))))('in $from does with $event what the decisions say', ({ from, event }) => {
    for (const facts of FACTS) expect({ facts, is: outcome(aml, from, event, facts) }).toEqual({ facts, is: expected(from, event, facts) });
  });

  test('is never flagged away: only HELD leads anywhere, and three ends are for good', () => {
    expect(everyPath(aml, 'NONE', EVENTS, FACTS).filter((path) => path.includes('→'))).toEqual([
      'NONE → HELD',
      'NONE → HELD → REFUNDED',
      'NONE → HELD → RELEASED',
      'NONE → HELD → WITHHELD',
    ]);
  });

  test('is released, drawn or refunded by no event whose facts nobody has looked up', () => {
    for (const event of EVENTS) expect(['RELEASED', 'REFUNDED', 'WITHHELD']).not.toContain(outcome(aml, 'HELD', event, NO_AML_FACTS)?.to);
  });
});
