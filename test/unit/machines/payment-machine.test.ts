import { describe, expect, test } from 'vitest';
import { PAYMENT_STATUSES, type PaymentEvent, type PaymentFacts, type PaymentStatus, payment } from '#state-machines/payment/machine.ts';
import type { JudgingRule, Verdict } from '#state-machines/payment/verdict.ts';
import { step } from '#state-machines/step.ts';
import { everyPath, type Outcome, outcome } from './paths.ts';

/** The sentences of contract 3.1 and what each makes of a payment. */
const VERDICTS: Record<JudgingRule, Verdict> = {
  exact_total_value: 'SUCCESS',
  deviation_not_checked: 'SUCCESS',
  no_deviation: 'SUCCESS',
  within_over_tolerance: 'ACCEPTABLE',
  within_under_tolerance: 'ACCEPTABLE',
  outside_tolerance: 'MISMATCH',
  open_amount_minimum_met: 'SUCCESS',
  open_amount_below_minimum: 'MISMATCH',
};
const EVENTS: PaymentEvent[] = ['DEPOSIT_CONFIRMED', 'DEADLINE_PASSED'];
const FACTS: PaymentFacts[] = ([null, ...(Object.keys(VERDICTS) as JudgingRule[])] as const).flatMap((rule) =>
  [-1, 0, 60, 60.001].flatMap((secondsLate) =>
    [true, false].flatMap((allocated) =>
      [true, false].flatMap((overdue) => [true, false].map((unpaid) => ({ rule, secondsLate, graceSeconds: 60, allocated, overdue, unpaid }))),
    ),
  ),
);

/** Contract 3.1, row by row. */
function contract(from: PaymentStatus, event: PaymentEvent, facts: PaymentFacts): Outcome {
  if (event === 'DEPOSIT_CONFIRMED' && facts.rule !== null) {
    if (from === 'PENDING') return { to: VERDICTS[facts.rule], effects: ['credit', 'notify'] };
    if (from === 'EXPIRED' && (facts.secondsLate <= 60 || facts.allocated)) return { to: VERDICTS[facts.rule], effects: ['credit', 'notify'] };
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
