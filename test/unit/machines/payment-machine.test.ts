import { describe, expect, test } from 'vitest';
import { PAYMENT_STATUSES, type PaymentEvent, type PaymentFacts, type PaymentStatus, payment } from '#state-machines/payment/machine.ts';
import { step } from '#state-machines/step.ts';
import { everyPath, type Outcome, outcome } from './paths.ts';

const EVENTS: PaymentEvent[] = ['DEPOSIT_CONFIRMED', 'DEADLINE_PASSED'];
const FACTS: PaymentFacts[] = ([null, 'SUCCESS', 'ACCEPTABLE', 'MISMATCH'] as const).flatMap((verdict) =>
  [true, false].flatMap((withinGrace) =>
    [true, false].flatMap((claimed) => [true, false].flatMap((overdue) => [true, false].map((unpaid) => ({ verdict, withinGrace, claimed, overdue, unpaid })))),
  ),
);

/** Contract 3.1, row by row. */
function contract(from: PaymentStatus, event: PaymentEvent, facts: PaymentFacts): Outcome {
  if (event === 'DEPOSIT_CONFIRMED' && facts.verdict !== null) {
    if (from === 'PENDING') return { to: facts.verdict, effects: ['credit', 'notify'] };
    if (from === 'EXPIRED' && (facts.withinGrace || facts.claimed)) return { to: facts.verdict, effects: ['credit', 'notify'] };
  }
  if (event === 'DEADLINE_PASSED' && from === 'PENDING' && facts.overdue && facts.unpaid) return { to: 'EXPIRED', effects: ['notify'] };
  return undefined;
}

describe('a payment', () => {
  test.each(PAYMENT_STATUSES.flatMap((from) => EVENTS.map((event) => ({ from, event }))))(
    'in $from does with $event what the contract says under all facts, and nothing else',
    ({ from, event }) => {
      for (const facts of FACTS) expect({ facts, outcome: outcome(payment, from, event, facts) }).toEqual({ facts, outcome: contract(from, event, facts) });
    },
  );

  test('goes every way the contract draws and no other', () => {
    expect(everyPath(payment, 'PENDING', EVENTS, FACTS)).toEqual(
      [
        'PENDING',
        'PENDING → ACCEPTABLE',
        'PENDING → EXPIRED',
        'PENDING → EXPIRED → ACCEPTABLE',
        'PENDING → EXPIRED → MISMATCH',
        'PENDING → EXPIRED → SUCCESS',
        'PENDING → MISMATCH',
        'PENDING → SUCCESS',
      ].sort(),
    );
  });

  test('in a status nobody knows is an error, never a guess', () => {
    expect(() => step(payment, 'PAID' as PaymentStatus, FACTS[0] as PaymentFacts, 'DEADLINE_PASSED')).toThrow();
  });

  test('ignores an event nobody knows and says it is a conflict', () => {
    expect(step(payment, 'PENDING', FACTS[0] as PaymentFacts, 'REFUNDED' as PaymentEvent)).toEqual({ conflict: true, status: 'PENDING' });
  });
});
