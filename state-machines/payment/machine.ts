import { and, setup } from 'xstate';
import type { RecordMachine } from '../step.ts';

export const PAYMENT_STATUSES = ['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
/** The statuses a judged deposit leads to. */
export type Verdict = 'SUCCESS' | 'ACCEPTABLE' | 'MISMATCH';
export type PaymentEvent = 'DEPOSIT_CONFIRMED' | 'DEADLINE_PASSED';
/** `credit`: book the deposit for the gateway. `notify`: write the webhook of the new status. */
export type PaymentEffect = 'credit' | 'notify';

/** What the guards of a payment see; fields an event does not use keep their neutral value. */
export interface PaymentFacts {
  /** What `judgeDeposit` made of the deposit; null when the event is not a deposit. */
  verdict: Verdict | null;
  /** The deposit landed inside the grace period after expiry (decisions 4). */
  withinGrace: boolean;
  /** A person matched the deposit to this payment, by an inquiry or as the operator: then grace does not matter (contract 3.1, decisions 4). */
  claimed: boolean;
  /** The deadline has passed, by service time. */
  overdue: boolean;
  /** No live sighting was first seen before the deadline, and every network of its addresses has been read past it (decisions 4). */
  unpaid: boolean;
}

/** Facts that satisfy no guard; spread them and set what the event is about. */
export const NO_PAYMENT_FACTS: PaymentFacts = { verdict: null, withinGrace: false, claimed: false, overdue: false, unpaid: false };

const machine = setup({
  types: { context: {} as PaymentFacts, events: {} as { type: PaymentEvent } },
  guards: {
    paidAsExpected: ({ context }) => context.verdict === 'SUCCESS',
    withinTolerance: ({ context }) => context.verdict === 'ACCEPTABLE',
    outsideTolerance: ({ context }) => context.verdict === 'MISMATCH',
    insideGracePeriodOrClaimed: ({ context }) => context.withinGrace || context.claimed,
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
        // One event for every deposit that decides: fixed and open amounts, a wrong asset and a matched inquiry differ
        // only in how judge-deposit arrives at its verdict (contract 3.1). Whatever the verdict, the coins are credited.
        DEPOSIT_CONFIRMED: [
          { guard: 'paidAsExpected', target: 'SUCCESS', actions: ['credit', 'notify'] },
          { guard: 'withinTolerance', target: 'ACCEPTABLE', actions: ['credit', 'notify'] },
          { guard: 'outsideTolerance', target: 'MISMATCH', actions: ['credit', 'notify'] },
        ],
        // The sweeper and the expire call ask the same question; a payment somebody has begun to pay is not unpaid.
        DEADLINE_PASSED: { guard: 'overdueAndUnpaid', target: 'EXPIRED', actions: ['notify'] },
      },
    },
    // The only resting status that is left again: a deposit inside the grace period, or one
    // that was matched by hand, reopens it, with a second webhook.
    EXPIRED: {
      on: {
        DEPOSIT_CONFIRMED: [
          { guard: and(['insideGracePeriodOrClaimed', 'paidAsExpected']), target: 'SUCCESS', actions: ['credit', 'notify'] },
          { guard: and(['insideGracePeriodOrClaimed', 'withinTolerance']), target: 'ACCEPTABLE', actions: ['credit', 'notify'] },
          { guard: and(['insideGracePeriodOrClaimed', 'outsideTolerance']), target: 'MISMATCH', actions: ['credit', 'notify'] },
        ],
      },
    },
    // A later deposit is booked for the gateway but decides nothing, so these accept no event (decisions 3).
    SUCCESS: { type: 'final' },
    ACCEPTABLE: { type: 'final' },
    MISMATCH: { type: 'final' },
  },
});

/** What a payment may become (contract 3.1). Evaluated by `step` under the row's lock. */
export const payment: RecordMachine<PaymentStatus, PaymentFacts, PaymentEvent, PaymentEffect> = { machine, statuses: PAYMENT_STATUSES };
