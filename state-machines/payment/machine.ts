import { and, setup } from 'xstate';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';
import { type JudgingRule, type Verdict, verdictOf } from './verdict.ts';

export const PAYMENT_STATUSES = ['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
/** `credit`: book the deposit for the gateway. `notify`: write the webhook of the new status. */
export const PAYMENT_EFFECTS = { DEPOSIT_CONFIRMED: ['credit', 'notify'], DEADLINE_PASSED: ['notify'] } as const satisfies EffectTable;
export type PaymentEvent = EventOf<typeof PAYMENT_EFFECTS>;

/** The facts that the guards of a payment see. A field that an event does not use keeps its neutral value. */
export interface PaymentFacts {
  /** The rule that applies to the deposit, as `judgeDeposit` found it; null when the event is not a deposit. */
  rule: JudgingRule | null;
  /** How many seconds after the deadline the deposit was first seen; below zero when it was in time (decisions 4). */
  secondsLate: number;
  /** How many seconds late a deposit may be and still decide (contract 3.1). */
  graceSeconds: number;
  /** Whether a person matched the deposit to this payment, by an inquiry or as the operator; then grace does not matter (contract 3.1, decisions 4). */
  allocated: boolean;
  /** Whether the deadline has passed, by service time. */
  overdue: boolean;
  /** Whether no live sighting was first seen before the deadline, and every network of the payment's addresses has been read past it (decisions 4). */
  unpaid: boolean;
}

/** Facts that satisfy no guard. Spread them and set the facts of the event. */
export const NO_PAYMENT_FACTS: PaymentFacts = {
  rule: null,
  secondsLate: Number.POSITIVE_INFINITY,
  graceSeconds: 0,
  allocated: false,
  overdue: false,
  unpaid: false,
};

function leadsTo({ rule }: PaymentFacts, verdict: Verdict): boolean {
  return rule !== null && verdictOf(rule) === verdict;
}

const machine = setup({
  types: { context: {} as PaymentFacts, events: {} as { type: PaymentEvent } },
  guards: {
    paidAsExpected: ({ context }) => leadsTo(context, 'SUCCESS'),
    withinTolerance: ({ context }) => leadsTo(context, 'ACCEPTABLE'),
    outsideTolerance: ({ context }) => leadsTo(context, 'MISMATCH'),
    insideGracePeriodOrAllocated: ({ context }) => context.secondsLate <= context.graceSeconds || context.allocated,
    overdueAndUnpaid: ({ context }) => context.overdue && context.unpaid,
  },
  actions: { credit() {}, notify() {} },
}).createMachine({
  id: 'payment',
  context: NO_PAYMENT_FACTS,
  initial: 'PENDING',
  states: {
    PENDING: {
      on: {
        // One event for every deposit that decides: fixed and open amounts, a wrong asset and a matched inquiry differ only in how judge-deposit
        // reaches its verdict (contract 3.1). The coins are credited whatever the verdict.
        DEPOSIT_CONFIRMED: [
          { guard: 'paidAsExpected', target: 'SUCCESS', actions: ['credit', 'notify'] },
          { guard: 'withinTolerance', target: 'ACCEPTABLE', actions: ['credit', 'notify'] },
          { guard: 'outsideTolerance', target: 'MISMATCH', actions: ['credit', 'notify'] },
        ],
        // Periodic work and the expire call use the same guard. A payment that its payer has begun to pay is not unpaid.
        DEADLINE_PASSED: { guard: 'overdueAndUnpaid', target: 'EXPIRED', actions: ['notify'] },
      },
    },
    // The only resting status that a payment can leave: a deposit within the grace period, or one that was matched by hand, reopens it, with a
    // second webhook.
    EXPIRED: {
      on: {
        DEPOSIT_CONFIRMED: [
          { guard: and(['insideGracePeriodOrAllocated', 'paidAsExpected']), target: 'SUCCESS', actions: ['credit', 'notify'] },
          { guard: and(['insideGracePeriodOrAllocated', 'withinTolerance']), target: 'ACCEPTABLE', actions: ['credit', 'notify'] },
          { guard: and(['insideGracePeriodOrAllocated', 'outsideTolerance']), target: 'MISMATCH', actions: ['credit', 'notify'] },
        ],
      },
    },
    // A later deposit is booked for the gateway but decides nothing, so these statuses accept no event (decisions 3).
    SUCCESS: { type: 'final' },
    ACCEPTABLE: { type: 'final' },
    MISMATCH: { type: 'final' },
  },
});

/** The statuses of a payment (contract 3.1). `step` evaluates it under the row's lock. */
export const payment: RecordMachine<PaymentStatus, PaymentFacts, typeof PAYMENT_EFFECTS> = { machine, statuses: PAYMENT_STATUSES, effects: PAYMENT_EFFECTS };
